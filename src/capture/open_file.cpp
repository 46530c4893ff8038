#include "capture/open_file.hpp"

#include <array>
#include <cstdint>
#include <fstream>

#include "capture/file_source.hpp"
#include "capture/pcapng_format.hpp"
#include "capture/pcapng_tail.hpp"

namespace capture {
namespace {

bool is_own_pcapng(const std::string& path) {
    std::array<std::uint32_t, 3> begin{};  // a section header: type, length, byte order
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(begin.data()), sizeof begin);
    return file && begin[0] == pcapng::section_header && begin[2] == pcapng::byte_order_magic;
}

}  // namespace

std::unique_ptr<Source> open_file(const std::string& path) {
    if (is_own_pcapng(path))
        return std::make_unique<PcapngTail>(path);
    return std::make_unique<FileSource>(path);
}

}  // namespace capture
