// Lesson 16 in the lab: the packets of each transport, and what happens to each message.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/step_checks.hpp"

namespace lesson16_test {

using support::LabRun;
using support::Rows;
using support::rows;

// The queue pairs in the order in which the client creates them.
enum QueuePair : std::size_t { Rc, Uc, Ud, Datagrams, Group, Sharer1, Sharer2, Sharer3 };

class Lesson16 : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
        all_parts = support::capture("16");
        ASSERT_EQ(all_parts.outcome.exit_code, 0) << all_parts.outcome.all();
    }

    static const LabRun& run() { return all_parts; }
    static std::vector<runlog::Event> client(const char* name) {
        return LabRun::all(run().client, name);
    }
    static std::vector<runlog::Event> server(const char* name) {
        return LabRun::all(run().server, name);
    }

    // Returns the send requests of one of the client's queue pairs.
    static std::vector<runlog::Event> posts(std::size_t which) {
        return of_queue_pair(client("post_send"), client("qp").at(which).number("qpn"));
    }
    static std::vector<runlog::Event> completions(std::size_t which) {
        return of_queue_pair(client("wc"), client("qp").at(which).number("qpn"));
    }
    static std::set<std::string> predicted(std::size_t which) {
        std::set<std::string> psns;
        for (const auto& post : posts(which))
            for (const auto psn : support::psns_of(post))
                psns.insert(std::to_string(psn));
        return psns;
    }

    static std::string qpn_of(const runlog::Event& event, const char* key = "qpn") {
        return std::to_string(event.number(key).value());
    }
    // Return the packets from the client's connected queue pair to the server's, and the responses.
    static Rows sent(std::size_t which, const std::string& fields) {
        return rows(run(), fields,
                    "ip.dst == " + support::server_ip + " and not deth and bth.destqp == " +
                        qpn_of(LabRun::ready_to_send(run().client).at(which), "dest_qpn"));
    }
    static Rows answered(std::size_t which, const std::string& fields) {
        return rows(run(), fields,
                    "ip.dst == " + support::client_ip +
                        " and not deth and bth.destqp == " + qpn_of(client("qp").at(which)));
    }
    // Returns the datagrams of one of the client's queue pairs, which is their source QP.
    static Rows datagrams(std::size_t which, const std::string& fields) {
        return rows(run(), fields,
                    "ip.src == " + support::client_ip +
                        " and deth.srcqp == " + qpn_of(client("qp").at(which)));
    }

    // Parses a decimal or hexadecimal cell, depending on tshark's format of the field.
    static std::uint64_t number(const std::string& cell) { return std::stoull(cell, nullptr, 0); }

    static std::set<std::string> column(const Rows& rows, std::size_t i) {
        std::set<std::string> values;
        for (const auto& row : rows)
            values.insert(row.at(i));
        return values;
    }

  private:
    static std::vector<runlog::Event> of_queue_pair(std::vector<runlog::Event> events,
                                                    std::optional<std::uint64_t> qpn) {
        std::erase_if(events, [&](const auto& event) { return event.number("qpn") != qpn; });
        return events;
    }

    static inline LabRun all_parts;
};

TEST_F(Lesson16, every_packet_has_its_cause) {
    support::expect_every_packet_joined(run());
}

TEST_F(Lesson16, rc_acknowledges_each_message) {
    const Rows packets = sent(Rc, "bth.psn,bth.opcode_name");
    EXPECT_EQ(column(packets, 0), predicted(Rc));
    EXPECT_EQ(column(packets, 1), (std::set<std::string>{"RC SEND First", "RC SEND Last"}));
    const Rows answers = answered(Rc, "bth.psn,bth.opcode_name,aeth.type");
    EXPECT_EQ(column(answers, 1), std::set<std::string>{"RC Acknowledge"});
    EXPECT_TRUE(std::ranges::any_of(answers, [](const auto& row) { return row.at(2) == "ACK"; }));
    EXPECT_TRUE(
        column(answers, 0).contains(std::to_string(posts(Rc).back().number("psn_last").value())))
        << "the last message is acknowledged";
}

TEST_F(Lesson16, uc_looks_the_same_and_nothing_comes_back) {
    const Rows packets = sent(Uc, "bth.psn,bth.opcode_name,bth.a");
    EXPECT_EQ(column(packets, 0), predicted(Uc));
    EXPECT_EQ(packets.size(), predicted(Uc).size()) << "nothing is ever sent again";
    EXPECT_EQ(column(packets, 1), (std::set<std::string>{"UC SEND First", "UC SEND Last"}));
    EXPECT_EQ(column(packets, 2), std::set<std::string>{"0"}) << "no ACK is asked for";
    EXPECT_TRUE(answered(Uc, "bth.psn").empty());
}

TEST_F(Lesson16, ud_is_one_packet_a_message_and_nothing_comes_back) {
    const Rows packets =
        datagrams(Ud, "bth.psn,bth.opcode_name,bth.a,deth.q_key,payload_len,bth.destqp");
    EXPECT_EQ(packets.size(), predicted(Ud).size());
    EXPECT_EQ(column(packets, 0), predicted(Ud));
    EXPECT_EQ(column(packets, 1), std::set<std::string>{"UD SEND Only"});
    EXPECT_EQ(column(packets, 2), std::set<std::string>{"0"});
    EXPECT_EQ(column(packets, 4), std::set<std::string>{"4096"});
    for (const auto& packet : packets) {
        EXPECT_EQ(number(packet.at(3)), posts(Ud).front().number("q_key"));
        EXPECT_EQ(number(packet.at(5)), server("qp").at(Ud).number("qpn"));
    }
    EXPECT_TRUE(rows(run(), "bth.psn",
                     "ip.dst == " + support::client_ip +
                         " and bth.destqp == " + qpn_of(client("qp").at(Ud)))
                    .empty());
}

// All bytes except the message: IP, UDP, BTH, DETH, ICRC. Ethernet's 14 bytes are not included.
TEST_F(Lesson16, a_datagram_has_eight_bytes_more_of_headers) {
    const auto overhead = [](const Rows& packets) {
        std::set<int> bytes;
        for (const auto& row : packets)
            bytes.insert(std::stoi(row.at(0)) - std::stoi(row.at(1)));
        return bytes;
    };
    constexpr int headers = 20 + 8 + 12 + 4;
    EXPECT_EQ(overhead(sent(Rc, "ip.len,payload_len")), std::set<int>{headers});
    EXPECT_EQ(overhead(sent(Uc, "ip.len,payload_len")), std::set<int>{headers});
    EXPECT_EQ(overhead(datagrams(Ud, "ip.len,payload_len")), std::set<int>{headers + 8});
}

TEST_F(Lesson16, the_table_is_what_was_on_the_wire) {
    const auto told = client("transport");
    ASSERT_EQ(told.size(), 3U);
    for (const std::size_t which : {Rc, Uc, Ud}) {
        EXPECT_EQ(told[which].number("messages"), 8U);
        EXPECT_EQ(told[which].number("successes"), 8U);
        EXPECT_EQ(told[which].number("arrived"), 8U);
        EXPECT_EQ(completions(which).size(), 8U);
        EXPECT_EQ(server("arrived").at(which).number("arrived"), 8U);
    }
    EXPECT_EQ(told[Rc].number("packets_out"), sent(Rc, "bth.psn").size());
    EXPECT_EQ(told[Rc].number("packets_back"), answered(Rc, "bth.psn").size());
    EXPECT_EQ(told[Uc].number("packets_out"), sent(Uc, "bth.psn").size());
    EXPECT_EQ(told[Uc].number("packets_back"), 0U);
    EXPECT_EQ(told[Ud].number("packets_out"), datagrams(Ud, "bth.psn").size());
    EXPECT_EQ(told[Ud].number("packets_back"), 0U);
}

TEST_F(Lesson16, one_datagram_queue_pair_talks_to_several) {
    const Rows packets = datagrams(Datagrams, "bth.psn,bth.destqp");
    const auto receivers = server("qp");
    ASSERT_GE(packets.size(), 2U);
    EXPECT_EQ(number(packets[0].at(1)), receivers.at(Datagrams).number("qpn"));
    EXPECT_EQ(number(packets[1].at(1)), receivers.at(Datagrams + 1).number("qpn"));
    // The receiver of the second datagram replies: it has the sender's address only from the GRH
    // and the completion.
    const auto* answer = LabRun::find(run().client, "datagram");
    ASSERT_NE(answer, nullptr);
    EXPECT_EQ(qpn_of(*answer, "src_qp"), qpn_of(receivers.at(Datagrams + 1)));
}

TEST_F(Lesson16, the_grh_of_a_received_datagram_ends_in_its_ip_header) {
    auto all = server("datagram");
    const auto of_client = client("datagram");
    all.insert(all.end(), of_client.begin(), of_client.end());
    ASSERT_EQ(all.size(), 2U + 3U + 1U);
    std::set<std::string> captured;
    for (const auto& row : rows(run(), "ip.src,ip.dst,ip.id,ip.len,ip.ttl", "deth"))
        captured.insert(fmt::format("{} {} {} {} {}", row.at(0), row.at(1), number(row.at(2)),
                                    row.at(3), row.at(4)));
    for (const auto& event : all) {
        const std::string grh(event.text("grh"));
        ASSERT_EQ(grh.size(), 80U);
        EXPECT_EQ(grh.substr(0, 40), std::string(40, '0')) << "20 bytes of nothing";
        const auto bytes = [&](std::size_t at, std::size_t size) {
            return std::stoul(grh.substr(40 + 2 * at, 2 * size), nullptr, 16);
        };
        const auto address = [&](std::size_t at) {
            return fmt::format("{}.{}.{}.{}", bytes(at, 1), bytes(at + 1, 1), bytes(at + 2, 1),
                               bytes(at + 3, 1));
        };
        EXPECT_EQ(bytes(0, 1), 0x45U) << "IPv4, no options";
        EXPECT_EQ(bytes(9, 1), 17U) << "UDP";
        EXPECT_TRUE(captured.contains(fmt::format("{} {} {} {} {}", address(12), address(16),
                                                  bytes(4, 2), bytes(2, 2), bytes(8, 1))))
            << grh;
    }
}

TEST_F(Lesson16, what_a_datagrams_sender_is_told_is_success_in_any_case) {
    const auto fates = client("fate");
    ASSERT_EQ(fates.size(), 6U);
    for (const auto& fate : fates)
        EXPECT_EQ(fate.text("status"), "SUCCESS") << fate.text("what");
    EXPECT_EQ(fates[0].text("arrived"), "arrived");
    EXPECT_EQ(fates[1].text("arrived"), "arrived");
    EXPECT_EQ(fates[2].text("arrived"), "lost");
    EXPECT_EQ(fates[3].text("arrived"), "lost");

    const auto requests = posts(Datagrams);
    ASSERT_EQ(requests.size(), 4U);
    const auto on_wire = [&](const runlog::Event& post) {
        const Rows all = datagrams(Datagrams, "bth.psn,deth.q_key");
        const auto row = std::ranges::find(all, qpn_of(post, "psn_first"),
                                           [](const auto& cells) { return cells.at(0); });
        return row == all.end() ? std::optional<std::uint64_t>() : number(row->at(1));
    };
    EXPECT_EQ(on_wire(requests[2]), requests[2].number("q_key")) << "came, and was dropped there";
    EXPECT_NE(requests[2].number("q_key"), requests[0].number("q_key"));
    EXPECT_EQ(on_wire(requests[3]), std::nullopt) << "never left";
    EXPECT_EQ(requests[3].number("len"), 4097U);
    EXPECT_EQ(server("q_key").at(0).number("violations"), 1U);
}

TEST_F(Lesson16, a_group_gets_a_copy_for_each_member_of_one_packet) {
    const auto fates = client("fate");
    EXPECT_EQ(fates.at(4).text("arrived"), "2 copies arrived");
    EXPECT_EQ(fates.at(5).text("arrived"), "1 copy arrived");
    const Rows packets = datagrams(Group, "bth.psn,bth.destqp,ip.dst,eth.dst");
    ASSERT_EQ(packets.size(), 2U) << "one packet a SEND";
    for (const auto& packet : packets) {
        EXPECT_EQ(number(packet.at(1)), 0xffffffU);
        EXPECT_EQ(packet.at(2), "239.10.2.3");
        EXPECT_EQ(packet.at(3), "01:00:5e:0a:02:03") << "RFC 1112: the address's last 23 bits";
    }
    // The receivers of each message.
    std::map<std::uint64_t, std::set<std::string>> receivers;
    for (const auto& event : server("datagram"))
        if (event.number("src_qp") == client("qp").at(Group).number("qpn"))
            receivers[event.number("number").value()].insert(qpn_of(event));
    const auto made = server("qp");
    const std::string first = qpn_of(made.at(Group + 1));
    const std::string second = qpn_of(made.at(Group + 2));
    EXPECT_EQ(receivers[0], (std::set<std::string>{first, second}));
    EXPECT_EQ(receivers[1], std::set<std::string>{first}) << "the other one has left";
}

TEST_F(Lesson16, a_shared_receive_queue_serves_whoever_comes) {
    const auto taken = server("taken");
    ASSERT_EQ(taken.size(), 14U);
    std::map<std::string, int> by_queue_pair;
    std::set<std::uint64_t> numbers, first_seven;
    for (std::size_t i = 0; i < taken.size(); ++i) {
        ++by_queue_pair[qpn_of(taken[i])];
        numbers.insert(taken[i].number("number").value());
        if (i < 7)
            first_seven.insert(taken[i].number("wr_id").value());
    }
    EXPECT_EQ(numbers.size(), 14U) << "each message once";
    EXPECT_EQ(first_seven, (std::set<std::uint64_t>{0, 1, 2, 3, 4, 5, 6}))
        << "in the queue's order";
    std::multiset<int> shares;
    for (const auto& [qpn, count] : by_queue_pair)
        shares.insert(count);
    EXPECT_EQ(shares, (std::multiset<int>{2, 5, 7}));
    // No message arrived before a receive was posted: no queue pair sent an RNR NAK for the shared
    // queue.
    EXPECT_TRUE(rows(run(), "bth.psn", "aeth.type == \"RNR NAK\"").empty());
    for (const std::size_t which : {Sharer1, Sharer2, Sharer3})
        EXPECT_EQ(column(sent(which, "bth.psn"), 0), predicted(which));
}

TEST_F(Lesson16, the_limit_of_a_shared_receive_queue_is_told_once) {
    std::vector<std::string> story;
    for (const auto& event : run().server)
        if (event.name == "taken" || event.name == "srq_modified")
            story.push_back(event.name);
        else if (event.name == "async")
            story.emplace_back(event.text("type"));
    const std::vector<std::string> seven(7, "taken");
    std::vector<std::string> expected{"srq_modified"};
    for (int round = 0; round < 2; ++round) {
        expected.insert(expected.end(), seven.begin(), seven.end());
        expected.insert(expected.end(), {"SRQ_LIMIT_REACHED", "srq_modified"});
    }
    EXPECT_EQ(story, expected);
}

}  // namespace lesson16_test
