#include "render/timeline_text.hpp"

#include <gtest/gtest.h>

namespace timeline_text_test {

using render::TimelineText;
using util::TextStyle;
using util::wrapped;

timeline::Row event_row(std::int64_t t_ns, const char* role) {
    return {t_ns, runlog::Event{t_ns, role, "note", {{"text", "hello"}}}};
}

timeline::Row packet_row(std::int64_t t_ns) {
    timeline::PacketRow packet;
    packet.t_ns = t_ns;
    packet.source = "192.0.2.2";
    packet.destination = "192.0.2.9";
    packet.text = "RC RDMA WRITE Only  psn 0x000001";
    packet.cause = timeline::PostedRequest{.role = "client",
                                           .qpn = 0x11,
                                           .wr_id = 7,
                                           .opcode = "RDMA_WRITE",
                                           .packet = 2,
                                           .packets = 3};
    return {t_ns, packet};
}

TEST(TimelineText, counts_time_from_the_first_row) {
    TimelineText text(util::TextStyle(), {});
    EXPECT_EQ(text.line(event_row(5'000'000'000, "server")),
              " 0.000000  server           note      hello\n");
    EXPECT_EQ(text.line(event_row(5'001'500'000, "client")),
              " 0.001500  client           note      hello\n");
}

TEST(TimelineText, names_a_packets_ends_by_role_and_its_cause) {
    TimelineText text(util::TextStyle(), {{"client", "192.0.2.2"}, {"server", "192.0.2.1"}});
    EXPECT_EQ(
        text.line(packet_row(0)),
        " 0.000000  client → 192.0.2.9  RC RDMA WRITE Only  psn 0x000001  ← client wr 7, 2 of "
        "3\n");
}

TEST(TimelineText, one_host_that_plays_both_roles_is_named_as_that) {
    TimelineText text(util::TextStyle(), {{"client", "192.0.2.2"}, {"server", "192.0.2.2"}});
    EXPECT_NE(text.line(packet_row(0)).find("host → 192.0.2.9"), std::string::npos);
}

TEST(TimelineText, goes_on_below_where_the_terminal_ends) {
    TimelineText text(util::TextStyle(), {{"client", "192.0.2.2"}, {"server", "192.0.2.9"}}, 70);
    EXPECT_EQ(text.line(packet_row(0)),
              " 0.000000  client → server  RC RDMA WRITE Only  psn 0x000001\n" +
                  std::string(38, ' ') + "← client wr 7, 2 of 3\n");
}

TEST(Wrapped, leaves_short_text_and_text_without_limit_alone) {
    EXPECT_EQ(wrapped("one two", 7, 2), "one two");
    EXPECT_EQ(wrapped("one two", 0, 2), "one two");
    EXPECT_EQ(wrapped("one two", 2, 2), "one two");
    EXPECT_EQ(wrapped("", 10, 2), "");
}

TEST(Wrapped, breaks_at_spaces_and_indents) {
    EXPECT_EQ(wrapped("one two three", 9, 2), "one two\n  three");
    EXPECT_EQ(wrapped("one two three four", 9, 2), "one two\n  three\n  four");
}

TEST(Wrapped, keeps_a_group_behind_two_spaces_together_where_it_fits) {
    EXPECT_EQ(wrapped("one  two three", 11, 2), "one\n  two three");
    EXPECT_EQ(wrapped("one  two three four five", 11, 2), "one  two\n  three\n  four five");
}

TEST(Wrapped, counts_columns_and_not_bytes) {
    EXPECT_EQ(wrapped("\033[36mone\033[0m → two", 9, 2), "\033[36mone\033[0m → two");
    EXPECT_EQ(wrapped("a-word-that-is-too-long for it", 8, 2), "a-word-that-is-too-long\n  for it");
}

}  // namespace timeline_text_test
