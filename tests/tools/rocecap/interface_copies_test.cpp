// Captures that have packets several times, from an interface each: those of all interfaces of a
// host, as `tcpdump -i any` writes them, and pcapng with several interfaces.
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tools/rocecap/check_run.hpp"

namespace interface_copies_test {

using namespace check_run;

enum Kind : std::uint8_t { Received = 0, OfAnother = 3, Sent = 4 };  // packet(7)

/// Where a packet was captured.
struct Place {
    std::uint8_t interface = 0;
    Kind kind{};
};

class CopiesFile {
  public:
    /// `has_cooked`: all packets are of the interface 'any'. Otherwise, each place is an interface
    /// of its own.
    explicit CopiesFile(const std::string& name, bool has_cooked = true)
        : temp_("copies_" + name + ".pcapng"), has_cooked_(has_cooked) {
        writer_.emplace(capture::Sink::create(temp_.str()), capture::PcapngSection{});
        capture::PcapngInterface interface;
        if (has_cooked)
            interface.link_type = wire::LinkType::LinuxCooked2;
        for (int i = 0; i < (has_cooked ? 1 : 4); ++i)
            writer_->add_interface(interface);
    }

    /// Adds a packet of its own once for each place. `has_id`: with an IPv4 identification.
    void add(wire::Packet packet, std::initializer_list<Place> places, bool has_id = true) {
        packet.ipv4->id = has_id ? ++id_ : std::uint16_t{0};
        const auto frame = wire::encode(packet);
        for (const Place& place : places) {
            now_ += 5'000;
            if (has_cooked_)
                write(0, cooked(frame, place));
            else
                write(place.interface, frame);
        }
    }

    void wait(std::int64_t ns) { now_ += ns; }

    support::Outcome run(const std::string& command) {
        writer_->close();
        return support::run({support::rocecap(), command, temp_.str()});
    }

  private:
    static std::vector<std::byte> cooked(util::Bytes frame, const Place& place) {
        constexpr std::size_t ethernet = 14;
        std::vector<std::byte> bytes(20);
        std::copy_n(frame.begin() + ethernet - 2, 2, bytes.begin());  // EtherType
        bytes[7] = std::byte{place.interface};
        bytes[9] = std::byte{1};  // ARPHRD_ETHER
        bytes[10] = std::byte{place.kind};
        bytes[11] = std::byte{6};
        bytes.insert(bytes.end(), frame.begin() + ethernet, frame.end());
        return bytes;
    }
    void write(std::uint32_t interface, util::Bytes bytes) {
        writer_->packet(interface, {.time = capture::Time(now_),
                                    .bytes = bytes,
                                    .original_length = static_cast<std::uint32_t>(bytes.size())});
    }

    support::TempPath temp_;
    bool has_cooked_;
    std::optional<capture::PcapngWriter> writer_;
    std::uint16_t id_ = 0;
    std::int64_t now_ = 1'000'000'000;
};

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// A SEND that is lost behind the host and sent again, and a READ, by a host with a bridge.
void add_traffic(CopiesFile& file, std::initializer_list<Place> out,
                 std::initializer_list<Place> in, bool has_id = true) {
    file.add(send_one(0), out, has_id);
    file.add(send_one(1), out, has_id);
    file.add(nak(0, 0), in, has_id);
    file.add(send_one(0), out, has_id);
    file.add(send_one(1), out, has_id);
    file.add(acknowledge(1, 2), in, has_id);
    file.add(read_part(2, 2), out, has_id);
    for (std::uint32_t i = 0; i < 2; ++i)
        file.add(response(2, i, 2, 3), in, has_id);
}

void expect_counts_once(const std::string& command, bool has_id, bool has_cooked) {
    CopiesFile twice("twice", has_cooked), once("once", has_cooked);
    add_traffic(twice, {{2, Sent}, {3, Sent}}, {{3, Received}, {2, Received}}, has_id);
    add_traffic(once, {{2, Sent}}, {{3, Received}}, has_id);
    const auto outcome = twice.run(command);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(holds(outcome.err,
                      "9 of 18 RoCE packets were captured again, such as on interface "
                      "3 after interface 2: each counts once."))
        << outcome.err;
    EXPECT_FALSE(holds(outcome.out, "captured twice")) << outcome.out;
    // The frames have other numbers and times.
    const auto digits = [](std::string text) {
        std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
        return text;
    };
    if (command != "flows") {
        EXPECT_EQ(digits(outcome.out), digits(once.run(command).out));
    }
}

TEST(InterfaceCopies, count_once) {
    for (const char* command : {"check", "explain", "flows"})
        for (const bool has_id : {true, false})
            for (const bool has_cooked : {true, false})
                expect_counts_once(command, has_id, has_cooked);
}

// The path doubled it between the two.
TEST(InterfaceCopies, of_one_interface_are_packets_of_the_path) {
    CopiesFile file("doubled", false);
    file.add(send_one(0), {{2, Sent}, {3, Received}, {3, Received}});
    file.add(acknowledge(0, 1), {{3, Sent}, {2, Received}});
    const auto outcome = file.run("flows");
    EXPECT_TRUE(holds(outcome.err, "2 of 5 RoCE packets were captured again")) << outcome.err;
    EXPECT_TRUE(holds(outcome.out, "3 packets")) << outcome.out;
}

TEST(InterfaceCopies, shows_its_host_unless_that_forwards_packets) {
    CopiesFile host("host"), bridge("bridge"), router("router");
    add_traffic(host, {{2, Sent}}, {{2, Received}});
    EXPECT_TRUE(has(host.run("check"), "Captured at 192.0.2.1.")) << "host";
    add_traffic(bridge, {{2, OfAnother}, {3, Sent}}, {{3, OfAnother}, {2, Sent}});
    EXPECT_TRUE(has(bridge.run("check"), "Captured at one place")) << "bridge";
    add_traffic(router, {{2, Received}, {3, Sent}}, {{3, Received}, {2, Sent}});
    EXPECT_TRUE(has(router.run("check"), "Captured at one place")) << "router";
}

// Without identifications, and later than any copy.
TEST(InterfaceCopies, keeps_what_was_sent_again_over_another_interface) {
    CopiesFile file("again");
    file.add(send_one(0), {{2, Sent}}, false);
    file.wait(1'000'000);
    file.add(send_one(0), {{3, Sent}}, false);
    EXPECT_EQ(file.run("flows").err, "");
}

}  // namespace interface_copies_test
