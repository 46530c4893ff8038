// The states of queue pairs over time: from queries, from transitions of a program, and inferred
// from errors.
#include "trace/timeline/queue_pair_track.hpp"

#include <fstream>
#include <regex>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace queue_pair_track_test {

using runlog::Event;
using runlog::Fields;
using timeline::QueuePairTracks;

QueuePairTracks learn(const std::vector<Event>& events) {
    QueuePairTracks tracks;
    for (const Event& event : events)
        tracks.learn(event);
    return tracks;
}

// Returns one line per state, such as "2 RTS [send PSN ...]", with '?' after inferred states.
std::string text(const timeline::QueuePairTrack& track) {
    std::string out;
    for (const auto& state : track.states)
        out += fmt::format("{} {}{}{}\n", state.t_ns, state.state, state.is_inferred ? "?" : "",
                           state.detail.empty() ? "" : " [" + state.detail + "]");
    return out;
}

Event made(std::int64_t t, std::uint32_t qpn, std::string_view type = "RC") {
    return {t,
            "client",
            "qp",
            {{"qpn", qpn}, {"type", type}, {"max_send_wr", 2U}, {"max_recv_wr", 1U}}};
}

Event query(std::int64_t t, std::uint32_t qpn, std::string_view state, std::uint32_t sq_psn = 0x10,
            std::uint32_t path_mtu = 4096, std::uint32_t dest_qpn = 0x21) {
    return {t,
            "client",
            "qp_state",
            {{"qpn", qpn},
             {"state", state},
             {"dest_qpn", dest_qpn},
             {"sq_psn", sq_psn},
             {"rq_psn", 0x20U},
             {"path_mtu", path_mtu}}};
}

Event transition(std::int64_t t, std::string_view end, std::string_view from, std::string_view to,
                 std::string_view why = "") {
    Fields fields{
        {"end", end}, {"from", from}, {"to", to}, {"result", why.empty() ? "done" : "EINVAL"}};
    if (!why.empty())
        fields.emplace_back("why", why);
    return {t, "client", "transition", std::move(fields)};
}

Event completion(std::int64_t t, std::uint32_t qpn, std::string_view status) {
    return {t, "client", "wc", {{"qpn", qpn}, {"wr_id", 1U}, {"status", status}}};
}

TEST(QueuePairTracks, go_from_being_made_to_what_a_query_says) {
    const auto tracks = learn({made(1, 0x16), query(2, 0x16, "RTS")});
    ASSERT_EQ(tracks.all().size(), 1U);
    const auto& track = tracks.all()[0];
    EXPECT_EQ(track.role, "client");
    EXPECT_EQ(track.qpn, 0x16U);
    EXPECT_EQ(track.type, "RC");
    EXPECT_EQ(track.dest_qpn, 0x21U);
    EXPECT_EQ(track.end, "");
    EXPECT_EQ(text(track),
              "1 created [2 send and 1 receive requests]\n"
              "2 RTS [send PSN 0x000010, receive PSN 0x000020, path MTU 4096, to QP 0x000021]\n");
}

TEST(QueuePairTracks, keep_one_number_of_two_roles_apart) {
    auto of_server = made(2, 0x16);
    of_server.role = "server";
    const auto tracks = learn({made(1, 0x16), of_server});
    ASSERT_EQ(tracks.all().size(), 2U);
    EXPECT_EQ(tracks.all()[0].role, "client");
    EXPECT_EQ(tracks.all()[1].role, "server");
    EXPECT_FALSE(tracks.all()[1].dest_qpn);
}

TEST(QueuePairTracks, do_not_take_psns_that_moved_for_news) {
    const auto tracks = learn({query(1, 0x16, "RTS"), query(2, 0x16, "RTS", 0x13),
                               query(3, 0x16, "RTS", 0x13, 1024), query(4, 0x16, "RTS", 0x14, 1024),
                               query(5, 0x16, "ERR", 0x14, 1024)});
    EXPECT_EQ(text(tracks.all()[0]),
              "1 RTS [send PSN 0x000010, receive PSN 0x000020, path MTU 4096, to QP 0x000021]\n"
              "3 RTS [send PSN 0x000013, receive PSN 0x000020, path MTU 1024, to QP 0x000021]\n"
              "5 ERR [send PSN 0x000014, receive PSN 0x000020, path MTU 1024, to QP 0x000021]\n");
}

TEST(QueuePairTracks, say_that_a_psn_is_secret) {
    const auto tracks = learn({{1,
                                "client",
                                "qp_state",
                                {{"qpn", 0x16U},
                                 {"state", "RTS"},
                                 {"dest_qpn", 0x21U},
                                 {"sq_psn", "secret"},
                                 {"rq_psn", "secret"}}},
                               {2, "client", "qp_state", {{"qpn", 0x17U}, {"state", "RESET"}}}});
    EXPECT_EQ(text(tracks.all()[0]),
              "1 RTS [send PSN secret, receive PSN secret, to QP 0x000021]\n");
    EXPECT_EQ(text(tracks.all()[1]), "2 RESET\n");
}

TEST(QueuePairTracks, begin_anew_with_a_number_that_is_used_again) {
    const auto tracks =
        learn({made(1, 0x29), query(2, 0x29, "RTS"), made(3, 0x29), query(4, 0x29, "ERR")});
    ASSERT_EQ(tracks.all().size(), 2U);
    EXPECT_EQ(tracks.all()[0].states.back().state, "RTS");
    EXPECT_EQ(tracks.all()[1].states.back().state, "ERR");
    EXPECT_EQ(tracks.all()[1].qpn, 0x29U);
}

TEST(QueuePairTracks, are_in_err_once_a_request_fails) {
    const auto tracks =
        learn({made(1, 0x19), query(2, 0x19, "RTS"), completion(3, 0x19, "SUCCESS"),
               completion(4, 0x19, "REM_ACCESS_ERR"), query(5, 0x19, "ERR", 0x11),
               completion(6, 0x19, "WR_FLUSH_ERR"), completion(7, 0x19, "RETRY_EXC_ERR")});
    EXPECT_EQ(text(tracks.all()[0]),
              "1 created [2 send and 1 receive requests]\n"
              "2 RTS [send PSN 0x000010, receive PSN 0x000020, path MTU 4096, to QP 0x000021]\n"
              "4 ERR? [wr 1: REM_ACCESS_ERR]\n");
}

TEST(QueuePairTracks, of_datagrams_may_be_in_sqe_and_are_not_guessed) {
    const auto tracks = learn({made(1, 0x19, "UD"), completion(2, 0x19, "LOC_QP_OP_ERR")});
    EXPECT_EQ(text(tracks.all()[0]), "1 created [2 send and 1 receive requests]\n");
}

TEST(QueuePairTracks, are_gone_when_their_client_has_left) {
    const auto client = [](std::int64_t t, std::uint64_t number, std::string_view state,
                           std::uint32_t qpn = 0) {
        Event event{t, "client", "client", {{"client", number}, {"state", state}}};
        if (qpn != 0) {
            event.fields.emplace_back("qpn", qpn);
            event.fields.emplace_back("dest_qpn", qpn + 0x10);
        }
        return event;
    };
    const auto tracks =
        learn({made(1, 0x1f), made(2, 0x20), client(3, 1, "connected", 0x1f),
               client(4, 2, "connected", 0x20), query(5, 0x20, "ERR"), client(6, 2, "has left"),
               completion(7, 0x20, "RETRY_EXC_ERR"), client(8, 3, "is gone")});
    ASSERT_EQ(tracks.all().size(), 2U);
    EXPECT_EQ(text(tracks.all()[0]), "1 created [2 send and 1 receive requests]\n");
    EXPECT_EQ(tracks.all()[0].dest_qpn, 0x2fU);
    EXPECT_EQ(text(tracks.all()[1]),
              "2 created [2 send and 1 receive requests]\n"
              "5 ERR [send PSN 0x000010, receive PSN 0x000020, path MTU 4096, to QP 0x000021]\n"
              "6 destroyed [client 2 has left]\n");
}

TEST(QueuePairTracks, change_only_by_a_transition_that_was_done) {
    const auto tracks =
        learn({made(1, 0x1d), transition(2, "a", "RESET", "RTR", "RTR needs INIT first"),
               transition(3, "a", "RESET", "INIT"), transition(4, "a", "INIT", "INIT"),
               transition(5, "a", "INIT", "RTS", "RTS needs RTR first"),
               transition(6, "a", "INIT", "RTR")});
    EXPECT_EQ(text(tracks.all()[0]),
              "1 created [2 send and 1 receive requests]\n"
              "2 RESET [RTR refused: EINVAL, RTR needs INIT first]\n"
              "3 INIT\n"
              "5 INIT [RTS refused: EINVAL, RTS needs RTR first]\n"
              "6 RTR\n");
}

TEST(QueuePairTracks, take_what_a_query_says_of_the_state_that_a_transition_led_to) {
    const auto tracks = learn({query(1, 0x1d, "RESET", 0, 256, 0),
                               transition(2, "a", "RESET", "INIT"),
                               {3,
                                "client",
                                "qp_attr",
                                {{"qpn", 0x1dU},
                                 {"state", "INIT"},
                                 {"port", 1U},
                                 {"access", "remote_write"},
                                 {"dest_qpn", 0U},
                                 {"path_mtu", 256U}}},
                               transition(4, "a", "INIT", "RTR"),
                               query(5, 0x1d, "RTR")});
    ASSERT_EQ(tracks.all().size(), 1U);
    EXPECT_EQ(tracks.all()[0].end, "a");
    EXPECT_EQ(text(tracks.all()[0]),
              "1 RESET\n"
              "2 INIT [port 1, rights remote_write]\n"
              "4 RTR [receive PSN 0x000020, path MTU 4096, to QP 0x000021]\n");
}

TEST(QueuePairTracks, know_the_other_end_by_the_peer_s_number) {
    const auto tracks =
        learn({transition(1, "b", "RESET", "INIT"), transition(2, "a", "RESET", "INIT"),
               query(3, 0x1d, "INIT", 0, 256, 0), query(4, 0x1d, "RTR"),
               query(5, 0x21, "INIT", 0, 256, 0)});
    ASSERT_EQ(tracks.all().size(), 2U);
    EXPECT_EQ(tracks.all()[0].end, "b");
    EXPECT_EQ(tracks.all()[0].qpn, 0x21U);
    EXPECT_EQ(tracks.all()[1].end, "a");
    EXPECT_EQ(tracks.all()[1].qpn, 0x1dU);
}

TEST(QueuePairTracks, leave_the_number_open_where_the_log_does_not_tell) {
    const auto tracks =
        learn({made(1, 0x1d), query(2, 0x1d, "RESET"), made(3, 0x1e), query(4, 0x1e, "RESET"),
               transition(5, "a", "RESET", "INIT"), query(6, 0x1d, "INIT")});
    ASSERT_EQ(tracks.all().size(), 3U);
    EXPECT_EQ(tracks.all()[2].end, "a");
    EXPECT_EQ(tracks.all()[2].qpn, 0U);
}

TEST(QueuePairTracks, pass_over_events_that_say_too_little) {
    EXPECT_TRUE(learn({{1, "client", "qp", {{"type", "RC"}}},
                       {2, "client", "qp_state", {{"qpn", 1U}}},
                       {3, "client", "transition", {{"end", "a"}, {"from", "RESET"}}},
                       {4, "client", "client", {{"client", 1U}, {"state", "is gone"}}},
                       {5, "client", "wc", {{"qpn", 1U}}},
                       {6, "client", "note", {{"text", "RTS"}}}})
                    .all()
                    .empty());
}

// Converts the text of the reference run's log back to events.
std::vector<Event> events_of_step_05() {
    std::ifstream log("captures/samples/05_qp_states/client.log");
    const std::regex change(R"( transition (\w): (\w+) to (\w+): (\w+)(?:  \((.*)\))?)");
    const std::regex attributes(R"( qp_attr +QP (\w+) (\w+): .*to QP (\w+), .*receive PSN (\w+), )"
                                R"(.*send PSN (\w+), )");
    const auto number = [](const std::string& digits) {
        return std::uint64_t{std::stoull(digits, nullptr, 0)};
    };
    std::vector<Event> events;
    std::smatch match;
    for (std::string line; std::getline(log, line);)
        if (std::regex_search(line, match, change))
            events.push_back({1,
                              "client",
                              "transition",
                              {{"end", match.str(1)},
                               {"from", match.str(2)},
                               {"to", match.str(3)},
                               {"result", match.str(4)},
                               {"why", match.str(5)}}});
        else if (std::regex_search(line, match, attributes))
            events.push_back({1,
                              "client",
                              "qp_attr",
                              {{"qpn", number(match.str(1))},
                               {"state", match.str(2)},
                               {"dest_qpn", number(match.str(3))},
                               {"rq_psn", number(match.str(4))},
                               {"sq_psn", number(match.str(5))}}});
    return events;
}

TEST(QueuePairTracks, of_the_reference_run_of_step_05) {
    const auto tracks = learn(events_of_step_05());
    ASSERT_EQ(tracks.all().size(), 2U);
    const auto& a = tracks.all()[0];
    const auto& b = tracks.all()[1];
    EXPECT_EQ(a.end, "a");
    EXPECT_EQ(b.end, "b");
    EXPECT_EQ(a.dest_qpn, b.qpn);
    const auto way = [](const timeline::QueuePairTrack& track) {
        std::string states;
        for (const auto& state : track.states)
            states +=
                state.state + (state.detail.find("refused") == std::string::npos ? " " : "! ");
        return states;
    };
    EXPECT_EQ(way(a),
              "RESET RESET! RESET! INIT INIT! INIT! RTR RTS RTS! SQD RTS ERR ERR! RESET INIT RTR "
              "RTS ");
    EXPECT_EQ(way(b), "RESET INIT RTR RTS ERR RESET INIT RTR RESET RESET! ");
    EXPECT_TRUE(a.states[7].detail.starts_with("send PSN 0x00abcd, receive PSN 0x00abcd, to QP "))
        << a.states[7].detail;
}

}  // namespace queue_pair_track_test
