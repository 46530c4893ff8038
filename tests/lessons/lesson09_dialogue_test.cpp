// The messages of lesson 09: their exact bytes, and rejection of others.
#include <gtest/gtest.h>

#include "examples/09_forged_packets/dialogue.hpp"
#include "support/error_text.hpp"

namespace lesson09_dialogue_test {

using lesson09::Ask;
using lesson09::Report;
using lesson09::Request;

Report report_of_everything() {
    Report report{.state = 3,
                  .completion = 12,
                  .rq_psn = 0xabcdef,
                  .memory_crc = 0xdeadbeef,
                  .read_crc = 0x01020304,
                  .begins = {},
                  .received = 1,
                  .sent = 0x0102030405060708,
                  .duplicate = 0,
                  .out_of_sequence = std::nullopt};
    report.begins.back() = std::byte{'x'};
    return report;
}

TEST(Dialogue, requests_are_read_as_they_were_written) {
    for (unsigned ask = 1; ask <= static_cast<unsigned>(Ask::Done); ++ask) {
        const Request request{.ask = static_cast<Ask>(ask), .received = 0x1122334455667788};
        EXPECT_EQ(lesson09::parse_request(lesson09::serialize(request)), request);
    }
}

TEST(Dialogue, reports_are_read_as_they_were_written) {
    EXPECT_EQ(lesson09::parse_report(lesson09::serialize(report_of_everything())),
              report_of_everything());
    EXPECT_EQ(lesson09::parse_report(lesson09::serialize(Report{})), Report{});
}

TEST(Dialogue, fields_lie_where_the_header_says) {
    const auto bytes = lesson09::serialize(report_of_everything());
    const util::FixedBytes<lesson09::report_size> report(bytes);
    EXPECT_EQ(util::be32<0>(report), 0x52573039U);  // "RW09"
    EXPECT_EQ(util::be8<4>(report), 1U);
    EXPECT_EQ(util::be8<7>(report), 12U);
    EXPECT_EQ(util::be32<8>(report), 0xabcdefU);
    EXPECT_EQ(util::be32<12>(report), 0xdeadbeefU);
    EXPECT_EQ(util::be8<47>(report), 'x');
    EXPECT_EQ(util::be64<56>(report), 0x0102030405060708U);
    EXPECT_EQ(util::be64<72>(report), UINT64_MAX);  // the counter does not exist
}

TEST(Dialogue, other_bytes_are_refused_with_a_sentence) {
    auto request = lesson09::serialize(Request{.ask = Ask::Report});
    request[4] = std::byte{2};
    EXPECT_NE(support::error_text([&] {
                  lesson09::parse_request(request);
              }).find("built from the same sources"),
              std::string::npos);
    request = lesson09::serialize(Request{.ask = Ask::Report});
    for (const unsigned ask : {0U, 8U, 255U}) {
        request[5] = static_cast<std::byte>(ask);
        EXPECT_NE(support::error_text([&] {
                      lesson09::parse_request(request);
                  }).find("number " + std::to_string(ask)),
                  std::string::npos);
    }
    auto report = lesson09::serialize(Report{});
    report[5] = std::byte{1};
    EXPECT_NE(support::error_text([&] { lesson09::parse_report(report); }), "");
}

}  // namespace lesson09_dialogue_test
