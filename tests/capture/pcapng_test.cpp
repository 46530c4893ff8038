// pcapng files of the writer, read by libpcap, by PcapngTail, and by Wireshark's tools.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "capture/file_source.hpp"
#include "capture/pcapng_tail.hpp"
#include "capture/pcapng_writer.hpp"
#include "support/error_text.hpp"
#include "support/process.hpp"
#include "support/temp_path.hpp"

namespace {

using capture::Frame;
using capture::Time;

class Pcapng : public testing::Test {
  protected:
    capture::PcapngWriter writer(const capture::PcapngSection& section = {}) const {
        return {capture::Sink::create(path_), section};
    }
    std::string bytes() const {
        std::ifstream file(path_, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void cut_to(std::size_t size) const { std::filesystem::resize_file(path_, size); }

    support::TempPath temp_{"test.pcapng"};
    std::string path_ = temp_.str();
};

std::vector<std::byte> frame_of(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<std::byte>(i);
    return bytes;
}

void add(capture::PcapngWriter& writer, std::uint32_t interface, Time time, std::size_t size,
         std::uint32_t original) {
    const auto bytes = frame_of(size);
    writer.packet(interface, {.time = time, .bytes = bytes, .original_length = original});
}

capture::PcapngInterface named(const char* name,
                               wire::LinkType link_type = wire::LinkType::Ethernet) {
    capture::PcapngInterface interface;
    interface.name = name;
    interface.link_type = link_type;
    return interface;
}

void expect_frame(const std::optional<Frame>& frame, Time time, std::size_t size,
                  std::uint32_t original) {
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->time, time);
    EXPECT_EQ(frame->original_length, original);
    const auto expected = frame_of(size);
    EXPECT_TRUE(
        std::equal(frame->bytes.begin(), frame->bytes.end(), expected.begin(), expected.end()));
}

TEST_F(Pcapng, libpcap_and_the_tail_read_what_was_written) {
    auto out = writer();
    const auto interface = out.add_interface(named("eth0"));
    for (std::size_t size = 60; size < 68; ++size)
        add(out, interface, Time(1'700'000'000'123'456'789) + Time(size), size, 2000);
    out.close();
    capture::FileSource file(path_);
    capture::PcapngTail tail(path_);
    for (capture::Source* source :
         {static_cast<capture::Source*>(&file), static_cast<capture::Source*>(&tail)}) {
        for (std::size_t size = 60; size < 68; ++size)
            expect_frame(source->next(), Time(1'700'000'000'123'456'789) + Time(size), size, 2000);
        EXPECT_FALSE(source->next());
    }
}

TEST_F(Pcapng, wireshark_reads_names_filter_comments_and_counts) {
    auto out = writer({.hardware = "a machine",
                       .os = "an OS",
                       .application = "a program",
                       .comment = "a comment on all"});
    auto eth7 = named("eth7");
    eth7.filter = "udp port 4791";
    eth7.snaplen = 512;
    const auto interface = out.add_interface(eth7);
    const auto bytes = frame_of(60);
    out.packet(interface, {.time = Time(5), .bytes = bytes, .original_length = 60}, "look here");
    out.statistics(interface, {.start = Time(1),
                               .end = Time(9),
                               .passed_filter = 11,
                               .dropped_by_interface = {},
                               .dropped_by_kernel = 3,
                               .written = 1});
    out.close();
    const auto info = support::run({"capinfos", path_});
    for (const char* text : {"a machine", "an OS", "a program", "a comment on all", "eth7",
                             "udp port 4791", "Number of stat entries = 1"})
        EXPECT_NE(info.out.find(text), std::string::npos) << text << " in\n" << info.all();
    const auto comment =
        support::run({"tshark", "-r", path_, "-T", "fields", "-e", "frame.comment"});
    EXPECT_EQ(comment.out, "look here\n");
}

// {interface, its last counts, those of both}: the counts of an interface grow, those of sections add up.
TEST_F(Pcapng, dropped_packets_are_those_of_the_last_statistics_of_each_interface) {
    auto out = writer();
    for (const char* name : {"eth0", "eth1"})
        out.add_interface(named(name));
    const auto say = [&](std::uint32_t interface, std::uint64_t by_interface,
                         std::optional<std::uint64_t> by_kernel) {
        capture::PcapngStatistics statistics;
        statistics.dropped_by_interface = by_interface;
        statistics.dropped_by_kernel = by_kernel;
        out.statistics(interface, statistics);
    };
    const auto dropped = [&](const char* interface) {
        capture::FileSource file(path_, capture::InterfaceChoice(interface));
        EXPECT_FALSE(file.next());
        capture::PcapngTail tail(path_, capture::InterfaceChoice(interface));
        EXPECT_FALSE(tail.next());
        EXPECT_EQ(tail.dropped(), file.dropped());
        return file.dropped();
    };
    out.flush();
    EXPECT_EQ(dropped(""), 0U);
    say(0, 1, 2);
    say(0, 3, 4);
    say(1, 16, std::nullopt);
    say(2, 100, 100);  // no such interface
    out.close();
    EXPECT_EQ(dropped("eth0"), 7U);
    EXPECT_EQ(dropped("eth1"), 16U);
    EXPECT_EQ(dropped(""), 23U);
    const std::string section = bytes();
    std::ofstream(path_, std::ios::app | std::ios::binary) << section;
    EXPECT_EQ(dropped(""), 46U);
    EXPECT_EQ(dropped("eth0"), 14U);
}

// A run's file may have a host's name there.
TEST_F(Pcapng, names_of_what_is_no_address_are_left_out) {
    const auto with = [&](const std::map<std::string, std::string>& names) {
        auto out = writer();
        out.add_names(names);
        out.add_interface(named("eth0"));
        out.close();
        return bytes();
    };
    const auto named = with({{"192.0.2.1", "server"}, {"2001:db8::1", "client"}});
    EXPECT_EQ(with({{"192.0.2", "x"},
                    {"192.0.2.1", "server"},
                    {"2001:db8::1", "client"},
                    {"2001:db8:::1", "y"},
                    {"host", "z"}}),
              named);
    EXPECT_NE(named.find(std::string("\xc0\0\2\1server\0", 11)), std::string::npos);
    EXPECT_NE(named.find(std::string("\0\1client\0", 9)), std::string::npos);
}

// They refuse names and secrets before a place where they expect them.
TEST_F(Pcapng, with_names_and_secrets_is_written_again_by_editcap_and_mergecap) {
    auto out = writer();
    out.add_names({{"192.0.2.1", "server"}});
    out.add_tls_secrets("CLIENT_RANDOM 00 00\n");
    const std::uint32_t interface = out.add_interface(named("eth0"));
    out.add_interface(named("eth1"));
    add(out, interface, Time(5), 60, 60);
    out.close();
    const support::TempPath copy("copy.pcapng");
    for (const support::Argv& tool : {support::Argv{"editcap", path_, copy.str()},
                                      {"mergecap", "-w", copy.str(), path_, path_}}) {
        const auto outcome = support::run(tool);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    }
}

TEST_F(Pcapng, an_error_names_ten_interfaces) {
    const auto named_of = [&](std::size_t count) {
        auto out = writer();
        for (std::size_t i = 0; i < count; ++i)
            out.add_interface(named(""));
        out.close();
        const std::string text = support::error_text([&] {
            capture::FileSource source(path_, capture::InterfaceChoice("eth0"));
            source.next();
        });
        return text.substr(std::min(text.size(), text.find("it has")));
    };
    EXPECT_EQ(named_of(0), "it has none.");
    EXPECT_EQ(named_of(10), "it has 0, 1, 2, 3, 4, 5, 6, 7, 8, 9.");
    EXPECT_EQ(named_of(12), "it has 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more.");
}

TEST_F(Pcapng, several_interfaces_keep_their_link_types) {
    auto out = writer();
    const auto ethernet = out.add_interface(named("eth0"));
    const auto raw = out.add_interface(named("tun0", wire::LinkType::RawIp));
    add(out, raw, Time(1), 40, 40);
    add(out, ethernet, Time(2), 60, 60);
    out.close();
    capture::PcapngTail tail(path_);
    EXPECT_EQ(tail.next()->link_type, wire::LinkType::RawIp);
    EXPECT_EQ(tail.next()->link_type, wire::LinkType::Ethernet);
}

TEST_F(Pcapng, the_tail_waits_for_the_rest_of_a_packet_wherever_the_file_ends) {
    auto out = writer();
    const auto interface = out.add_interface({});
    add(out, interface, Time(1), 61, 61);
    add(out, interface, Time(2), 62, 62);
    out.close();
    const std::string whole = bytes();
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        std::ofstream(path_, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
        capture::PcapngTail tail(path_);
        int frames = 0;
        while (tail.next())
            ++frames;
        std::ofstream(path_, std::ios::binary | std::ios::app) << whole.substr(size);
        while (tail.next())
            ++frames;
        EXPECT_EQ(frames, 2) << "first seen with " << size << " bytes";
        EXPECT_EQ(tail.ending(), "");
    }
}

TEST_F(Pcapng, a_file_that_breaks_off_gives_its_whole_packets_and_says_so) {
    auto out = writer();
    const auto interface = out.add_interface({});
    add(out, interface, Time(1), 61, 61);
    add(out, interface, Time(2), 62, 62);
    out.close();
    cut_to(bytes().size() - 10);
    capture::FileSource file(path_);
    expect_frame(file.next(), Time(1), 61, 61);
    EXPECT_THROW(file.next(), util::Error);
    capture::PcapngTail tail(path_);
    expect_frame(tail.next(), Time(1), 61, 61);
    EXPECT_FALSE(tail.next());
    EXPECT_NE(tail.ending(), "");
}

TEST_F(Pcapng, the_tail_refuses_what_is_no_pcapng) {
    std::ofstream(path_) << "this is no capture file at all";
    capture::PcapngTail tail(path_);
    EXPECT_THROW(tail.next(), util::Error);
}

TEST_F(Pcapng, tls_secrets_stand_in_front_of_the_packets) {
    auto out = writer();
    out.add_tls_secrets("CLIENT_RANDOM 00 11\n");
    const auto interface = out.add_interface({});
    add(out, interface, Time(1), 60, 60);
    out.close();
    EXPECT_NE(bytes().find("CLIENT_RANDOM 00 11\n"), std::string::npos);
    const auto tshark = support::run({"tshark", "-r", path_});
    EXPECT_EQ(tshark.exit_code, 0) << tshark.all();
}

// pcap with both timestamp resolutions and both byte orders.
TEST_F(Pcapng, the_older_formats_are_read_too) {
    const auto pcap = [&](std::uint32_t magic, bool swap, std::uint32_t fraction) {
        std::string file;
        const auto put = [&](std::uint32_t value, int size) {
            for (int i = 0; i < size; ++i)
                file += static_cast<char>(value >> (8 * (swap ? size - 1 - i : i)));
        };
        put(magic, 4);
        put(2, 2);
        put(4, 2);
        for (const std::uint32_t value : {0U, 0U, 65535U, 1U, 100U, fraction, 3U, 99U})
            put(value, 4);
        file.append("\0\1\2", 3);
        std::ofstream(path_, std::ios::binary | std::ios::trunc) << file;
        capture::FileSource source(path_);
        return source.next()->time - std::chrono::seconds(100);
    };
    for (const bool swap : {false, true}) {
        EXPECT_EQ(pcap(0xa1b2c3d4, swap, 5), Time(5000));
        EXPECT_EQ(pcap(0xa1b23c4d, swap, 5), Time(5));
    }
}

TEST_F(Pcapng, what_cannot_be_read_is_a_sentence) {
    const auto why = [](const std::string& path) -> std::string {
        try {
            capture::FileSource source(path);
            source.next();
        } catch (const util::Error& error) {
            return error.what();
        }
        return "nothing wrong";
    };
    EXPECT_EQ(why("/nonexistent"), "cannot open '/nonexistent': No such file or directory.");
    EXPECT_NE(why(testing::TempDir()), "nothing wrong");
    std::ofstream(path_).flush();
    EXPECT_NE(why(path_).find("is empty"), std::string::npos) << why(path_);
}

}  // namespace
