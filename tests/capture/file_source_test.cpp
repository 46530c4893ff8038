// Capture files as other tools write them: several interfaces, other link types, incomplete files,
// and files that are no captures.
#include "capture/file_source.hpp"

#include <array>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "capture/pcapng_writer.hpp"
#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "util/error.hpp"

namespace {

using capture::FileSource;
using capture::Time;

constexpr std::uint32_t microseconds = 0xa1b2c3d4;

class FileSourceTest : public testing::Test {
  protected:
    // Writes a pcap file whose packets have 40 bytes each.
    void write_pcap(int packets, std::uint32_t link_type = 1) const {
        constexpr std::uint32_t size = 40;
        std::ofstream file(path_, std::ios::binary | std::ios::trunc);
        const auto put = [&](const auto& words) {
            file.write(reinterpret_cast<const char*>(words.data()), sizeof words);
        };
        put(std::array<std::uint32_t, 6>{microseconds, 0x00040002, 0, 0, 65535, link_type});
        for (int i = 0; i < packets; ++i) {
            put(std::array<std::uint32_t, 4>{7, static_cast<std::uint32_t>(i), size, size});
            put(std::array<char, size>{});
        }
    }
    std::string why(const std::string& path) const {
        try {
            FileSource source(path);
            while (source.next()) {
            }
        } catch (const util::Error& error) {
            return error.what();
        }
        return "nothing wrong";
    }

    support::TempPath temp_{"source.pcap"};
    std::string path_ = temp_.str();
};

TEST_F(FileSourceTest, packets_of_several_interfaces_come_in_the_files_order) {
    {
        capture::PcapngWriter out(capture::Sink::create(path_), {});
        const auto first = out.add_interface({});
        const auto second = out.add_interface({});
        const std::vector<std::byte> bytes(60);
        for (const auto interface : {second, first, second})
            out.packet(interface, {.time = Time(interface + 1), .bytes = bytes});
        out.close();
    }
    FileSource source(path_);
    for (const auto time : {Time(2), Time(1), Time(2)})
        EXPECT_EQ(source.next()->time, time);
    EXPECT_FALSE(source.next());
}

TEST_F(FileSourceTest, a_file_without_packets_has_none) {
    write_pcap(0);
    FileSource source(path_);
    EXPECT_FALSE(source.next());
    EXPECT_FALSE(source.next()) << "the end stays the end";
}

TEST_F(FileSourceTest, the_link_type_is_the_files) {
    using wire::LinkType;
    for (const auto& [number, expected] :
         {std::pair{1U, LinkType::Ethernet}, std::pair{101U, LinkType::RawIp},
          std::pair{113U, LinkType::LinuxCooked}, std::pair{228U, LinkType::RawIp},
          std::pair{276U, LinkType::LinuxCooked2}}) {
        write_pcap(1, number);
        EXPECT_EQ(FileSource(path_).next()->link_type, expected) << number;
    }
}

TEST_F(FileSourceTest, a_link_type_without_roce_is_named) {
    write_pcap(1, 105);
    EXPECT_EQ(
        why(path_).rfind(
            "'" + path_ +
                "' holds packets of link type IEEE802_11 (105), which rocecap does not decode",
            0),
        0U)
        << why(path_);
}

TEST_F(FileSourceTest, wherever_a_file_breaks_off_its_whole_packets_come_first) {
    write_pcap(3);
    constexpr std::size_t header = 24;
    constexpr std::size_t packet = 16 + 40;
    for (std::size_t size = header + 3 * packet; size >= header; --size) {
        std::filesystem::resize_file(path_, size);
        FileSource source(path_);
        for (std::size_t i = 0; i < (size - header) / packet; ++i)
            ASSERT_TRUE(source.next()) << size;
        if ((size - header) % packet == 0)
            EXPECT_FALSE(source.next()) << size;
        else
            EXPECT_THROW(source.next(), util::Error) << size;
    }
}

// Both formats, from a pipe whose writer stops after each byte of interest.
TEST_F(FileSourceTest, of_a_pipe_returns_none_until_the_next_packet_is_there) {
    constexpr std::size_t pcap_header = 24;
    constexpr std::size_t pcap_packet = 16 + 40;
    for (const bool is_pcapng : {false, true}) {
        write_pcap(3);
        const support::TempPath other("stream.pcapng");
        if (is_pcapng) {
            ASSERT_EQ(support::run({"editcap", "-F", "pcapng", path_, other.str()}).exit_code, 0);
        }
        std::ifstream file(is_pcapng ? other.str() : path_, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        const std::size_t packet = is_pcapng ? 32 + 40 : pcap_packet;
        const std::size_t header = is_pcapng ? bytes.size() - 3 * packet : pcap_header;

        const support::TempPath fifo("stream.fifo");
        ASSERT_EQ(mkfifo(fifo.str().c_str(), 0600), 0);
        util::Fd writer(open(fifo.str().c_str(), O_RDWR | O_CLOEXEC));
        const auto put = [&](std::size_t from, std::size_t size) {
            ASSERT_EQ(write(writer.get(), bytes.data() + from, size), static_cast<ssize_t>(size));
        };
        put(0, header);
        FileSource source(fifo.str(), capture::InterfaceChoice(), capture::AtPresent::return_none);
        EXPECT_FALSE(source.next()) << is_pcapng;
        for (std::size_t i = 0; i < 3; ++i) {
            put(header + i * packet, packet);
            const auto frame = source.next();
            ASSERT_TRUE(frame) << is_pcapng << i;
            EXPECT_EQ(frame->bytes.size(), 40U);
            EXPECT_EQ(frame->time, std::chrono::seconds(7) + std::chrono::microseconds(i));
            EXPECT_FALSE(source.next()) << is_pcapng << i;
            EXPECT_FALSE(source.has_ended());
        }
        writer.reset();
        EXPECT_FALSE(source.next()) << is_pcapng;
        EXPECT_TRUE(source.has_ended()) << is_pcapng;
    }
}

TEST_F(FileSourceTest, editcaps_formats_are_the_same_packets) {
    write_pcap(3);
    const support::TempPath other("other.pcap");
    for (const char* format : {"pcap", "nsecpcap", "pcapng"}) {
        const auto editcap = support::run({"editcap", "-F", format, path_, other.str()});
        ASSERT_EQ(editcap.exit_code, 0) << editcap.all();
        FileSource source(other.str());
        for (int i = 0; i < 3; ++i)
            EXPECT_EQ(source.next()->time, std::chrono::seconds(7) + std::chrono::microseconds(i));
        EXPECT_FALSE(source.next());
    }
}

TEST_F(FileSourceTest, what_holds_no_capture_is_a_sentence) {
    const std::string hint = ": give a pcap or pcapng capture.";
    EXPECT_EQ(why("/tmp"), "'/tmp' is a directory" + hint);
    EXPECT_EQ(why("/dev/zero"), "'/dev/zero' is a device" + hint);
    EXPECT_EQ(why("/dev/null"), "'/dev/null' is a device" + hint);
    std::ofstream(path_).flush();
    EXPECT_EQ(why(path_), "'" + path_ + "' is empty" + hint);
    for (const char* text : {"a", "a text that is long enough to hold a header of pcap"}) {
        std::ofstream(path_, std::ios::trunc) << text;
        const std::string sentence = why(path_);
        EXPECT_EQ(
            sentence.rfind("cannot read '" + path_ + "': it is not a pcap or pcapng capture (", 0),
            0U)
            << sentence;
    }
}

TEST_F(FileSourceTest, only_a_pipe_is_waited_for) {
    write_pcap(1);
    FileSource file(path_);
    EXPECT_FALSE(file.must_wait());
    EXPECT_TRUE(file.next());
    EXPECT_FALSE(file.must_wait());
}

}  // namespace
