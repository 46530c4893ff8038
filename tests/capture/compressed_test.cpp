// Compressed captures in each format: from a file and from a pipe, complete, cut and corrupted.
#include <fstream>
#include <lz4frame.h>
#include <string>
#include <zstd.h>

#include <gtest/gtest.h>
#include <zlib.h>

#include "capture/file_source.hpp"
#include "capture/pcapng_writer.hpp"
#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"
#include "util/error.hpp"

namespace compressed_test {
namespace {

using capture::FileSource;

std::string gzip(const std::string& text) {
    z_stream stream{};
    constexpr int gzip_format = 16;
    EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, gzip_format + MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
              Z_OK);
    std::string out(deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

std::string zstd(const std::string& text) {
    std::string out(ZSTD_compressBound(text.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
    return out;
}

std::string lz4(const std::string& text) {
    std::string out(LZ4F_compressFrameBound(text.size(), nullptr), '\0');
    out.resize(LZ4F_compressFrame(out.data(), out.size(), text.data(), text.size(), nullptr));
    return out;
}

struct Format {
    const char* name;
    std::string (*compress)(const std::string&);

    friend std::ostream& operator<<(std::ostream& out, const Format& format) {
        return out << format.name;
    }
};

class Compressed : public testing::TestWithParam<Format> {
  protected:
    static constexpr int packets = 1000;

    static std::string contents(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    static std::string capture() {
        const support::TempPath path("plain.pcapng");
        capture::PcapngWriter out(capture::Sink::create(path.str()), {});
        const auto interface = out.add_interface({});
        std::vector<std::byte> bytes(200);
        std::uint32_t state = 1;
        for (int i = 0; i < packets; ++i) {
            for (auto& byte : bytes) {  // random, so that they do not compress well
                state = state * 1'664'525 + 1'013'904'223;
                byte = static_cast<std::byte>(state >> 26U);
            }
            out.packet(interface, {.time = capture::Time(i + 1), .bytes = bytes});
        }
        out.close();
        return contents(path.str());
    }
    void write(const std::string& bytes) const {
        std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
    }
    // Returns the number of packets, which must be in order, and the error that follows; empty:
    // none.
    std::pair<int, std::string> read(bool may_differ = false) const {
        int count = 0;
        try {
            FileSource source(path_);
            while (const auto frame = source.next()) {
                ++count;
                EXPECT_TRUE(may_differ || frame->time == capture::Time(count)) << count;
            }
        } catch (const util::Error& error) {
            return {count, error.what()};
        }
        return {count, ""};
    }

    support::TempPath temp_{"compressed.bin"};  // the name does not show the format
    std::string path_ = temp_.str();
};

TEST_P(Compressed, pcapng_and_pcap_are_read_as_if_they_were_not) {
    const std::string plain = capture();
    write(GetParam().compress(plain));
    EXPECT_EQ(read(), std::pair(packets, std::string()));
    const support::TempPath pcapng("plain.pcapng");
    const support::TempPath pcap("plain.pcap");
    std::ofstream(pcapng.str(), std::ios::binary) << plain;
    ASSERT_EQ(support::run({"editcap", "-F", "nsecpcap", pcapng.str(), pcap.str()}).exit_code, 0);
    write(GetParam().compress(contents(pcap.str())));
    EXPECT_EQ(read(), std::pair(packets, std::string()));
}

TEST_P(Compressed, a_pipe_is_read_too_within_the_sandbox) {
    write(GetParam().compress(capture()));
    const auto outcome = support::run(
        {"bash", "-c", "cat " + path_ + " | " + support::rocecap() + " decode - --fields frame"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(outcome.out.ends_with("\n" + std::to_string(packets) + "\n")) << outcome.all();
}

TEST_P(Compressed, files_behind_each_other_are_one) {
    const std::string plain = capture();
    write(GetParam().compress(plain.substr(0, 70'000)) + GetParam().compress("") +
          GetParam().compress(plain.substr(70'000)));
    EXPECT_EQ(read(), std::pair(packets, std::string()));
}

TEST_P(Compressed, wherever_it_breaks_off_packets_come_first_and_then_a_sentence) {
    const std::string whole = GetParam().compress(capture());
    int most = 0;
    for (std::size_t size = 4; size < whole.size(); size += 997) {
        write(whole.substr(0, size));
        const auto& [count, sentence] = read();
        EXPECT_TRUE(
            sentence.ends_with(std::string("ends inside its ") + GetParam().name + " data."))
            << sentence;
        EXPECT_GE(count, most) << size;
        most = count;
    }
    EXPECT_GT(most, packets / 4);
}

TEST_P(Compressed, damage_is_told_after_the_packets_before_it) {
    std::string damaged = GetParam().compress(capture());
    damaged += std::string(1000, 'x');
    write(damaged);
    const auto& [count, sentence] = read();
    EXPECT_EQ(count, packets);
    EXPECT_EQ(sentence.rfind("the decompressed '" + path_ + "' is damaged: its " + GetParam().name +
                                 " data is not valid at byte ",
                             0),
              0U)
        << sentence;
}

TEST_P(Compressed, no_byte_that_changes_ends_in_more_than_a_sentence) {
    const std::string whole = GetParam().compress(capture());
    for (std::size_t at = 4; at < whole.size(); at += 499) {
        std::string damaged = whole;
        damaged[at] ^= '\x55';
        write(damaged);
        const auto& [count, sentence] = read(true);
        EXPECT_TRUE(count == packets || sentence.ends_with('.')) << at << ": " << sentence;
    }
}

TEST_P(Compressed, what_holds_no_capture_is_said) {
    write(GetParam().compress("a text that is no capture"));
    EXPECT_EQ(
        read().second.rfind("cannot read the decompressed '" + path_ + "': it is not a pcap", 0),
        0U)
        << read().second;
    write(GetParam().compress(""));
    EXPECT_EQ(read().second, "'" + path_ + "' has only the end of " + GetParam().name +
                                 " data: give a pcap or pcapng capture.");
}

INSTANTIATE_TEST_SUITE_P(Formats, Compressed,
                         testing::Values(Format{"gzip", gzip}, Format{"zstd", zstd},
                                         Format{"lz4", lz4}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace compressed_test
