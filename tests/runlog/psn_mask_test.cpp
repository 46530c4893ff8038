#include "runlog/psn_mask.hpp"

#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "runlog/log.hpp"
#include "support/temp_path.hpp"

namespace {

using runlog::Event;
using runlog::Fields;
using runlog::PsnMask;

Fields hidden(PsnMask& mask, const char* name, Fields fields) {
    Event event{0, "client", name, std::move(fields)};
    mask.hide(event);
    return event.fields;
}

Fields post(std::uint32_t qpn, std::uint32_t first, std::uint32_t last) {
    return {{"qpn", qpn}, {"psn_first", first}, {"psn_last", last}};
}

Fields offsets(std::uint32_t qpn, std::uint32_t first, std::uint32_t last) {
    return {{"qpn", qpn}, {"psn_offset_first", first}, {"psn_offset_last", last}};
}

TEST(PsnMask, a_psn_becomes_a_word_and_the_other_fields_stay) {
    PsnMask mask;
    EXPECT_EQ(hidden(mask, "psn", {{"qpn", 17u}, {"psn", 0xc11e00u}, {"source", "RAND_bytes"}}),
              (Fields{{"qpn", 17u}, {"psn", "secret"}, {"source", "RAND_bytes"}}));
    EXPECT_EQ(hidden(mask, "qp_state", {{"qpn", 17u}, {"sq_psn", 1u}, {"rq_psn", 2u}}),
              (Fields{{"qpn", 17u}, {"sq_psn", "secret"}, {"rq_psn", "secret"}}));
    EXPECT_EQ(hidden(mask, "exchange", {{"psn", 3u}, {"rkey", 4u}}),
              (Fields{{"psn", "secret"}, {"rkey", 4u}}));
}

TEST(PsnMask, requests_are_counted_from_the_first_one_of_their_queue_pair) {
    PsnMask mask;
    EXPECT_EQ(hidden(mask, "post_send", post(17, 100, 102)), offsets(17, 0, 2));
    EXPECT_EQ(hidden(mask, "post_send", post(18, 500, 500)), offsets(18, 0, 0));
    EXPECT_EQ(hidden(mask, "post_send", post(17, 103, 105)), offsets(17, 3, 5));
}

TEST(PsnMask, offsets_go_on_where_psns_wrap) {
    PsnMask mask;
    EXPECT_EQ(hidden(mask, "post_send", post(17, 0xfffffe, 1)), offsets(17, 0, 3));
    EXPECT_EQ(hidden(mask, "post_send", post(17, 2, 2)), offsets(17, 4, 4));
    EXPECT_EQ(hidden(mask, "post_send", post(17, 0xfffffd, 0xfffffd)),
              offsets(17, 0xffffff, 0xffffff));
}

TEST(PsnMask, a_new_queue_pair_of_the_same_number_counts_from_its_own_first_request) {
    PsnMask mask;
    hidden(mask, "post_send", post(17, 100, 102));
    EXPECT_EQ(hidden(mask, "qp", {{"qpn", 17u}}), (Fields{{"qpn", 17u}}));
    EXPECT_EQ(hidden(mask, "post_send", post(17, 7000, 7001)), offsets(17, 0, 1));
}

TEST(PsnMask, what_cannot_be_counted_is_hidden_all_the_same) {
    PsnMask mask;
    EXPECT_EQ(hidden(mask, "post_send", {{"psn_first", 100u}, {"psn_last", 102u}}),
              (Fields{{"psn_first", "secret"}, {"psn_last", "secret"}}));
    EXPECT_EQ(hidden(mask, "later", {{"psn_next", 100u}, {"expected_psn", 101u}}),
              (Fields{{"psn_next", "secret"}, {"expected_psn", "secret"}}));
}

// 0xc11e00 is 12656128. Neither form may be in the text or in the JSON.
TEST(PsnMask, neither_text_nor_json_of_a_log_has_a_hidden_psn) {
    const support::TempPath path("psn_mask");
    testing::internal::CaptureStdout();
    {
        runlog::Log log("client", path.str());
        log.event("psn", {{"qpn", 17u}, {"psn", 0xc11e00u}, {"source", "a test"}});
        log.hide_psns();
        log.event("psn", {{"qpn", 17u}, {"psn", 0xc11e00u}, {"source", "a test"}});
        log.event("qp_state", {{"qpn", 17u}, {"state", "RTS"}, {"sq_psn", 0xc11e00u}});
        log.event("post_send", {{"qpn", 17u},
                                {"wr_id", 1u},
                                {"opcode", "SEND"},
                                {"len", 9000u},
                                {"psn_first", 0xc11e00u},
                                {"psn_last", 0xc11e02u}});
    }
    const std::string text = testing::internal::GetCapturedStdout();
    std::ostringstream json;
    json << std::ifstream(path.str()).rdbuf();
    const auto count = [](const std::string& where, const std::string& what) {
        std::size_t found = 0;
        for (auto at = where.find(what); at != std::string::npos; at = where.find(what, at + 1))
            ++found;
        return found;
    };
    EXPECT_EQ(count(text, "c11e0"), 1u) << text;  // from the event before hide_psns()
    EXPECT_EQ(count(json.str(), "1265612"), 1u) << json.str();
    EXPECT_NE(text.find("post_send wr 1 SEND 9000 B  PSN secret + 0 to + 2\n"), std::string::npos)
        << text;
    EXPECT_NE(text.find("send PSN secret"), std::string::npos) << text;
}

}  // namespace
