// A file in memory, for readers that require a path.
#pragma once

#include <cstddef>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "util/check.hpp"
#include "util/cursor.hpp"
#include "util/fd.hpp"

namespace fuzz {

class MemoryFile {
  public:
    MemoryFile() : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
        util::check_errno(fd_.get(), "memfd_create");
    }
    explicit MemoryFile(util::Bytes contents) : MemoryFile() { append(contents); }

    void append(util::Bytes bytes) {
        while (!bytes.empty()) {
            const ssize_t written = write(fd_.get(), bytes.data(), bytes.size());
            util::check_errno(static_cast<int>(written), "write");
            bytes = bytes.subspan(static_cast<std::size_t>(written));
        }
    }

    /// Each open() of this path has a separate file position.
    std::string path() const { return "/proc/self/fd/" + std::to_string(fd_.get()); }

  private:
    util::Fd fd_;
};

}  // namespace fuzz
