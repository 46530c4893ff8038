// Files to write captures and run logs to. They hold payloads, keys and PSNs and are often made by
// root: nobody else may read a new one, and no link that somebody has prepared leads to another file.
// Source: open(2), proc_sys_fs(5) (protected_symlinks, protected_regular).
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>

#include "util/fd.hpp"
#include "util/stop_signal.hpp"

namespace util {

struct OutputOptions {
    std::optional<uid_t> owner{};  // beside the effective user: who may own a file in /tmp
    StopSignal* stop = nullptr;    // ends waiting for the reader of a FIFO, as `end` does
    Deadline end{};
};

struct OutputFile {
    Fd fd;                // O_NONBLOCK
    bool is_new = false;  // nothing was there
};

/// Opens `path` for writing. A new file has mode 0600 (less the umask); what was there keeps its
/// content, mode and owner. A FIFO is waited for until somebody reads it. Throws Error: where
/// `path` is a symbolic link, but for the descriptors' names (/dev/stdout, /dev/fd/3); and where it
/// is in a folder in which everyone may write, and another user's or a hard link.
OutputFile open_output(const std::string& path, const OutputOptions& options = {});

}  // namespace util
