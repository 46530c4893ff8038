// Packets and fields chosen on the command line.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/rocecap/capture_file.hpp"

namespace where_command_test {

using nlohmann::json;
using rocecap_test::frame_of;

// A WRITE, its ACK, a NAK, a SEND and a WRITE with a wrong ICRC.
class WhereCommand : public testing::Test {
  protected:
    WhereCommand() {
        file_.add(frame_of(0x0a));
        file_.add(frame_of(0x11, 0));
        auto nak = wire_test::sample_packet(*wire::find_opcode(0x11), wire_test::Network::Ipv4, 0);
        nak.aeth = wire::Aeth{.syndrome = 0x62, .msn = 9};
        file_.add(wire::encode(nak));
        file_.add(frame_of(0x04));
        auto bad = frame_of(0x0a);
        bad.back() ^= std::byte{1};
        file_.add(bad);
    }
    support::Outcome decode(const support::Argv& options) const {
        return file_.run("decode", options);
    }
    static void expect_out(const support::Outcome& outcome, const std::string& out) {
        EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
        EXPECT_EQ(outcome.out, out);
        EXPECT_EQ(outcome.err, "");
    }

    rocecap_test::CaptureFile file_{"where.pcapng"};
};

TEST_F(WhereCommand, matching_packets_keep_their_numbers_and_times) {
    expect_out(decode({"--where", "aeth.type == NAK or icrc.status == bad", "--fields", "frame"}),
               "3\n5\n");
    expect_out(decode({"--where", "cm", "--fields", "frame"}), "");
    const auto text = decode({"--where", "bth.opcode == 4"});
    EXPECT_EQ(text.exit_code, 0);
    EXPECT_EQ(text.out.rfind("    4   0.000003  192.0.2.2 → 192.0.2.1  RC SEND Only ", 0), 0U)
        << text.out;
    EXPECT_EQ(std::ranges::count(text.out, '\n'), 1);
}

TEST_F(WhereCommand, json_is_filtered_too) {
    const auto outcome = decode({"--json", "--where", "aeth.error contains Access"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(json::parse(outcome.out)["frame"], 3);
}

TEST_F(WhereCommand, fields_are_rows_of_tabs_or_commas_under_a_header) {
    const std::string fields = "frame,reth.r_key,aeth.error,icrc.status";
    expect_out(decode({"--fields", fields, "--where", "frame in {1, 3, 5}"}),
               "1\t0xdeadbeef\t\tgood\n3\t\tRemote Access Error\tgood\n5\t0xdeadbeef\t\tbad\n");
    expect_out(decode({"--fields", fields, "--csv", "--header", "--where", "frame < 2"}),
               "frame,reth.r_key,aeth.error,icrc.status\n1,0xdeadbeef,,good\n");
    expect_out(decode({"--fields", "bth.psn,bth.se", "--header", "--where", "aeth.msn == 9"}),
               "bth.psn\tbth.se\n16777214\t1\n");
}

TEST_F(WhereCommand, the_header_comes_without_packets_too) {
    expect_out(decode({"--fields", "frame,len", "--header", "--where", "cm"}), "frame\tlen\n");
}

TEST_F(WhereCommand, count_counts_what_is_printed) {
    expect_out(decode({"-c", "2", "--where", "reth or aeth.type == NAK", "--fields", "frame"}),
               "1\n3\n");
}

TEST_F(WhereCommand, a_malformed_packet_counts_only_where_it_matches) {
    auto reserved = frame_of(0x0a);
    reserved[42] = std::byte{0x1f};
    file_.add(reserved);
    EXPECT_EQ(decode({"--where", "reth"}).exit_code, 0);
    const auto outcome = decode({"--where", "malformed", "--fields", "frame,malformed"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out, "6\tBTH opcode 0x1f is reserved\n");
}

TEST_F(WhereCommand, a_csv_text_with_a_comma_is_quoted) {
    auto cut = frame_of(0x0a);
    const auto length = cut.size();
    cut.resize(60);
    file_.add(cut, length);
    expect_out(decode({"--fields", "frame,truncated", "--csv", "--where", "truncated"}),
               "6,\"truncated by snap length: RETH needs 16 bytes, 6 left\"\n");
}

TEST_F(WhereCommand, what_is_no_filter_is_marked_and_ends_with_2) {
    const auto expect_refused = [&](const support::Argv& options, const std::string& err) {
        const auto outcome = decode(options);
        EXPECT_EQ(outcome.exit_code, 2);
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(outcome.err, err);
    };
    expect_refused({"--where", "bth.psn = 5"},
                   "rocecap: '=' is not an operator: write == for equality (column 9).\n"
                   "  bth.psn = 5\n"
                   "          ^\n");
    expect_refused({"--where", "reth and icrc.status == god"},
                   "rocecap: icrc.status is one of good, bad, unchecked, not 'god' (column 25).\n"
                   "  reth and icrc.status == god\n"
                   "                          ^~~\n");
    expect_refused(
        {"--fields", "bth.pns"},
        "rocecap: there is no field 'bth.pns' (did you mean 'bth.psn'?): 'rocecap fields' "
        "lists the fields.\n");
    expect_refused({"--where", "reth and bth.pns == 5", "--header", "--fields", "frame"},
                   "rocecap: there is no field 'bth.pns': did you mean 'bth.psn'? (column 10).\n"
                   "  reth and bth.pns == 5\n"
                   "           ^~~~~~~\n");
}

TEST_F(WhereCommand, an_empty_filter_or_list_of_fields_is_refused) {
    for (const auto* command : {"decode", "flows"})
        for (const auto* filter : {"", "  ", "\t"}) {
            const auto outcome = file_.run(command, {"--where", filter});
            EXPECT_EQ(outcome.exit_code, 2);
            EXPECT_EQ(outcome.out, "");
            EXPECT_EQ(outcome.err,
                      "rocecap: the filter is empty: write a condition, such as 'aeth.type == "
                      "NAK'.\n");
        }
    const auto outcome = decode({"--fields", ""});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find("the list of fields has an empty name"), std::string::npos);
}

TEST_F(WhereCommand, options_that_do_not_go_together_are_refused) {
    for (const support::Argv& options :
         {support::Argv{"--csv"}, {"--header"}, {"--fields", "frame", "--json"}}) {
        const auto outcome = decode(options);
        EXPECT_EQ(outcome.exit_code, 2) << outcome.all();
        EXPECT_EQ(outcome.out, "");
        EXPECT_NE(outcome.err.find("--fields"), std::string::npos) << outcome.err;
    }
}

}  // namespace where_command_test
