// pcapng files of other programs: other byte orders, older blocks, merged captures. tshark must
// read the same packets.
#include <deque>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "capture/file_source.hpp"
#include "capture/pcapng_blocks.hpp"
#include "capture/pcapng_writer.hpp"
#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"
#include "util/error.hpp"

namespace pcapng_file_test {
namespace {

using capture::FileSource;
using capture::InterfaceChoice;
using capture::Time;

std::string lines_of(const std::string& path, const std::string& interface = {}) {
    std::string lines;
    FileSource source(path, InterfaceChoice(interface));
    while (const auto frame = source.next()) {
        const auto nanoseconds = frame->time.count();
        lines +=
            fmt::format("{}|{}.{:09}|{}|{}|{}|{}|{}\n", frame->number, nanoseconds / 1'000'000'000,
                        nanoseconds % 1'000'000'000, frame->bytes.size(), frame->original_length,
                        frame->notes.interface_id ? std::to_string(*frame->notes.interface_id) : "",
                        frame->notes.interface_name, frame->notes.comment);
    }
    return lines;
}

std::string tshark_lines(const std::string& path) {
    const auto tshark = support::run({"tshark", "-n",
                                      "-r",     path,
                                      "-T",     "fields",
                                      "-E",     "separator=|",
                                      "-e",     "frame.number",
                                      "-e",     "frame.time_epoch",
                                      "-e",     "frame.cap_len",
                                      "-e",     "frame.len",
                                      "-e",     "frame.interface_id",
                                      "-e",     "frame.interface_name",
                                      "-e",     "frame.comment"});
    EXPECT_EQ(tshark.exit_code, 0) << tshark.all();
    return tshark.out;
}

class PcapngFile : public testing::Test {
  protected:
    void expect_as_tshark() const {
        const std::string lines = lines_of(path_);
        EXPECT_FALSE(lines.empty());
        EXPECT_EQ(lines, tshark_lines(path_));
    }
    std::string why(const std::string& interface = {}) const {
        try {
            return lines_of(path_, interface);
        } catch (const util::Error& error) {
            return error.what();
        }
    }

    support::TempPath temp_{"made.pcapng"};
    std::string path_ = temp_.str();
};

constexpr std::uint64_t second = 1'000'000;  // in the default resolution

TEST_F(PcapngFile, sections_of_both_byte_orders) {
    Made()
        .section()
        .interface(1, 0, "eth0", 9)
        .enhanced(0, 1'700'000'000'123'456'789, 60, 70, "first")
        .in_order(true)
        .section()
        .interface(1, 96, "eth0")
        .interface(1, 128, "eth0", 9)
        .enhanced(0, 1'700'000'000 * second + 7, 61, 61)
        .enhanced(1, 1'700'000'000'987'654'321, 128, 1500, "another")
        .in_order(false)
        .section()
        .interface(1, 0, "eth0", 6)
        .enhanced(0, 1'700'000'001 * second, 64, 64)
        .write(path_);
    expect_as_tshark();
}

// This is not compared with tshark: version 4.0 uses the interface names of the first section for
// all.
TEST_F(PcapngFile, each_section_names_its_interfaces) {
    Made()
        .section()
        .interface(1, 0, "eth0", 9)
        .section()
        .interface(113, 0, "any", 9)
        .enhanced(0, 1, 60, 60)
        .write(path_);
    EXPECT_EQ(lines_of(path_), "1|0.000000001|60|60|0|any|\n");
    EXPECT_EQ(FileSource(path_).next()->link_type, wire::LinkType::LinuxCooked);
}

TEST_F(PcapngFile, obsolete_packets) {
    for (const bool is_big : {false, true}) {
        Made(is_big)
            .section()
            .interface(1, 0, "old")
            .interface(1, 68, "older", 9)
            .obsolete(0, 1'600'000'000 * second + 5, 60, 60)
            .obsolete(1, 1'600'000'000'000'000'009, 68, 1500)
            .write(path_);
        expect_as_tshark();
    }
}

// Simple packet blocks have no time and no interface.
TEST_F(PcapngFile, simple_packets) {
    for (const bool is_big : {false, true}) {
        Made(is_big).section().interface(1, 64, "").simple(60, 60).simple(64, 1500).write(path_);
        FileSource source(path_);
        for (const auto& [size, length] : {std::pair{60U, 60U}, std::pair{64U, 1500U}}) {
            const auto frame = source.next();
            ASSERT_TRUE(frame);
            EXPECT_EQ(frame->bytes.size(), size);
            EXPECT_EQ(frame->original_length, length);
            EXPECT_EQ(frame->time, Time(0));
            EXPECT_EQ(frame->bytes[0], static_cast<std::byte>('s'));
        }
        EXPECT_FALSE(source.next());
        const auto tshark = support::run({"tshark", "-n", "-r", path_, "-T", "fields", "-E",
                                          "separator=|", "-e", "frame.cap_len", "-e", "frame.len"});
        EXPECT_EQ(tshark.out, "60|60\n64|1500\n");
    }
    Made().section().interface(1, 0, "").simple(60, 60).write(path_);
    EXPECT_EQ(lines_of(path_), "1|0.000000000|60|60|0||\n") << "0: no limit";
    Made().section().simple(60, 60).write(path_);
    EXPECT_TRUE(
        why().ends_with("has a packet of interface 0, but no interface is described before "
                        "it."))
        << why();
}

TEST_F(PcapngFile, resolutions_and_offsets) {
    constexpr std::int64_t hour = 3600;
    Made()
        .section()
        .interface(1, 0, "ms", 3)
        .interface(1, 0, "ns", 9, hour)
        .interface(1, 0, "ps", 12)
        .interface(1, 0, "2^-20", 0x80U | 20U)
        .interface(1, 0, "2^-32", 0x80U | 32U, -hour)
        .interface(1, 0, "s", 0, 1'700'000'000)
        .enhanced(0, 1'700'000'000'123, 60, 60)
        .enhanced(1, 1'700'000'000'123'456'789, 60, 60)
        .enhanced(2, 1'700'000'000'123'456, 60, 60)
        .enhanced(3, (std::uint64_t{1'700'000'000} << 20U) + (1U << 18U), 60, 60)
        .enhanced(4, (std::uint64_t{1'700'000'000} << 32U) + 0x12345678U, 60, 60)
        .enhanced(5, 5, 60, 60)
        .write(path_);
    expect_as_tshark();
}

TEST_F(PcapngFile, times_after_2038) {
    Made()
        .section()
        .interface(1, 0, "late", 9)
        .enhanced(0, 3'900'000'000'123'456'789, 60, 60)
        .write(path_);
    expect_as_tshark();
    for (const bool is_big : {false, true})
        for (const std::uint32_t magic : {0xa1b2c3d4U, 0xa1b23c4dU}) {
            Made(is_big)
                .u32(magic)
                .u16(2)
                .u16(4)
                .u64(0)
                .u32(65535)
                .u32(1)
                .u32(3'900'000'000)
                .u32(999'999)
                .u32(60)
                .u32(60)
                .text(std::string(60, 'p'))
                .write(path_);
            expect_as_tshark();
        }
}

// mergecap writes the link type and snap length of each file to a separate interface.
TEST_F(PcapngFile, merged_captures_of_different_link_types_and_snap_lengths) {
    std::vector<std::string> files;
    std::deque<support::TempPath> paths;
    std::uint64_t time = 1'700'000'000'000'000'001;
    for (const auto& [link, snap] :
         {std::pair{1U, 65535U}, std::pair{113U, 96U}, std::pair{101U, 262144U}}) {
        const auto& path = paths.emplace_back(fmt::format("merged_{}.pcapng", link));
        Made()
            .section()
            .interface(link, snap, fmt::format("if{}", link), 9)
            .enhanced(0, time, 60, 80, "a comment")
            .enhanced(0, time + 10, 61, 61)
            .write(path.str());
        ++time;
        files.push_back(path.str());
    }
    support::Argv merge{"mergecap", "-w", path_};
    merge.insert(merge.end(), files.begin(), files.end());
    ASSERT_EQ(support::run(merge).exit_code, 0);
    expect_as_tshark();
    FileSource source(path_);
    for (const auto type :
         {wire::LinkType::Ethernet, wire::LinkType::LinuxCooked, wire::LinkType::RawIp}) {
        const auto frame = source.next();
        EXPECT_EQ(frame->link_type, type);
        EXPECT_TRUE(frame->notes.has_other_interfaces);
    }
}

TEST_F(PcapngFile, blocks_of_other_types_are_stepped_over) {
    Made made(true);
    made.section().interface(1, 0, "eth0");
    for (const std::uint32_t type : {4U, 5U, 9U, 10U, 0x0badU, 0x40000badU, 0x80000001U})
        made.block(type, [](Made& b) { b.u32(1).u32(2).u32(3); });
    made.enhanced(0, 1'700'000'000 * second, 60, 60).write(path_);
    EXPECT_EQ(lines_of(path_), "1|1700000000.000000000|60|60|0|eth0|\n");
    EXPECT_FALSE(FileSource(path_).next()->notes.has_other_interfaces);
}

TEST_F(PcapngFile, an_interface_is_chosen_by_number_name_or_description) {
    Made()
        .section()
        .interface(105, 0, "wlan0")
        .interface(1, 0, "eth0", 9)
        .block(1,
               [](Made& b) {
                   b.u16(1).u16(0).u32(0).option(2, "\\Device\\NPF_{1}").option(3, "Ethernet 2");
               })
        .enhanced(1, 1, 60, 60)
        .enhanced(0, 2, 61, 61)
        .enhanced(2, 3'000'000, 62, 62)
        .enhanced(1, 4, 63, 63)
        .write(path_);
    const std::string eth0 = "1|0.000000001|60|60|1|eth0|\n4|0.000000004|63|63|1|eth0|\n";
    EXPECT_EQ(lines_of(path_, "1"), eth0) << "packets keep their numbers";
    EXPECT_EQ(lines_of(path_, "eth0"), eth0);
    EXPECT_EQ(lines_of(path_, "Ethernet 2"), "3|3.000000000|62|62|2|\\Device\\NPF_{1}|\n");
    EXPECT_EQ(why("eth1"), "'" + path_ +
                               "' has no interface 'eth1': it has 0 ('wlan0'), 1 ('eth0'), 2 "
                               "('\\Device\\NPF_{1}').");
    EXPECT_EQ(why().rfind("interface 0 ('wlan0') of '" + path_ + "' holds packets of link type", 0),
              0U)
        << why();
}

TEST_F(PcapngFile, the_first_option_of_a_kind_counts_unless_its_size_is_wrong) {
    Made()
        .section()
        .block(
            1,
            [](Made& b) {
                b.u16(1).u16(0).u32(0).option(2, "eth0").option(2, "eth1").option(3, "one").option(
                    3, "two");
                b.option(9, "\x06\x06").option(9, "\x03").option(9, "\x09");
                b.option(14, "\x01\x01\x01\x01").u16(14).u16(8).u64(10).u16(14).u16(8).u64(20);
            })
        .enhanced(0, 1500, 60, 60)
        .write(path_);
    const std::string packet = "1|11.500000000|60|60|0|eth0|\n";
    EXPECT_EQ(lines_of(path_, "eth0"), packet);
    EXPECT_EQ(lines_of(path_, "one"), packet);
    for (const char* later : {"eth1", "two"})
        EXPECT_EQ(why(later),
                  "'" + path_ + "' has no interface '" + later + "': it has 0 ('eth0').");
}

TEST_F(PcapngFile, a_pcap_file_has_no_interface_to_choose) {
    Made().u32(0xa1b2c3d4).u16(2).u16(4).u64(0).u32(65535).u32(1).write(path_);
    EXPECT_EQ(
        why("0"),
        "'" + path_ + "' is a pcap file, which does not record interfaces: omit --interface.");
}

TEST_F(PcapngFile, wherever_it_breaks_off_its_whole_packets_come_first) {
    Made made(true);
    made.section().interface(1, 0, "eth0").enhanced(0, 1, 60, 60).obsolete(0, 2, 61, 61);
    made.write(path_);
    std::ifstream file(path_, std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(file), {}};
    constexpr std::size_t section = 28;
    constexpr std::size_t interface = 20 + 8 + 4;
    constexpr std::size_t first = 32 + 60;
    for (std::size_t size = section; size <= whole.size(); ++size) {
        std::ofstream(path_, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
        FileSource source(path_);
        for (std::size_t end : {section + interface + first, whole.size()}) {
            const bool is_whole = size >= end;
            ASSERT_TRUE(!is_whole || source.next()) << size;
        }
        if (size == section || size == section + interface || size == section + interface + first ||
            size == whole.size())
            EXPECT_FALSE(source.next()) << size;
        else
            EXPECT_THROW(source.next(), util::Error) << size;
    }
}

// The length of a block is not used before its first 12 bytes are present and valid.
TEST_F(PcapngFile, the_length_of_a_block_that_breaks_off_takes_no_memory) {
    if (support::is_sanitized())
        GTEST_SKIP() << "AddressSanitizer needs more address space than the test leaves";
    Made().section().u32(1).u32(0xffffff00U).write(path_);
    const auto outcome = support::run(
        {"bash", "-c", "ulimit -v 2000000; " + support::rocecap() + " decode " + path_});
    EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
    EXPECT_EQ(outcome.err,
              "rocecap: '" + path_ + "' ends inside the block that begins at byte 28.\n");
}

// A large block, for which the buffer grows, and a packet after it.
TEST_F(PcapngFile, large_packets_are_whole) {
    constexpr std::size_t size = 9'000'001;
    Made()
        .section()
        .interface(1, 0, "")
        .enhanced(0, 1, size, size)
        .enhanced(0, 2, 60, 60)
        .write(path_);
    FileSource source(path_);
    auto frame = source.next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->bytes.size(), size);
    EXPECT_EQ(frame->bytes[size - 1], static_cast<std::byte>('e'));
    frame = source.next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->bytes.size(), 60U);
}

}  // namespace
}  // namespace pcapng_file_test
