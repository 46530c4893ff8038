// Rows of chosen fields.
#include <gtest/gtest.h>

#include "filter/sample_view.hpp"
#include "util/error.hpp"

namespace row_test {

using filter::Row;
using query_test::packet_of;
using query_test::Sample;
using query_test::sample_of;

constexpr std::uint8_t write_only = 0x0a;

std::string row(std::string_view names, Row::Format format, Sample& sample) {
    std::string out = "before|";
    Row(names, format).append(out, sample.view());
    return out.substr(out.find('|') + 1);
}
std::string tsv(std::string_view names, Sample& sample) {
    return row(names, Row::Format::Tsv, sample);
}
std::string csv(std::string_view names, Sample& sample) {
    return row(names, Row::Format::Csv, sample);
}

std::string error_of(std::string_view names) {
    try {
        Row(names, Row::Format::Tsv);
    } catch (const util::Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Row, writes_each_kind_of_value_as_wireshark_does) {
    auto sample = sample_of(write_only);
    EXPECT_EQ(tsv("frame,time,t_ns,eth.src,ip.src,ip.id,bth.a,bth.fecn,bth.destqp,bth.psn,reth,"
                  "reth.va,reth.r_key,reth.dmalen,bth.opcode_name,icrc.status",
                  sample),
              "3\t1700000000.123456789\t1700000000123456789\t02:00:00:00:00:02\t192.0.2.2\t0x1234\t"
              "1\t0\t0x012345\t16777214\t1\t0x7f00112233445566\t0xdeadbeef\t66051\t"
              "RC RDMA WRITE Only\tgood\n");
    auto v6 = sample_of(write_only, wire_test::Network::Ipv6);
    EXPECT_EQ(tsv("ipv6.dst,ipv6.flow", v6), "2001:db8::1\t0x0abcde\n");
}

TEST(Row, writes_times_before_1970_and_real_numbers) {
    auto packet = packet_of(0x11);
    packet.aeth = wire::Aeth{.syndrome = 0x21, .msn = 1};
    Sample sample(wire::encode(packet));
    auto view = sample.view();
    view.time = std::chrono::nanoseconds(-1'000'000'001);
    std::string out;
    Row("time,t_ns,aeth.timer_ms", Row::Format::Tsv).append(out, view);
    EXPECT_EQ(out, "-1.000000001\t-1000000001\t0.01\n");
}

TEST(Row, leaves_empty_what_is_not_there) {
    auto sample = sample_of(write_only);
    EXPECT_EQ(tsv("aeth,bth.opcode,vlan.id,truncated", sample), "\t10\t\t\n");
    EXPECT_EQ(csv("aeth,aeth.msn", sample), ",\n");
}

TEST(Row, takes_wiresharks_names_spaces_and_repetitions) {
    auto sample = sample_of(write_only);
    EXPECT_EQ(tsv(" infiniband.bth.opcode , bth.opcode,ip.dsfield.dscp", sample), "10\t10\t26\n");
}

TEST(Row, csv_quotes_only_what_needs_it) {
    auto cut = wire::encode(packet_of(write_only));
    const auto length = cut.size();
    cut.resize(60);
    Sample sample(cut, length);
    EXPECT_EQ(csv("frame,truncated,bth.opcode_name", sample),
              "3,\"truncated by snap length: RETH needs 16 bytes, 6 left\",RC RDMA WRITE Only\n");
    EXPECT_EQ(tsv("frame,truncated", sample),
              "3\ttruncated by snap length: RETH needs 16 bytes, 6 left\n");
}

upper::Message in_rpc_rdma(const upper::Rpc& rpc) {
    upper::RpcRdma message;
    message.rpc = rpc;
    return {message};
}

// A tag is any text that an NFS client chooses.
TEST(Row, a_text_from_a_packet_stays_in_its_column_and_line) {
    upper::Rpc call;
    call.compound.emplace().tag = "\"one\"\t2\r\n3";
    auto sample = sample_of(write_only);
    sample.carrying(in_rpc_rdma(call));
    EXPECT_EQ(csv("frame,nfs.tag,frame", sample), "3,\"\"\"one\"\"\t2\r\n3\",3\n");
    EXPECT_EQ(tsv("frame,nfs.tag,frame", sample), "3\t\"one\" 2  3\t3\n");
    call.compound->tag = "one\rtwo";
    sample.carrying(in_rpc_rdma(call));
    EXPECT_EQ(csv("nfs.tag", sample), "\"one\rtwo\"\n");
}

TEST(Row, operations_that_are_not_known_are_dots) {
    upper::Rpc call;
    call.compound.emplace().count = 3;
    auto sample = sample_of(write_only);
    sample.carrying(in_rpc_rdma(call));
    EXPECT_EQ(tsv("nfs.opcode,nfs.ops", sample), "\t...\n");
    call.compound->operations = {22, 9};
    call.compound->known = 2;
    sample.carrying(in_rpc_rdma(call));
    EXPECT_EQ(tsv("nfs.opcode,nfs.ops", sample), "22\tPUTFH GETATTR ...\n");
    call.compound->count = 2;
    sample.carrying(in_rpc_rdma(call));
    EXPECT_EQ(tsv("nfs.ops", sample), "PUTFH GETATTR\n");
}

TEST(Row, two_composed_texts_do_not_overwrite_each_other) {
    auto cut = wire::encode(packet_of(write_only));
    const auto length = cut.size();
    cut.resize(60);
    Sample sample(cut, length);
    constexpr auto sentence = "truncated by snap length: RETH needs 16 bytes, 6 left";
    EXPECT_EQ(tsv("truncated,malformed,truncated", sample),
              std::string(sentence) + "\t\t" + sentence + "\n");
}

TEST(Row, header_has_the_fields_own_names) {
    EXPECT_EQ(Row("infiniband.bth.psn, frame.number", Row::Format::Tsv).header(),
              "bth.psn\tframe\n");
    EXPECT_EQ(Row("bth.psn,reth.r_key,cm", Row::Format::Csv).header(), "bth.psn,reth.r_key,cm\n");
}

TEST(Row, an_unknown_field_is_a_sentence_with_the_one_that_may_be_meant) {
    EXPECT_EQ(error_of("bth.psn,bth.pns"),
              "there is no field 'bth.pns' (did you mean 'bth.psn'?): 'rocecap fields' lists the "
              "fields.");
    EXPECT_EQ(error_of("dmalen"),
              "there is no field 'dmalen' (did you mean 'reth.dmalen'?): 'rocecap fields' lists "
              "the fields.");
    EXPECT_EQ(error_of("nonsense"),
              "there is no field 'nonsense': 'rocecap fields' lists the fields.");
    EXPECT_EQ(error_of("a name is missing"),
              "there is no field 'a name is missing': 'rocecap fields' lists the fields.");
    EXPECT_EQ(error_of("\x1b[31m"),
              "there is no field '\\x1b[31m': 'rocecap fields' lists the fields.");
    for (const auto* names : {"", "bth.psn,", ",bth.psn", "bth.psn,,reth"})
        EXPECT_EQ(error_of(names),
                  "the list of fields has an empty name: write it like 'bth.psn,reth.r_key'.")
            << names;
}

TEST(Row, needs_the_icrc_only_for_fields_that_come_from_it) {
    const auto needs = [](std::string_view names) {
        return Row(names, Row::Format::Tsv).needs_icrc();
    };
    EXPECT_FALSE(needs("bth.psn,icrc.value,payload_len,malformed"));
    EXPECT_TRUE(needs("bth.psn,icrc.status"));
    EXPECT_TRUE(needs("icrc.computed"));
    EXPECT_TRUE(needs("icrc.reason"));
}

}  // namespace row_test
