// Input: a capture file, pcap or pcapng.
#include <cstdint>
#include <string_view>

#include "capture/file_source.hpp"
#include "fuzz/check.hpp"
#include "fuzz/memory_file.hpp"
#include "util/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::MemoryFile file(std::as_bytes(std::span(data, size)));
    constexpr int most = 200;  // limits the time: empty packets need few bytes of the file
    try {
        capture::FileSource source(file.path());
        for (int i = 0; i < most; ++i) {
            const auto frame = source.next();
            if (!frame)
                break;
            fuzz::require(frame->bytes.size() <= frame->original_length,
                          "no more of a packet was captured than it had");
            fuzz::look_at(frame->bytes, frame->link_type, frame->original_length, frame->time);
        }
    } catch (const util::Error& error) {
        const std::string_view sentence = error.what();
        fuzz::require(sentence.ends_with('.') && sentence.find('\n') == std::string_view::npos,
                      "an error is a sentence: " + std::string(sentence));
    }
    return 0;
}
