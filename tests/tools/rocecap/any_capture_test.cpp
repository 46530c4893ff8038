// Captures of all interfaces of a host, as `tcpdump -i any` writes them.
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tools/rocecap/check_run.hpp"

namespace any_capture_test {

using namespace check_run;

enum Kind : std::uint8_t { Received = 0, OfAnother = 3, Sent = 4 };  // packet(7)

/// Where a packet was captured.
struct Place {
    std::uint8_t interface = 0;
    Kind kind{};
};

class AnyFile {
  public:
    explicit AnyFile(const std::string& name) : temp_("any_" + name + ".pcapng") {
        writer_.emplace(capture::Sink::create(temp_.str()), capture::PcapngSection{});
        capture::PcapngInterface any;
        any.link_type = wire::LinkType::LinuxCooked2;
        interface_ = writer_->add_interface(any);
    }

    /// Adds a packet of its own once for each place. `has_id`: with an IPv4 identification.
    void add(wire::Packet packet, std::initializer_list<Place> places, bool has_id = true) {
        packet.ipv4->id = has_id ? ++id_ : std::uint16_t{0};
        const auto frame = wire::encode(packet);
        constexpr std::size_t ethernet = 14;
        for (const Place& place : places) {
            std::vector<std::byte> cooked(20);
            std::copy_n(frame.begin() + ethernet - 2, 2, cooked.begin());  // EtherType
            cooked[7] = std::byte{place.interface};
            cooked[9] = std::byte{1};  // ARPHRD_ETHER
            cooked[10] = std::byte{place.kind};
            cooked[11] = std::byte{6};
            cooked.insert(cooked.end(), frame.begin() + ethernet, frame.end());
            now_ += 5'000;
            writer_->packet(interface_,
                            {.time = capture::Time(now_),
                             .bytes = cooked,
                             .original_length = static_cast<std::uint32_t>(cooked.size())});
        }
    }

    support::Outcome run(const std::string& command) {
        writer_->close();
        return support::run({support::rocecap(), command, temp_.str()});
    }

  private:
    support::TempPath temp_;
    std::optional<capture::PcapngWriter> writer_;
    std::uint32_t interface_ = 0;
    std::uint16_t id_ = 0;
    std::int64_t now_ = 1'000'000'000;
};

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// A SEND that is lost behind the host and sent again, and a READ, by a host with a bridge.
void add_traffic(AnyFile& file, std::initializer_list<Place> out, std::initializer_list<Place> in,
                 bool has_id = true) {
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

TEST(AnyCapture, counts_a_packet_of_a_bridge_and_its_port_once) {
    for (const bool has_id : {true, false}) {
        for (const char* command : {"check", "explain", "flows"}) {
            AnyFile twice("twice"), once("once");
            add_traffic(twice, {{2, Sent}, {3, Sent}}, {{3, Received}, {2, Received}}, has_id);
            add_traffic(once, {{2, Sent}}, {{3, Received}}, has_id);
            const auto outcome = twice.run(command);
            EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
            EXPECT_TRUE(holds(outcome.err,
                              "9 of 18 RoCE packets were captured again, such as on interface 3 "
                              "after interface 2: each counts once."))
                << outcome.err;
            const std::string only = once.run(command).out;
            // The frames have other numbers and times.
            const auto digits = [](std::string text) {
                std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
                return text;
            };
            if (std::string_view(command) != "flows")
                EXPECT_EQ(digits(outcome.out), digits(only));
            else
                EXPECT_FALSE(holds(outcome.out, "captured twice")) << outcome.out;
        }
    }
}

TEST(AnyCapture, shows_its_host_unless_that_forwards_packets) {
    AnyFile host("host"), bridge("bridge"), router("router");
    add_traffic(host, {{2, Sent}}, {{2, Received}});
    EXPECT_TRUE(has(host.run("check"), "Captured at 192.0.2.1.")) << "host";
    add_traffic(bridge, {{2, OfAnother}, {3, Sent}}, {{3, OfAnother}, {2, Sent}});
    EXPECT_TRUE(has(bridge.run("check"), "Captured at one place")) << "bridge";
    add_traffic(router, {{2, Received}, {3, Sent}}, {{3, Received}, {2, Sent}});
    EXPECT_TRUE(has(router.run("check"), "Captured at one place")) << "router";
}

// Without identifications, and later than any copy.
TEST(AnyCapture, keeps_what_was_sent_again_over_another_interface) {
    AnyFile file("again");
    file.add(send_one(0), {{2, Sent}}, false);
    for (int i = 0; i < 200; ++i)
        file.add(send_one(1), {{2, Sent}}, false);
    file.add(send_one(0), {{3, Sent}}, false);
    EXPECT_FALSE(holds(file.run("flows").err, "captured again"));
}

}  // namespace any_capture_test
