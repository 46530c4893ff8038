#include "capture/file_source.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "util/error.hpp"

namespace capture {
namespace {

constexpr std::size_t file_buffer = std::size_t{256} * 1024;

struct FileClose {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

FileSource::FileSource(const std::string& path)
    : input_(path), handle_(open_pcap()), link_type_(link_type_of(handle_.get(), input_.name())) {}

PcapHandle FileSource::open_pcap() {
    std::unique_ptr<std::FILE, FileClose> file(
        fopencookie(this, "rb", {.read = read_input, .write = {}, .seek = {}, .close = {}}));
    std::array<char, PCAP_ERRBUF_SIZE> why{};
    PcapHandle handle;
    if (file && std::setvbuf(file.get(), nullptr, _IOFBF, file_buffer) == 0)
        handle.reset(pcap_fopen_offline_with_tstamp_precision(
            file.get(), PCAP_TSTAMP_PRECISION_NANO, why.data()));
    if (failure_)
        std::rethrow_exception(failure_);
    if (!handle)
        throw util::Error(
            fmt::format("cannot read {}: it is not a pcap or pcapng capture ({}); 'editcap', a part "
                        "of Wireshark, converts other formats.",
                        input_.name(), why.data()));
    static_cast<void>(file.release());  // pcap_close closes it
    return handle;
}

ssize_t FileSource::read_input(void* source, char* buffer, std::size_t size) {
    auto& self = *static_cast<FileSource*>(source);
    try {
        return static_cast<ssize_t>(
            self.input_.read(std::as_writable_bytes(std::span(buffer, size))));
    } catch (...) {
        self.failure_ = std::current_exception();
        errno = EIO;
        return -1;
    }
}

std::optional<Frame> FileSource::next() {
    try {
        return next_frame(handle_.get(), link_type_, input_.name());
    } catch (const util::Error&) {
        if (failure_)
            std::rethrow_exception(failure_);
        throw;
    }
}

}  // namespace capture
