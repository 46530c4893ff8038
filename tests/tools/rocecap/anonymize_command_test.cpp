// The file that rocecap anonymize writes: what it has, what it leaves out, and when there is none.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/file_size_limit.hpp"
#include "support/tool.hpp"
#include "tools/rocecap/capture_file.hpp"
#include "tools/rocecap/real_captures.hpp"
#include "wire/encapsulations.hpp"
#include "wire/header_span.hpp"

namespace anonymize_command_test {

namespace fs = std::filesystem;
using rocecap_test::CaptureFile;
using rocecap_test::captures;
using rocecap_test::frame_of;
using rocecap_test::read;
using support::rocecap;

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Each capture's distinctive bytes: addresses of its hosts, rkeys, parts of payloads.
TEST(AnonymizeCommand, leaves_nothing_of_the_hosts_and_their_data) {
    for (const std::string& sample : captures()) {
        const support::TempPath output("anonymous_bytes");
        ASSERT_EQ(rocecap({"anonymize", sample, output.str()}).exit_code, 0);
        const std::string bytes = contents(output.str());
        const auto expect_gone = [&](util::Bytes what, const char* name) {
            const std::string_view text(reinterpret_cast<const char*>(what.data()), what.size());
            EXPECT_EQ(bytes.find(text), std::string::npos) << name << " of " << sample;
        };
        std::set<std::string> seen;
        read(sample, [&](const capture::Frame& frame, const wire::Packet& packet) {
            const auto part = [&](wire::Header header, std::size_t at, std::size_t size) {
                const util::Bytes all = packet.trail.find(header).of(frame.bytes);
                const util::Bytes some = all.subspan(std::min(at, all.size()));
                const util::Bytes found = some.first(std::min(size, some.size()));
                const bool is_distinctive =
                    found.size() == size && std::set(found.begin(), found.end()).size() >= 4;
                const std::string text(reinterpret_cast<const char*>(found.data()), found.size());
                return is_distinctive && seen.insert(text).second ? found : util::Bytes();
            };
            const auto check = [&](wire::Header header, std::size_t at, std::size_t size) {
                if (const util::Bytes found = part(header, at, size); !found.empty())
                    expect_gone(found, std::string(wire::title(header)).c_str());
            };
            check(wire::Header::Ethernet, 0, 6);
            check(wire::Header::Ethernet, 6, 6);
            check(wire::Header::Reth, 0, 6);
            check(wire::Header::Reth, 8, 4);
            check(wire::Header::Ieth, 0, 4);
            check(wire::Header::Payload, 0, 8);
            check(wire::Header::Payload, 24, 16);
        });
    }
}

// As a host names itself and its interface, in all places of a pcapng file.
TEST(AnonymizeCommand, leaves_out_what_the_file_says_beside_its_packets) {
    const support::TempPath input("anonymize_metadata.pcapng");
    const support::TempPath output("anonymize_metadata_out.pcapng");
    {
        capture::PcapngWriter writer(capture::Sink::create(input.str()),
                                     {.hardware = "secret hardware",
                                      .os = "secret os",
                                      .application = "secret application",
                                      .comment = "secret comment"});
        const auto interface = writer.add_interface(
            {.name = "secret0", .description = "secret description", .filter = "host secret"});
        writer.add_names({{"192.0.2.1", "secret-host"}});
        writer.add_tls_secrets("CLIENT_RANDOM secret\n");
        const auto bytes = frame_of(0x04);
        writer.packet(interface,
                      {.time = capture::Time(7),
                       .bytes = bytes,
                       .original_length = static_cast<std::uint32_t>(bytes.size())},
                      "secret packet");
        writer.statistics(interface, {.dropped_by_kernel = 7});
        writer.close();
    }
    const auto outcome = rocecap({"anonymize", input.str(), output.str()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(outcome.err,
              output.str() +
                  ": 1 packet, 0 left out; replaced 2 IP addresses, 2 Ethernet addresses "
                  "and 0 rkeys. Still visible: QPNs, PSNs, P_Keys, ports, VLANs, sizes "
                  "and times.\n");
    EXPECT_EQ(contents(output.str()).find("secret"), std::string::npos);
    EXPECT_NE(contents(input.str()).find("secret"), std::string::npos);
}

support::Outcome tshark(const std::string& file, const support::Argv& more) {
    support::Argv argv{"tshark", "-n",
                       "-r",     file,
                       "-o",     "ip.check_checksum:TRUE",
                       "-o",     "udp.check_checksum:TRUE"};
    argv.insert(argv.end(), more.begin(), more.end());
    return support::run(argv);
}

TEST(AnonymizeCommand, writes_checksums_and_icrcs_that_are_right) {
    for (const std::string& sample :
         {std::string("captures/samples/01_cm_write_read/annotated.pcapng"),
          std::string("captures/samples/13_atomics/annotated.pcapng"),
          std::string("captures/samples/16_transports/annotated.pcapng")}) {
        const support::TempPath output("anonymous_checksums");
        ASSERT_EQ(rocecap({"anonymize", sample, output.str()}).exit_code, 0);
        const auto bad = tshark(output.str(), {"-Y",
                                               "ip.checksum.status == \"Bad\" or "
                                               "udp.checksum.status == \"Bad\" or _ws.malformed"});
        EXPECT_EQ(bad.exit_code, 0) << bad.err;
        EXPECT_EQ(bad.out, "") << sample;
        // A word per packet: tshark's ICRC is the one that rocecap computes.
        const auto icrcs = tshark(output.str(), {"-T", "fields", "-e", "infiniband.invariant.crc"});
        std::istringstream lines(icrcs.out);
        read(output.str(), [&](const capture::Frame& frame, const wire::Packet& packet) {
            std::string line;
            std::getline(lines, line);
            ASSERT_TRUE(packet.icrc) << frame.number;
            EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Good) << frame.number;
            EXPECT_EQ(line, fmt::format("{:#010x}", *packet.icrc->computed)) << frame.number;
        });
    }
}

TEST(AnonymizeCommand, leaves_out_other_protocols_and_encapsulations) {
    CaptureFile file("anonymize_others.pcapng");
    file.add(frame_of(0x06));
    file.add(wire_test::in_ethernet_ipv4(6, wire_test::from_hex("0102 0304 00000000")));
    for (const auto& encapsulation : wire_test::encapsulations())
        if (encapsulation.name == "vxlan")
            file.add(encapsulation.wrap(frame_of(0x0a)));
    const support::TempPath output("anonymize_others_out.pcapng");
    const auto outcome = file.run("anonymize", {output.str()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_NE(outcome.err.find(": 2 packets, 1 left out, 1 without encapsulations; replaced 2 IP "
                               "addresses, 2 Ethernet addresses and 1 rkey."),
              std::string::npos)
        << outcome.err;
}

TEST(AnonymizeCommand, keeps_times_or_begins_in_the_year_2000) {
    CaptureFile file("anonymize_times.pcapng");
    file.add_at(0, frame_of(0x04));
    file.add_at(1500, frame_of(0x04));
    const support::TempPath output("anonymize_times_out.pcapng");
    const auto times = [&](const support::Argv& options) {
        support::Argv argv{output.str()};
        argv.insert(argv.end(), options.begin(), options.end());
        EXPECT_EQ(file.run("anonymize", argv).exit_code, 0);
        std::vector<std::int64_t> all;
        read(output.str(), [&](const capture::Frame& frame, const wire::Packet& /*packet*/) {
            all.push_back(frame.time.count());
        });
        return all;
    };
    using Times = std::vector<std::int64_t>;
    EXPECT_EQ(times({}), (Times{1'000'000'000, 1'001'500'000}));
    EXPECT_EQ(times({"--shift-times"}), (Times{946'684'800'000'000'000, 946'684'800'001'500'000}));
}

TEST(AnonymizeCommand, keeps_payloads_if_it_is_told_so) {
    CaptureFile file("anonymize_payload.pcapng");
    file.add(frame_of(0x04));
    const support::TempPath output("anonymize_payload_out.pcapng");
    const auto outcome = file.run("anonymize", {output.str(), "--keep-payloads"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_NE(outcome.err.find("sizes and times, and the payloads.\n"), std::string::npos)
        << outcome.err;
    read(output.str(), [](const capture::Frame& /*frame*/, const wire::Packet& packet) {
        EXPECT_TRUE(std::ranges::equal(packet.payload, wire_test::sample_payload(64)));
    });
}

TEST(AnonymizeCommand, an_interface_keeps_its_number_and_the_link_emulators_sides_their_names) {
    const support::TempPath input("anonymize_interfaces.pcapng");
    const support::TempPath output("anonymize_interfaces_out.pcapng");
    {
        capture::PcapngWriter writer(capture::Sink::create(input.str()), {});
        for (const char* name : {"unused", "secret0", "before"})
            writer.add_interface({.name = name, .description = {}, .filter = {}});
        const auto bytes = frame_of(0x04);
        for (const std::uint32_t interface : {2U, 1U})
            writer.packet(interface, {.bytes = bytes,
                                      .original_length = static_cast<std::uint32_t>(bytes.size())});
        writer.close();
    }
    ASSERT_EQ(rocecap({"anonymize", input.str(), output.str()}).exit_code, 0);
    std::vector<std::string> interfaces;
    read(output.str(), [&](const capture::Frame& frame, const wire::Packet& /*packet*/) {
        interfaces.push_back(
            fmt::format("{} {}", *frame.notes.interface_id, frame.notes.interface_name));
    });
    EXPECT_EQ(interfaces, (std::vector<std::string>{"2 before", "1 "}));
}

TEST(AnonymizeCommand, never_writes_to_the_capture_itself) {
    CaptureFile file("anonymize_itself.pcapng");
    file.add(frame_of(0x04));
    const std::string before = contents(file.path());
    const auto outcome = file.run("anonymize", {file.path()});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.err,
              "rocecap: '" + file.path() + "' is the capture itself: choose another file.\n");
    EXPECT_EQ(contents(file.path()), before);
}

TEST(AnonymizeCommand, writes_nothing_if_nothing_is_roce) {
    CaptureFile file("anonymize_nothing.pcapng");
    file.add(wire_test::in_ethernet_ipv4(6, wire_test::from_hex("0102 0304 00000000")));
    const support::TempPath output("anonymize_nothing_out.pcapng");
    const auto outcome = file.run("anonymize", {output.str()});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.err,
              "rocecap: '" + file.path() + "' has no RoCE packet: nothing is written.\n");
    EXPECT_FALSE(fs::exists(output.path()));
}

TEST(AnonymizeCommand, a_file_that_cannot_be_written_leaves_the_one_that_was_there) {
    CaptureFile file("anonymize_full.pcapng");
    for (int i = 0; i < 20; ++i)
        file.add(frame_of(0x04));
    const support::TempPath output("anonymize_full_out.pcapng");
    std::ofstream(output.str()) << "older";
    const support::FileSizeLimit limit(500);
    const auto outcome = file.run("anonymize", {output.str()});
    EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
    EXPECT_EQ(outcome.err, "rocecap: capture incomplete: cannot write to '" + output.str() +
                               "': File too large.\n");
    EXPECT_EQ(contents(output.str()), "older");
}

TEST(AnonymizeCommand, of_a_damaged_capture_has_the_packets_before_the_damage) {
    CaptureFile file("anonymize_damaged.pcapng");
    file.add(frame_of(0x04));
    file.add(frame_of(0x04));
    fs::resize_file(file.path(), fs::file_size(file.path()) - 10);
    const support::TempPath output("anonymize_damaged_out.pcapng");
    const auto outcome = file.run("anonymize", {output.str()});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find(": 1 packet, 0 left out"), std::string::npos) << outcome.err;
    EXPECT_TRUE(fs::exists(output.path()));
}

TEST(AnonymizeCommand, reads_a_pipe_and_writes_to_one) {
    const auto outcome =
        support::run({"sh", "-c",
                      support::rocecap() +
                          " anonymize - - < captures/samples/01_cm_write_read/annotated.pcapng | " +
                          support::rocecap() + " verify -"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_NE(outcome.out.find("ICRC: 13 good, 0 bad, 0 unchecked"), std::string::npos)
        << outcome.all();
}

}  // namespace anonymize_command_test
