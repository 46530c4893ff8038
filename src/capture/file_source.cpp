#include "capture/file_source.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdio_ext.h>

#include <fmt/format.h>

#include "capture/pcapng_format.hpp"
#include "util/error.hpp"

namespace capture {
namespace {

constexpr std::size_t file_buffer = std::size_t{256} * 1024;

struct FileClose {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

FileSource::FileSource(const std::string& path, InterfaceChoice choice, AtPresent none)
    : input_(path), none_(none) {
    if (is_pcapng()) {
        parser_.emplace(input_.name(), std::move(choice));
        return;
    }
    handle_ = open_pcap();
    link_type_ = link_type_of(handle_.get(), input_.name());
    if (!choice.is_all())
        throw util::Error(
            fmt::format("{} is a pcap file, which does not record interfaces: omit --interface.",
                        input_.name()));
}

bool FileSource::is_pcapng() const {
    std::uint32_t magic = 0;
    const util::Bytes begin = input_.begin();
    std::memcpy(&magic, begin.data(), std::min(begin.size(), sizeof magic));
    return magic == pcapng::section_header;
}

PcapHandle FileSource::open_pcap() {
    // fread() from a stream with its own functions takes longer: most captures do without.
    util::Fd plain = input_.rewound();
    std::unique_ptr<std::FILE, FileClose> file(
        plain
            ? fdopen(plain.get(), "rb")
            : fopencookie(this, "rb", {.read = read_input, .write = {}, .seek = {}, .close = {}}));
    if (plain && file)
        static_cast<void>(plain.release());
    std::array<char, PCAP_ERRBUF_SIZE> why{};
    PcapHandle handle;
    // Without a buffer, libpcap reads no further than the packet that it returns: must_wait() is exact.
    const bool is_buffered = none_ == AtPresent::wait || input_.is_file();
    if (is_buffered)  // setvbuf() makes 4 KiB at most
        buffer_ = std::make_unique_for_overwrite<char[]>(file_buffer);
    if (file && std::setvbuf(file.get(), buffer_.get(), is_buffered ? _IOFBF : _IONBF,
                             is_buffered ? file_buffer : 0) == 0) {
        // Only libpcap uses the stream: fread() needs no lock, which takes longer than its copy.
        __fsetlocking(file.get(), FSETLOCKING_BYCALLER);
        handle.reset(pcap_fopen_offline_with_tstamp_precision(
            file.get(), PCAP_TSTAMP_PRECISION_NANO, why.data()));
    }
    if (failure_)
        std::rethrow_exception(failure_);
    if (!handle)
        throw util::Error(fmt::format(
            "cannot read {}: it is not a pcap or pcapng capture ({}); 'editcap', a part "
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
    return parser_ ? next_of_pcapng() : next_of_pcap();
}

// Returns one object only (NRVO), as next_frame() does.
std::optional<Frame> FileSource::next_of_pcapng() {
    std::optional<Frame> frame;
    while (!parser_->next(frame)) {
        if (has_none_at_present())
            break;
        if (const std::size_t n = input_.read(parser_->space()); n != 0) {
            parser_->filled(n);
            continue;
        }
        if (const std::string ending = parser_->ending(); !ending.empty())
            throw util::Error(ending);
        parser_->require_chosen();
        has_ended_ = true;
        break;
    }
    return frame;
}

std::optional<Frame> FileSource::next_at_present() {
    std::optional<Frame> frame;
    if (input_.must_wait())
        return frame;
    frame = next_frame(handle_.get(), link_type_, input_.name(), ++packets_);
    has_ended_ = !frame;
    return frame;
}

std::optional<Frame> FileSource::next_of_pcap() {
    try {
        if (none_ == AtPresent::return_none)
            return next_at_present();
        return next_frame(handle_.get(), link_type_, input_.name(), ++packets_);
    } catch (const util::Error&) {
        if (failure_)
            std::rethrow_exception(failure_);
        throw;
    }
}

}  // namespace capture
