#include "capture/file_source.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <poll.h>
#include <string_view>
#include <sys/stat.h>

#include <fmt/format.h>

#include "util/error.hpp"

namespace capture {
namespace {

struct FileClose {
    void operator()(std::FILE* file) const {
        if (file != stdin)
            std::fclose(file);
    }
};

PcapHandle open_capture(const std::string& path, const std::string& name) {
    std::unique_ptr<std::FILE, FileClose> file(path == "-" ? stdin
                                                           : std::fopen(path.c_str(), "rb"));
    if (!file)
        throw util::Error(fmt::format("cannot open {}: {}.", name, std::strerror(errno)));
    std::array<char, PCAP_ERRBUF_SIZE> why{};
    PcapHandle handle(pcap_fopen_offline_with_tstamp_precision(
        file.get(), PCAP_TSTAMP_PRECISION_NANO, why.data()));
    if (!handle)
        throw util::Error(fmt::format("cannot read {}: it is not a pcap or pcapng capture ({}).",
                                      name, why.data()));
    static_cast<void>(file.release());  // pcap_close closes it
    return handle;
}

bool is_pipe(std::FILE* file) {
    struct stat status {};
    return fstat(fileno(file), &status) == 0 && !S_ISREG(status.st_mode);
}

}  // namespace

FileSource::FileSource(const std::string& path)
    : name_(path == "-" ? "standard input" : "'" + path + "'"),
      handle_(open_capture(path, name_)),
      link_type_(link_type_of(handle_.get(), name_)),
      is_stream_(is_pipe(pcap_file(handle_.get()))) {}

std::optional<Frame> FileSource::next() {
    return next_frame(handle_.get(), link_type_, name_);
}

bool FileSource::must_wait() const {
    if (!is_stream_)
        return false;
    pollfd input{fileno(pcap_file(handle_.get())), POLLIN, 0};
    return poll(&input, 1, 0) == 0;
}

}  // namespace capture
