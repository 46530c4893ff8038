// Output files for captures and run logs. They contain payloads, keys and PSNs and are often
// written by root: a new file is readable by its owner only, and a prepared link cannot redirect
// the output.
// Source: open(2), proc_sys_fs(5) (protected_symlinks, protected_regular).
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>

#include "util/fd.hpp"
#include "util/stop_signal.hpp"

namespace util {

struct OutputOptions {
    std::optional<uid_t> owner{};  // besides the effective user: allowed owner of a file in /tmp
    StopSignal* stop = nullptr;    // ends waiting for a FIFO's reader, as `end` does
    Deadline end{};
};

struct OutputFile {
    Fd fd;                // O_NONBLOCK
    bool is_new = false;  // the file did not exist
};

/// Opens `path` for writing. A new file has mode 0600 (less the umask); an existing one keeps its
/// content, mode and owner. Waits until a FIFO has a reader. Throws Error if `path` is a symbolic
/// link (except descriptor names: /dev/stdout, /dev/fd/3), or if it is in a world-writable folder
/// and belongs to another user or is a hard link.
OutputFile open_output(const std::string& path, const OutputOptions& options = {});

}  // namespace util
