#include "runlog/event.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace {

using runlog::Event;

Event post_send() {
    return {1'700'000'000'123'456'789,
            "client",
            "post_send",
            {{"qpn", 17u},
             {"wr_id", 1u},
             {"opcode", "RDMA_WRITE"},
             {"len", 10'000u},
             {"remote_va", 0x7f0012345678u},
             {"rkey", 0x220u},
             {"psn_first", 0xfffffeu},
             {"psn_last", 0u}}};
}

TEST(RunlogEvent, survives_json_unchanged) {
    Event event = post_send();
    event.fields.emplace_back("negative", -110);
    event.fields.emplace_back("largest", std::numeric_limits<std::uint64_t>::max());
    event.fields.emplace_back("flag", true);
    event.fields.emplace_back("text", "a \"quoted\" line\nand a tab\t");
    EXPECT_EQ(runlog::from_json(runlog::to_json(event)), event);
}

TEST(RunlogEvent, json_is_one_line) {
    Event event = post_send();
    event.fields.emplace_back("text", "two\nlines");
    EXPECT_EQ(runlog::to_json(event).find('\n'), std::string::npos);
}

TEST(RunlogEvent, json_replaces_bytes_that_are_no_utf8) {
    Event event{1, "server", "note", {{"text", std::string("bad \xff byte")}}};
    const auto read = runlog::from_json(runlog::to_json(event));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->text("text"), "bad \xef\xbf\xbd byte");
}

TEST(RunlogEvent, every_cut_of_a_line_is_no_event) {
    const std::string line = runlog::to_json(post_send());
    for (std::size_t n = 0; n < line.size(); ++n)
        EXPECT_FALSE(runlog::from_json(std::string_view(line).substr(0, n))) << n;
}

TEST(RunlogEvent, lines_that_are_json_but_no_event_are_refused) {
    for (const char* line : {"[]", "1", "null", "{}", R"({"t_ns":"1","role":"a","event":"b"})",
                             R"({"t_ns":1,"role":2,"event":"b"})", R"({"t_ns":1,"role":"a"})"})
        EXPECT_FALSE(runlog::from_json(line)) << line;
}

TEST(RunlogEvent, what_nests_or_is_no_integer_is_passed_over) {
    const auto event = runlog::from_json(
        R"({"role":"a","deep":{"t_ns":7,"list":[{"event":"x"}]},"t_ns":1,"half":0.5,"none":null,)"
        R"("list":[1,[2]],"event":"b","whole":3})");
    EXPECT_EQ(event, (Event{1, "a", "b", {{"whole", 3U}}}));
}

TEST(RunlogEvent, times_that_no_clock_has_are_the_nearest_ones_that_do_not_overflow) {
    const auto time = [](const std::string& t_ns) {
        return runlog::from_json(R"({"event":"note","t_ns":)" + t_ns + '}').value().t_ns;
    };
    EXPECT_EQ(time("1795223486479313000"), 1'795'223'486'479'313'000);
    EXPECT_EQ(time("-5"), -5);
    EXPECT_EQ(time("-9223372036854775808"), -2'147'483'648'000'000'000);
    EXPECT_EQ(time("9223372036854775807"), 4'294'967'295'000'000'000);
    EXPECT_EQ(time("18446744073709551615"), 4'294'967'295'000'000'000);
}

TEST(RunlogEvent, of_a_member_that_comes_twice_the_last_one_counts) {
    EXPECT_EQ(runlog::from_json(R"({"t_ns":1,"role":"a","event":"b","x":1,"t_ns":2,"x":"y"})"),
              (Event{2, "a", "b", {{"x", "y"}}}));
    EXPECT_EQ(runlog::from_json(R"({"t_ns":1,"role":"a","event":"b","x":1,"x":[]})"),
              (Event{1, "a", "b", {}}));
    EXPECT_FALSE(runlog::from_json(R"({"t_ns":1,"role":"a","event":"b","role":2})"));
}

TEST(RunlogEvent, number_is_there_only_for_whole_numbers_from_zero) {
    const Event event{0, "", "", {{"plain", 5u}, {"signed", 6}, {"negative", -1}, {"text", "7"}}};
    EXPECT_EQ(event.number("plain"), 5u);
    EXPECT_EQ(event.number("signed"), 6u);
    EXPECT_FALSE(event.number("negative"));
    EXPECT_FALSE(event.number("text"));
    EXPECT_FALSE(event.number("missing"));
    EXPECT_EQ(event.text("text"), "7");
    EXPECT_EQ(event.text("plain"), "");
}

TEST(RunlogText, names_request_target_and_psns) {
    EXPECT_EQ(runlog::to_text(post_send()),
              "post_send wr 1 RDMA_WRITE 10000 B → 0x7f0012345678 rkey 0x00000220  PSN 0xfffffe to "
              "0x000000");
}

TEST(RunlogText, gives_the_time_of_day_in_utc) {
    EXPECT_EQ(runlog::time_of_day(0), "00:00:00.000000");
    EXPECT_EQ(runlog::time_of_day(86'399'999'999'999), "23:59:59.999999");
    EXPECT_EQ(runlog::time_of_day(86'400'000'001'000), "00:00:00.000001");
    EXPECT_EQ(runlog::time_of_day(1'790'000'381'647'730'999), "14:19:41.647730");
}

TEST(RunlogText, names_who_chose_a_psn) {
    const Event event{0, "", "psn", {{"qpn", 17u}, {"psn", 0xc11e00u}, {"source", "--psn"}}};
    EXPECT_EQ(runlog::to_text(event),
              "psn       QP 0x000011 sends from PSN 0xc11e00 on (source: --psn)");
}

TEST(RunlogText, names_a_secret_of_tls_and_does_not_tell_it) {
    const Event event{
        0, "", "tls_secret", {{"line", "CLIENT_TRAFFIC_SECRET_0 0123456789abcdef 0badcafe"}}};
    EXPECT_EQ(runlog::to_text(event), "tls_secret CLIENT_TRAFFIC_SECRET_0");
    EXPECT_EQ(runlog::to_text({0, "", "tls_secret", {{"line", "0badcafe"}}}), "tls_secret ");
    EXPECT_EQ(runlog::from_json(runlog::to_json(event)), event);
}

TEST(RunlogText, leaves_out_what_the_event_does_not_have) {
    const Event send{0, "", "post_send", {{"wr_id", 3u}, {"opcode", "SEND"}, {"len", 64u}}};
    EXPECT_EQ(runlog::to_text(send), "post_send wr 3 SEND 64 B");
    const Event failed{
        0, "", "wc", {{"wr_id", 3u}, {"status", "REM_ACCESS_ERR"}, {"vendor_err", 0u}}};
    EXPECT_EQ(runlog::to_text(failed), "wc        wr 3 REM_ACCESS_ERR vendor error 0");
}

TEST(RunlogText, names_an_atomics_values_and_what_it_found) {
    const Event add{0,
                    "",
                    "post_send",
                    {{"wr_id", 101u},
                     {"opcode", "ATOMIC_FETCH_AND_ADD"},
                     {"len", 8u},
                     {"remote_va", 0x1000u},
                     {"rkey", 0x42u},
                     {"add", 1u},
                     {"psn_first", 5u},
                     {"psn_last", 5u}}};
    EXPECT_EQ(runlog::to_text(add),
              "post_send wr 101 ATOMIC_FETCH_AND_ADD 8 B → 0x1000 rkey 0x00000042 add 1  PSN "
              "0x000005 to 0x000005");
    const Event swap{0,
                     "",
                     "post_send",
                     {{"wr_id", 5u},
                      {"opcode", "ATOMIC_CMP_AND_SWP"},
                      {"len", 8u},
                      {"compare", 3u},
                      {"swap", 8u}}};
    EXPECT_EQ(runlog::to_text(swap), "post_send wr 5 ATOMIC_CMP_AND_SWP 8 B compare 3 swap 8");
    const Event read{0, "", "atomic", {{"qpn", 17u}, {"wr_id", 9u}, {"original", 16u}}};
    EXPECT_EQ(runlog::to_text(read), "atomic    wr 9 found 16");
    Event lost = read;
    lost.fields.emplace_back("result", "not swapped");
    EXPECT_EQ(runlog::to_text(lost), "atomic    wr 9 found 16: not swapped");
}

TEST(RunlogEvent, a_scatter_gather_list_survives_json) {
    Event sent = post_send();
    sent.fields.emplace_back("sges", runlog::Sges{{UINT64_MAX, 10000, 7}, {0, 0, UINT32_MAX}});
    sent.fields.emplace_back("more_sges", 3U);
    const std::string line = runlog::to_json(sent);
    EXPECT_NE(line.find(R"("sges":[{"addr":18446744073709551615,"length":10000,"lkey":7},)"
                        R"({"addr":0,"length":0,"lkey":4294967295}],"more_sges":3)"),
              std::string::npos)
        << line;
    EXPECT_EQ(runlog::from_json(line), sent);
}

TEST(RunlogEvent, a_scatter_gather_list_of_other_values_has_what_can_be_read) {
    const auto event = runlog::from_json(
        R"({"t_ns":1,"event":"e","sges":[1,{"addr":2,"x":{"lkey":9}},[3,{"addr":4}],null]})");
    ASSERT_TRUE(event);
    EXPECT_EQ(event->fields, (runlog::Fields{{"sges", runlog::Sges{{2, 0, 0}}}}));
}

TEST(RunlogText, of_a_request_ends_with_its_list_and_flags_in_the_log) {
    Event sent = post_send();
    EXPECT_EQ(runlog::request_text(sent), "");
    sent.fields.emplace_back("send_flags", "SIGNALED");
    sent.fields.emplace_back("sges", runlog::Sges{{0x7f0000001000, 10000, 0x328}});
    EXPECT_EQ(runlog::to_text(sent), runlog::to_text(post_send()));
    EXPECT_EQ(runlog::request_text(sent), "  from 0x7f0000001000+10000 lkey 0x00000328  SIGNALED");
    sent.fields.back().value = runlog::Sges{{0x1000, 1, 2}, {0x2000, 2, 3}};
    sent.fields.emplace_back("more_sges", 3U);
    EXPECT_EQ(runlog::request_text(sent),
              "  from 0x1000+1 lkey 0x00000002, 0x2000+2 lkey 0x00000003 and 3 more  SIGNALED");
    const Event receive{0, "", "post_recv", {{"sges", runlog::Sges{{0x1000, 64, 2}}}}};
    EXPECT_EQ(runlog::request_text(receive), "  into 0x1000+64 lkey 0x00000002");
    EXPECT_EQ(runlog::request_text({0, "", "wc", {}}), "");
    const runlog::Fields list{{"sges", runlog::Sges{{0x1000, 64, 2}}}};
    EXPECT_EQ(runlog::request_text({0, "", "failed", list}), "  into 0x1000+64 lkey 0x00000002");
    EXPECT_EQ(runlog::request_text({0, "", "failed", {{"opcode", "SEND"}, list[0]}}),
              "  from 0x1000+64 lkey 0x00000002");
}

TEST(RunlogText, tells_how_long_a_call_took_if_that_was_long) {
    const auto text = [](std::uint64_t us) {
        return runlog::duration_text({0, "", "cm_call", {{"took_us", us}}});
    };
    EXPECT_EQ(text(9'999), "");
    EXPECT_EQ(text(61'499), "  took 61 ms");
    EXPECT_EQ(runlog::duration_text({0, "", "cm_call", {}}), "");
    EXPECT_EQ(runlog::duration_text({0, "", "post_send", {{"unfinished", true}}}),
              "  has not returned");
    EXPECT_EQ(runlog::to_text({0, "", "begun", {{"call", "rdma_connect"}, {"qpn", 17U}}}),
              "begun     rdma_connect has not returned  QP 0x000011");
}

TEST(RunlogText, names_a_call_of_librdmacm_and_what_is_destroyed) {
    EXPECT_EQ(runlog::to_text({0,
                               "",
                               "cm_call",
                               {{"call", "rdma_connect"},
                                {"id", 4096U},
                                {"qpn", 17U},
                                {"retry_cnt", 7U},
                                {"rnr_retry", 6U},
                                {"private_data_len", 0U},
                                {"pid", 1U}}}),
              "cm_call   rdma_connect  QP 0x000011  retries 7, RNR retries 6  0 B of private data");
    EXPECT_EQ(
        runlog::to_text({0, "", "cm_call", {{"call", "rdma_listen"}, {"address", ":: port 1"}}}),
        "cm_call   rdma_listen  from :: port 1");
    EXPECT_EQ(runlog::to_text({0,
                               "",
                               "destroyed",
                               {{"what", "qp"},
                                {"qpn", 17U},
                                {"sends_posted", 3U},
                                {"sends_outstanding", 1U},
                                {"receives_posted", 0U},
                                {"receives_outstanding", 0U}}}),
              "destroyed qp 0x000011  outstanding: 1 of 3 sends, 0 of 0 receives");
    EXPECT_EQ(runlog::to_text({0, "", "destroyed", {{"what", "cq"}, {"cq", 2U}}}),
              "destroyed cq 2");
}

TEST(RunlogText, one_event_may_say_one_of_several_things) {
    const auto text = [](runlog::Fields fields) {
        return runlog::to_text({0, "client", "send_queue", std::move(fields)});
    };
    EXPECT_EQ(text({{"asked", 16u}, {"slots", 31u}}), "send_queue 31 slots (16 requested)");
    EXPECT_EQ(text({{"list", 64u}, {"taken", 31u}, {"error", "ENOMEM"}}),
              "send_queue a list of 64: 31 taken, then ENOMEM");
    EXPECT_EQ(text({{"polled", 0u}, {"later", "taken"}}),
              "send_queue after 0 completions one more: taken");
}

TEST(RunlogText, shows_an_unknown_event_with_all_its_fields) {
    const Event event{0, "", "later", {{"a", 1u}, {"b", "two"}, {"c", false}}};
    EXPECT_EQ(runlog::to_text(event), "later      a=1 b=two c=no");
}

}  // namespace
