// Which host learned of which memory: from the logs, from unencrypted private data and endpoints,
// and from its use on the wire.
#include "trace/timeline/capability.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "capture/file_source.hpp"
#include "net/endpoint.hpp"
#include "rdma/capability.hpp"
#include "support/allocation_count.hpp"
#include "wire/cm_data.hpp"
#include "wireshark/tcp_frame.hpp"

namespace capability_test {

using timeline::Capabilities;
using timeline::Capability;
using wire_test::Network;

constexpr std::uint64_t va = 0x7f12'3456'7000;
constexpr std::uint64_t length = 4096;
constexpr std::uint32_t rkey = 0x1412;
constexpr std::string_view remote = "local_write remote_write remote_read";

runlog::Event mr(std::string role, std::uint32_t key, std::uint64_t at = va,
                 std::string_view access = remote, std::int64_t t_ns = 5) {
    return {t_ns,
            std::move(role),
            "mr",
            {{"va", at}, {"len", length}, {"lkey", 0x99U}, {"rkey", key}, {"access", access}}};
}

runlog::Event exchange_event(std::string role, std::string_view direction,
                             std::string_view channel = "TLS 1.3", std::uint64_t at = va) {
    return {7,
            std::move(role),
            "exchange",
            {{"direction", direction},
             {"channel", channel},
             {"va", at},
             {"len", length},
             {"rkey", rkey}}};
}

// Returns the capabilities of a server (192.0.2.1) and a client (192.0.2.2) after these events.
Capabilities with(const std::vector<runlog::Event>& events) {
    Capabilities all;
    all.learn({1, "server", "device", {{"gid", "::ffff:192.0.2.1"}}});
    all.learn({1, "client", "device", {{"gid", "::ffff:192.0.2.2"}}});
    for (const auto& event : events)
        all.learn(event);
    return all;
}

// Adds the packet as frame 17, at 1000 ns of the capture's clock.
void see(Capabilities& all, wire::Packet sent) {
    const auto frame = wire::encode(sent);
    all.see(wire::decode(frame, wire::LinkType::Ethernet), frame, 17, 1000);
}

wire::Packet request(std::uint8_t opcode, std::uint64_t at = va, std::uint32_t key = rkey,
                     Network network = Network::Ipv4) {
    auto packet = wire_test::sample_packet(*wire::find_opcode(opcode), network, 8);
    if (packet.reth)
        packet.reth = wire::Reth{.va = at, .rkey = key, .dmalen = 8};
    if (packet.atomic_eth)
        packet.atomic_eth = wire::AtomicEth{.va = at, .rkey = key};
    return packet;
}

void see_message(Capabilities& all, wire::CmAttribute attribute, std::size_t private_data_at) {
    const auto bytes = rdma::Capability{.va = va, .length = length, .rkey = rkey}.serialize();
    std::vector<std::byte> data(wire::Mad::data_size);
    std::ranges::copy(bytes, data.begin() + static_cast<std::ptrdiff_t>(private_data_at));
    see(all, wire_test::cm_packet(wire_test::cm_mad(attribute, data), Network::Ipv4));
}

// Returns "server 0x1412: client@7 TLS 1.3, frame 17@1000 RETH; ...".
std::string text(const Capabilities& all) {
    std::string out;
    for (const Capability& one : all.all()) {
        out += fmt::format("{}{} {:#x}:", out.empty() ? "" : "; ", one.role, one.rkey);
        for (const auto& learned : one.learned)
            out +=
                fmt::format("{} {}{}@{} {}", &learned == one.learned.data() ? "" : ",", learned.who,
                            learned.frame == 0 ? "" : fmt::format("frame {}", learned.frame),
                            learned.t_ns, learned.how);
    }
    return out;
}

TEST(Capabilities, are_what_the_owner_registered) {
    const auto all = with({mr("server", rkey, va, remote, 123)});
    ASSERT_EQ(all.all().size(), 1U);
    const Capability& one = all.all()[0];
    EXPECT_EQ(one.role, "server");
    EXPECT_EQ(one.va, va);
    EXPECT_EQ(one.length, length);
    EXPECT_EQ(one.lkey, 0x99U);
    EXPECT_EQ(one.rkey, rkey);
    EXPECT_EQ(one.access, remote);
    EXPECT_EQ(one.registered_ns, 123);
    EXPECT_TRUE(one.is_remote());
    EXPECT_TRUE(one.learned.empty());
}

TEST(Capabilities, without_a_remote_right_are_nobody_s_to_learn) {
    auto all = with({mr("client", 0, va, "local_write"), mr("server", rkey, va, "local_write"),
                     exchange_event("client", "received")});
    see(all, request(0x0a));
    see(all, request(0x0a, va, 0));
    EXPECT_EQ(text(all), "client 0x0:; server 0x1412:");
    EXPECT_FALSE(all.all()[0].is_remote());
    EXPECT_FALSE(all.all()[1].is_remote());
}

TEST(Capabilities, are_learned_by_who_receives_them_in_whatever_order_the_logs_come) {
    const auto server = mr("server", rkey);
    const auto sent = exchange_event("server", "sent");
    const auto received = exchange_event("client", "received");
    for (const auto& events : {std::vector{server, sent, received}, {received, server, sent}})
        EXPECT_EQ(text(with(events)), "server 0x1412: client@7 TLS 1.3");
}

TEST(Capabilities, are_learned_once_by_each_way) {
    const auto received = exchange_event("client", "received");
    const auto by_tcp = exchange_event("client", "received", "TCP");
    EXPECT_EQ(text(with({received, by_tcp, mr("server", rkey), received, by_tcp})),
              "server 0x1412: client@7 TLS 1.3, client@7 TCP");
}

TEST(Capabilities, are_told_by_address_and_length_where_both_sides_have_the_rkey) {
    constexpr std::uint64_t other_va = 0x5500'0000'0000;
    auto all = with({mr("server", rkey), mr("client", rkey, other_va),
                     exchange_event("client", "received"),
                     exchange_event("server", "received", "TCP", other_va)});
    EXPECT_EQ(text(all), "server 0x1412: client@7 TLS 1.3; client 0x1412: server@7 TCP");
    see(all, request(0x0a, other_va));  // to the server, which has no region at this address
    EXPECT_EQ(text(all), "server 0x1412: client@7 TLS 1.3; client 0x1412: server@7 TCP");
}

TEST(Capabilities, stand_in_the_private_data_of_the_connection_manager) {
    auto all = with({mr("server", rkey)});
    see_message(all, wire::CmAttribute::ConnectReply, 36);
    see_message(all, wire::CmAttribute::ConnectReply, 36);
    see_message(all, wire::CmAttribute::ConnectRequest, 140 + 36);
    see_message(all, wire::CmAttribute::ReadyToUse, 8);  // no endpoint of ours uses this message
    EXPECT_EQ(text(all),
              "server 0x1412: frame 17@1000 CM ConnectReply, frame 17@1000 CM ConnectRequest");
}

TEST(Capabilities, stand_in_an_endpoint_in_the_clear) {
    auto all = with({mr("server", rkey), mr("server", rkey + 1)});
    std::vector<std::byte> payload(5);
    const auto add = [&](std::uint32_t key) {
        const auto bytes =
            net::serialize({.qpn = 17, .path_mtu = 4096, .va = va, .length = length, .rkey = key});
        payload.insert(payload.end(), bytes.begin(), bytes.end());
    };
    add(rkey);
    add(rkey + 1);
    payload.pop_back();  // the second one continues in the next segment
    const auto frame = wireshark_test::tcp_frame(payload, 18515, 1);
    all.see(wire::decode(frame, wire::LinkType::Ethernet), frame, 3, 30);
    EXPECT_EQ(text(all), "server 0x1412: frame 3@30 TCP segment; server 0x1413:");
}

TEST(Capabilities, stand_in_every_request_that_uses_them) {
    auto all = with({mr("server", rkey)});
    see(all, request(0x0c, va + length - 1));
    see(all, request(0x0a));
    see(all, request(0x14, va + 8));
    EXPECT_EQ(text(all), "server 0x1412: frame 17@1000 RETH, frame 17@1000 AtomicETH");
}

TEST(Capabilities, are_not_shown_by_a_request_for_other_memory) {
    auto all = with({mr("server", rkey)});
    see(all, request(0x0a, va - 1));
    see(all, request(0x0a, va + length));
    see(all, request(0x0a, va, rkey + 1));
    auto to_the_client = request(0x0a);
    std::swap(to_the_client.ipv4->src, to_the_client.ipv4->dst);
    see(all, to_the_client);
    EXPECT_EQ(text(all), "server 0x1412:");
}

TEST(Capabilities, are_shown_over_ipv6_and_roce_v1_too) {
    for (const auto network : {Network::Ipv6, Network::Grh}) {
        Capabilities all;
        all.learn({1, "server", "device", {{"gid", "2001:db8::1"}}});
        all.learn(mr("server", rkey));
        all.learn(mr("client", rkey));
        see(all, request(0x0a, va, rkey, network));
        EXPECT_EQ(text(all), "server 0x1412:; client 0x1412: frame 17@1000 RETH")
            << "a log without a GID may be anyone's";
        all.learn({1, "client", "device", {{"gid", "2001:db8::2"}}});
        see(all, request(0x0a, va, rkey, network));
        EXPECT_EQ(text(all),
                  "server 0x1412: frame 17@1000 RETH; client 0x1412: frame 17@1000 RETH");
    }
}

TEST(Capabilities, of_an_rkey_that_is_used_again_are_the_last_ones) {
    constexpr std::uint64_t later_va = va + length / 2;
    auto all = with({mr("server", rkey), mr("server", rkey, later_va)});
    see(all, request(0x0a, later_va));
    EXPECT_EQ(text(all), "server 0x1412:; server 0x1412: frame 17@1000 RETH");
    see(all, request(0x0a, va));  // only the first region has this address
    EXPECT_EQ(text(all), "server 0x1412: frame 17@1000 RETH; server 0x1412: frame 17@1000 RETH");
}

TEST(Capabilities, cost_no_allocation_once_they_are_known) {
    auto all = with({mr("server", rkey)});
    see(all, request(0x0a));
    const auto known = wire::encode(request(0x0a));
    const auto unknown = wire::encode(request(0x0a, va, 0x77));
    const auto segment = wireshark_test::tcp_frame(std::vector<std::byte>(1000), 443, 1);
    const support::AllocationCount allocations;
    for (int i = 0; i < 1000; ++i)
        for (const auto* frame : {&known, &unknown, &segment})
            all.see(wire::decode(*frame, wire::LinkType::Ethernet), *frame, 18, 1001);
    EXPECT_EQ(allocations.count(), 0U);
}

void learn_sample(Capabilities& all, const std::string& lesson, const std::string& role) {
    std::ifstream log("captures/samples/" + lesson + "/" + role + ".jsonl");
    for (std::string line; std::getline(log, line);)
        if (const auto event = runlog::from_json(line))
            all.learn(*event);
}

// Returns how others learned of the only region with remote access in a reference run.
std::vector<std::string> ways_of_sample(const std::string& step) {
    Capabilities all;
    learn_sample(all, step, "client");
    learn_sample(all, step, "server");
    capture::FileSource source("captures/samples/" + step + "/annotated.pcapng");
    std::uint64_t number = 0;
    while (const auto frame = source.next())
        all.see(capture::decode(*frame, wire::IcrcCheck::Skip), frame->bytes, ++number,
                frame->time.count());
    std::vector<std::string> ways;
    for (const Capability& one : all.all()) {
        EXPECT_EQ(one.is_remote(), one.role == "server") << step;
        EXPECT_TRUE(one.is_remote() || one.learned.empty()) << step;
        for (const auto& learned : one.learned)
            ways.push_back((learned.who.empty() ? "wire" : learned.who) + ": " + learned.how);
    }
    return ways;
}

TEST(Capabilities, of_the_reference_runs) {
    using Ways = std::vector<std::string>;
    EXPECT_EQ(ways_of_sample("01_cm_write_read"), (Ways{"wire: CM ConnectReply", "wire: RETH"}));
    Ways three_connections;
    for (int connection = 0; connection < 3; ++connection)
        three_connections.insert(three_connections.end(), {"client: rdma_cm private data",
                                                           "wire: CM ConnectReply", "wire: RETH"});
    EXPECT_EQ(ways_of_sample("17_cm_psn"), three_connections);
    EXPECT_EQ(ways_of_sample("06_verbs_tcp_exchange"),
              (Ways{"client: TCP", "wire: TCP segment", "wire: RETH"}));
    EXPECT_EQ(ways_of_sample("07_secure_psn"), (Ways{"client: TLS 1.3", "wire: RETH"}));
}

}  // namespace capability_test
