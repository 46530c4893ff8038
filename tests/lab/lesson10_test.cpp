// Lesson 10 in the lab: the results of its five parts, and the packets that belong to them. Of the
// measurements, the test checks only orders that do not depend on the machine.
#include <algorithm>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "support/step_checks.hpp"
#include "support/tool.hpp"

namespace lesson10_test {

using namespace std::chrono_literals;
using support::LabRun;
using support::Rows;
using support::rows;

constexpr const char* client_program = "build/examples/10_completions/client";

// The queue pairs in the order in which the client creates them.
enum QueuePair : std::size_t {
    Waiting,
    WakeUp,
    Signalling,
    FullQueue,
    Inline,
    OverrunOwn,
    OverrunTheirs,
    ShortTimer,
    LongTimer,
    Credits,
    QueuePairs
};

class Lesson10 : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto problem = support::bring_up();
        ASSERT_FALSE(problem) << *problem;
        all_parts = support::plain_run("10");
        ASSERT_EQ(all_parts.outcome.exit_code, 0) << all_parts.outcome.all();
    }

    static const LabRun& run() { return all_parts; }

    // Return what the client sent to the server's end of one of its queue pairs, and the opposite
    // direction.
    static Rows sent(std::size_t which, const std::string& fields,
                     const std::string& where = "bth") {
        return packets(which, true, fields, where);
    }
    static Rows received(std::size_t which, const std::string& fields, const std::string& where) {
        return packets(which, false, fields, where);
    }

    static std::vector<runlog::Event> events(const char* name) {
        return LabRun::all(run().client, name);
    }

    // Returns the completion statuses of one of the client's queue pairs.
    static std::vector<std::string> statuses(std::size_t which) {
        const auto qpn = states().at(which).number("qpn");
        std::vector<std::string> all;
        for (const auto& wc : events("wc"))
            if (wc.number("qpn") == qpn)
                all.emplace_back(wc.text("status"));
        return all;
    }

    static std::set<std::string> predicted(std::size_t which) {
        const auto qpn = states().at(which).number("qpn");
        std::set<std::string> psns;
        for (const auto& post : events("post_send"))
            if (post.number("qpn") == qpn)
                for (const auto psn : support::psns_of(post))
                    psns.insert(std::to_string(psn));
        return psns;
    }

    static std::uint32_t first_psn(std::size_t which) {
        return static_cast<std::uint32_t>(states().at(which).number("sq_psn").value());
    }

    // Returns the number of different PSNs: on a slow host, rxe's timer may retransmit a packet.
    static std::size_t distinct(const Rows& rows) {
        std::set<std::string> psns;
        for (const auto& row : rows)
            psns.insert(row.front());
        return psns.size();
    }

  private:
    static std::vector<runlog::Event> states() { return LabRun::ready_to_send(run().client); }

    static Rows packets(std::size_t which, bool is_to_server, const std::string& fields,
                        const std::string& where) {
        const runlog::Event state = states().at(which);
        const auto qpn = state.number(is_to_server ? "dest_qpn" : "qpn").value();
        return rows(run(), fields,
                    "ip.dst == " + (is_to_server ? support::server_ip : support::client_ip) +
                        " and bth.destqp == " + std::to_string(qpn) + " and (" + where + ")");
    }

    static inline LabRun all_parts;
};

const std::string naks = "aeth.type == NAK or aeth.type == \"RNR NAK\"";
const std::string rnr_naks = "aeth.type == \"RNR NAK\"";

TEST_F(Lesson10, every_packet_has_its_cause) {
    ASSERT_EQ(LabRun::ready_to_send(run().client).size(), std::size_t{QueuePairs});
    support::expect_every_packet_joined(run());
    for (std::size_t which = 0; which < QueuePairs; ++which) {
        std::set<std::string> seen;
        for (const auto& packet : sent(which, "bth.psn", "bth.opcode_name != \"RC Acknowledge\""))
            seen.insert(packet.at(0));
        EXPECT_EQ(seen, predicted(which)) << which;
    }
}

TEST_F(Lesson10, sleeping_takes_less_processor_time_than_looking) {
    const auto told = events("waiting");
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0].text("way"), "polling");
    EXPECT_EQ(told[1].text("way"), "events");
    for (const auto& way : told) {
        EXPECT_EQ(way.number("pings"), 100U);
        EXPECT_GT(way.number("p50_us").value(), 0U);
        EXPECT_GE(way.number("p99_us").value(), way.number("p50_us").value());
    }
    EXPECT_LT(told[1].number("idle_cpu_us").value(), told[0].number("idle_cpu_us").value());
    EXPECT_LT(told[0].number("sleeps").value(), told[1].number("sleeps").value());
    // On the wire, both are the same.
    EXPECT_EQ(distinct(sent(Waiting, "bth.psn")), 200U);
    EXPECT_EQ(distinct(received(Waiting, "bth.psn", "aeth.type == ACK")), 200U);
}

TEST_F(Lesson10, a_completion_before_the_arming_wakes_nobody) {
    const auto told = events("wake_up");
    ASSERT_GE(told.size(), 2U);
    EXPECT_EQ(told.back().text("order"), "poll, arm, poll, sleep");
    EXPECT_EQ(told.back().text("outcome"), "the second poll has found the completion");
    const auto& wrong = told[told.size() - 2];
    EXPECT_EQ(wrong.text("order"), "poll, arm, sleep");
    EXPECT_TRUE(wrong.text("outcome").starts_with("still asleep after ")) << wrong.text("outcome");
}

TEST_F(Lesson10, a_request_without_completion_looks_the_same_on_the_wire) {
    const auto told = events("signalling");
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0].number("completions"), 96U);
    EXPECT_EQ(told[1].number("completions"), 6U);
    for (const std::size_t which : {Signalling, FullQueue}) {
        const auto writes = sent(which, "bth.psn,bth.a");
        ASSERT_FALSE(writes.empty());
        EXPECT_TRUE(std::ranges::all_of(writes, [](const auto& row) { return row.at(1) == "1"; }));
        EXPECT_EQ(distinct(received(which, "bth.psn", "aeth.type == ACK")), distinct(writes));
    }
    EXPECT_EQ(distinct(sent(Signalling, "bth.psn")), 96U + 96U);
    EXPECT_EQ(statuses(Signalling).size(), 96U + 6U);

    // A full send queue: this device frees a slot when the ACK arrives.
    const auto queue = events("send_queue");
    ASSERT_EQ(queue.size(), 3U);
    EXPECT_LT(queue[1].number("taken").value(), queue[1].number("list").value());
    EXPECT_GE(queue[1].number("taken").value(), queue[0].number("slots").value());
    EXPECT_EQ(queue[1].text("error"), "ENOMEM");
    EXPECT_EQ(queue[2].number("polled"), 0U);
    EXPECT_EQ(queue[2].text("later"), "taken");
    EXPECT_EQ(distinct(sent(FullQueue, "bth.psn")), queue[1].number("taken").value() + 1U);
    EXPECT_EQ(statuses(FullQueue).size(), 1U);
}

// Returns the payloads sent with each PSN, in order, as hexadecimal digits.
std::map<std::string, std::vector<std::string>> payloads(const LabRun& run,
                                                         const std::vector<std::string>& frames) {
    std::map<std::string, std::vector<std::string>> all;
    for (const std::string& frame : frames) {
        const auto read = support::run({"tshark", "-n", "-r", run.file("wire.pcapng"), "-Y",
                                        "frame.number == " + frame, "-T", "fields", "-e",
                                        "infiniband.bth.psn", "-e", "data.data"});
        std::istringstream line(read.out);
        std::string psn, payload;
        line >> psn >> payload;
        all[psn].push_back(payload);
    }
    return all;
}

TEST_F(Lesson10, an_inline_message_is_the_one_that_was_posted) {
    const auto told = events("inline");
    ASSERT_EQ(told.size(), 6U);
    EXPECT_GE(told[0].number("got").value(), told[0].number("asked").value());
    // The device may have read the buffer for the last time before or after the program changed it.
    // The last packet shows which.
    const bool arrived_later = told[1].text("arrived") == "what was written later";
    EXPECT_TRUE(arrived_later || told[1].text("arrived") == "what was posted");
    EXPECT_EQ(told[2].text("arrived"), "what was posted");
    EXPECT_EQ(told[3].text("arrived"), "what was posted");
    EXPECT_EQ(told[4].text("error"), "EINVAL");
    EXPECT_EQ(told[5].text("error"), "EINVAL");

    // The first message may be retransmitted with other bytes, the others only with the same.
    std::vector<std::string> frames;
    for (const auto& row : sent(Inline, "frame", "bth.opcode_name == \"RC SEND Only\""))
        frames.push_back(row.at(0));
    const std::string before = "4265666f72652e20";  // "Before. "
    const std::string after = "41667465722e20";     // "After. "
    std::size_t messages = 0;
    for (const auto& [psn, bytes] : payloads(run(), frames)) {
        EXPECT_FALSE(bytes.empty()) << psn;
        EXPECT_TRUE(bytes.front().starts_with(before)) << bytes.front();
        EXPECT_TRUE(bytes.back().starts_with(messages++ == 0 && arrived_later ? after : before))
            << bytes.back();
    }
    EXPECT_EQ(messages, 3U);
    EXPECT_EQ(received(Inline, "bth.psn", rnr_naks).size() + 3, frames.size());
    const auto memory = LabRun::all(run().server, "memory");
    EXPECT_EQ(
        std::ranges::count_if(
            memory, [](const auto& event) { return event.text("begins").starts_with("After."); }),
        arrived_later ? 1 : 0);
}

TEST_F(Lesson10, a_queue_that_is_too_small_loses_completions_of_what_was_acknowledged) {
    const auto* told = LabRun::find(run().client, "overrun");
    ASSERT_NE(told, nullptr);
    EXPECT_EQ(told->number("entries"), 7U);
    EXPECT_EQ(told->number("requests"), 10U);
    EXPECT_EQ(told->number("events"), 3U);
    EXPECT_EQ(told->number("polled"), 7U);
    EXPECT_EQ(told->text("state"), "RTS");
    EXPECT_EQ(told->text("next"), "SUCCESS");
    EXPECT_EQ(events("async").size(), 3U);
    EXPECT_EQ(distinct(sent(OverrunOwn, "bth.psn")), 11U);
    EXPECT_EQ(distinct(received(OverrunOwn, "bth.psn", "aeth.type == ACK")), 11U);
    EXPECT_EQ(statuses(OverrunOwn), std::vector<std::string>(8, "SUCCESS"));
}

TEST_F(Lesson10, a_responder_whose_queue_is_too_small_falls_silent) {
    const auto* told = LabRun::find(run().server, "overrun");
    ASSERT_NE(told, nullptr);
    EXPECT_EQ(told->number("entries"), 7U);
    EXPECT_EQ(told->number("polled"), 7U);
    EXPECT_EQ(told->number("lost"), 5U);
    // Linux 6.1 reports an event for each lost completion, 6.12 only for some.
    EXPECT_GE(told->number("events"), 1U);
    EXPECT_LE(told->number("events"), 5U);
    EXPECT_EQ(told->text("state"), "ERR");

    std::vector<std::string> expected(7, "SUCCESS");
    expected.emplace_back("RETRY_EXC_ERR");
    expected.insert(expected.end(), 4, "WR_FLUSH_ERR");
    EXPECT_EQ(statuses(OverrunTheirs), expected);

    // Seven are acknowledged. The eighth is sent three times and gets no response, not even a NAK.
    EXPECT_EQ(received(OverrunTheirs, "bth.psn", "aeth.type == ACK").size(), 7U);
    EXPECT_EQ(received(OverrunTheirs, "bth.psn", naks).size(), 0U);
    const std::string eighth = std::to_string(first_psn(OverrunTheirs) + 7);
    EXPECT_EQ(sent(OverrunTheirs, "bth.psn", "bth.psn == " + eighth).size(), 3U);
}

TEST_F(Lesson10, a_sender_with_credits_meets_no_rnr_nak) {
    const auto told = events("credits");
    ASSERT_EQ(told.size(), 3U);
    for (const std::size_t i : {0U, 1U, 2U}) {
        const std::size_t queue_pair = ShortTimer + i;
        // The device counted as many RNR NAKs as were captured.
        EXPECT_EQ(received(queue_pair, "bth.psn", rnr_naks).size(),
                  told[i].number("rnr_naks").value());
        const auto sends = sent(queue_pair, "bth.psn", "bth.opcode_name == \"RC SEND Only\"");
        const bool has_credits = queue_pair == Credits;
        if (has_credits) {
            EXPECT_EQ(told[i].number("rnr_naks"), 0U);
            EXPECT_EQ(sends.size(), 32U) << "nothing is sent twice";
        } else {
            EXPECT_GT(told[i].number("rnr_naks").value(), 0U);
            EXPECT_GT(sends.size(), 32U);
        }
        EXPECT_EQ(told[i].number("credit_messages"), has_credits ? 6U : 0U);
    }
    const auto timers = received(LongTimer, "aeth.timer_ms", rnr_naks);
    ASSERT_FALSE(timers.empty());
    EXPECT_EQ(timers.front().at(0), "40.96");
    // During this time, nothing is sent.
    EXPECT_GT(told[1].number("took_us").value(), timers.size() * 40'960);
}

TEST_F(Lesson10, parts_are_chosen_by_flags) {
    const LabRun some = support::capture("10", {"CAPTURE_FILTER=udp port 4791"},
                                         {"--inline", "--credits", "--messages", "20"});
    ASSERT_EQ(some.outcome.exit_code, 0) << some.outcome.all();
    EXPECT_EQ(LabRun::ready_to_send(some.client).size(), 4U);
    EXPECT_EQ(LabRun::find(some.client, "waiting"), nullptr);
    EXPECT_EQ(LabRun::find(some.client, "overrun"), nullptr);
    support::expect_every_packet_joined(some);
    support::expect_nothing_lost_and_all_understood(some);
}

TEST_F(Lesson10, works_over_ipv6) {
    const LabRun six = support::capture("10", {"LAB_FAMILY=ipv6"}, {"--waiting", "--pings", "3"});
    ASSERT_EQ(six.outcome.exit_code, 0) << six.outcome.all();
    support::expect_every_packet_joined(six);
}

TEST_F(Lesson10, refuses_what_would_never_free_a_slot) {
    support::Process server =
        support::start("server", {"build/examples/10_completions/server", "--port", "4245"});
    ASSERT_TRUE(server.await("listening on", 10s));
    const auto outcome = support::exec("client", {client_program, support::server_ip, "--port",
                                                  "4245", "--signalling", "--signal-every", "100"});
    support::expect_one_sentence(outcome, 1, "--signal-every 100: the send queue has ");
}

TEST_F(Lesson10, the_server_outlives_a_client_that_is_killed) {
    support::Process server =
        support::start("server", {"build/examples/10_completions/server", "--port", "4246"});
    ASSERT_TRUE(server.await("listening on", 10s));
    const std::string program = std::string(client_program) + " " + support::server_ip +
                                " --port 4246 --credits --messages ";
    const auto killed = support::exec(
        "client", {"bash", "-c",
                   program + "10000 >/tmp/killed.log & pid=$!; until grep -q qp_state "
                             "/tmp/killed.log; do kill -0 $pid || break; done; kill -KILL $pid; "
                             "wait $pid"});
    EXPECT_EQ(killed.exit_code, 128 + SIGKILL) << killed.all();
    ASSERT_TRUE(server.await("server: ", 30s)) << "what went wrong with the first client";
    const auto next = support::exec("client", {"bash", "-c", program + "4"});
    EXPECT_EQ(next.exit_code, 0) << next.all();
}

}  // namespace lesson10_test
