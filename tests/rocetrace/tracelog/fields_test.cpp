// The values of events' fields as text, and the parts of a summary that few programs have.
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include "rocetrace/tracelog/decode.hpp"
#include "rocetrace/tracelog/event_writer.hpp"
#include "rocetrace/tracelog/names.hpp"
#include "rocetrace/tracelog/summary.hpp"

namespace fields_test {

using tracelog::Type;

// The event as it is in a ring, with `padding` bytes behind it.
std::vector<std::byte> record_of(const tracelog::EventBytes& event, std::uint16_t padding = 0) {
    std::vector<std::byte> bytes(sizeof(tracelog::Header) + event.size() + padding);
    const tracelog::Header header{static_cast<std::uint32_t>(bytes.size()), tracelog::Kind::event,
                                  padding, 5};
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, event.data(), event.size());
    return bytes;
}

TEST(EventFields, have_the_names_of_their_enumerators) {
    tracelog::EventBytes event(tracelog::Category::qp, "all");
    const sockaddr_in address{AF_INET, htons(4791), {htonl(0xc0000201)}, {}};
    const std::array<unsigned char, 16> gid{0xfe, 0x80};
    const std::string_view text = "some text";
    event.put({"number", Type::number}, 7);
    event.put({"negative", Type::negative}, static_cast<std::uint64_t>(-7));
    event.put({"truth", Type::truth}, 1);
    event.put({"lie", Type::truth}, 0);
    event.put_bytes({"text", Type::text}, text.data(), text.size());
    event.put({"error", Type::error}, EACCES);
    event.put({"state", Type::qp_state}, IBV_QPS_RTS);
    event.put({"type", Type::qp_type}, IBV_QPT_UD);
    event.put({"access", Type::access}, IBV_ACCESS_REMOTE_READ);
    event.put({"async", Type::async_event}, IBV_EVENT_PORT_ERR);
    event.put({"cm", Type::cm_event}, 9);
    event.put({"port", Type::port_state}, IBV_PORT_ARMED);
    event.put({"gid_type", Type::gid_type}, IBV_GID_TYPE_ROCE_V1);
    event.put_gid({"gid", Type::gid}, gid.data());
    event.put_bytes({"address", Type::address}, &address, sizeof address);
    const auto decoded = tracelog::decode(record_of(event, 3), "role", {1, 2});
    ASSERT_TRUE(decoded);
    EXPECT_EQ(
        runlog::to_json(*decoded),
        R"({"t_ns":5,"role":"role","event":"all","number":7,"negative":-7,"truth":true,)"
        R"("lie":false,"text":"some text","error":"EACCES","state":"RTS","type":"UD",)"
        R"("access":"remote_read","async":"PORT_ERR","cm":"ESTABLISHED","port":"ARMED",)"
        R"("gid_type":"RoCE v1","gid":"fe80::","address":"192.0.2.1 port 4791","pid":1,"tid":2})");
}

TEST(EventFields, that_are_cut_make_the_record_invalid) {
    tracelog::EventBytes event(tracelog::Category::qp, "cut");
    event.put_bytes({"key", Type::text}, "text", 4);
    const auto whole = record_of(event);
    EXPECT_TRUE(tracelog::decode(whole, "", {}));
    // The name alone is a whole event.
    const std::size_t name_only = sizeof(tracelog::Header) + 4;
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_EQ(tracelog::decode(std::span(whole).first(size), "", {}).has_value(),
                  size == name_only)
            << size;
    auto too_much_padding = record_of(event);
    too_much_padding[6] = static_cast<std::byte>(event.size() + 1);
    EXPECT_FALSE(tracelog::decode(too_much_padding, "", {}));
}

TEST(EventFields, of_connection_events_are_in_the_order_of_librdmacm) {
    const std::array<std::string_view, 17> names{
        "ADDR_RESOLVED",   "ADDR_ERROR",       "ROUTE_RESOLVED", "ROUTE_ERROR",
        "CONNECT_REQUEST", "CONNECT_RESPONSE", "CONNECT_ERROR",  "UNREACHABLE",
        "REJECTED",        "ESTABLISHED",      "DISCONNECTED",   "DEVICE_REMOVAL",
        "MULTICAST_JOIN",  "MULTICAST_ERROR",  "ADDR_CHANGE",    "TIMEWAIT_EXIT",
        "UNKNOWN"};
    for (unsigned type = 0; type < names.size(); ++type)
        EXPECT_EQ(tracelog::cm_event_name(type), names.at(type));
}

TEST(EventFields, without_a_name_are_shown_as_numbers_or_not_at_all) {
    EXPECT_EQ(tracelog::error_name(ENOMEM), "ENOMEM");
    EXPECT_EQ(tracelog::error_name(4000), "error 4000");
    EXPECT_EQ(tracelog::opcode_name(IBV_WR_ATOMIC_WRITE), "ATOMIC_WRITE");
    EXPECT_EQ(tracelog::opcode_name(IBV_WR_ATOMIC_WRITE + 1), "UNKNOWN");
    sockaddr_in6 address{};
    const auto bytes = std::as_bytes(std::span(&address, 1));
    EXPECT_EQ(tracelog::address_text(bytes), "");  // of no family
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    address.sin6_port = htons(5);
    EXPECT_EQ(tracelog::address_text(bytes), "::1 port 5");
    EXPECT_EQ(tracelog::address_text(bytes.first(bytes.size() - 1)), "");
}

std::string summary_of(std::initializer_list<std::string> lines) {
    tracelog::Summary summary;
    for (const std::string& line : lines)
        summary.add_memory(runlog::from_json(R"({"t_ns":1000,"role":)" + line + "}").value());
    for (const std::string& line : lines)
        summary.add(runlog::from_json(R"({"t_ns":1000,"role":)" + line + "}").value());
    return summary.text();
}

TEST(SummaryParts, a_shared_receive_queue_has_its_counts) {
    EXPECT_EQ(
        summary_of({
            R"("s","event":"qp","qpn":17,"type":"RC","srq":5,"max_send_wr":1,"max_recv_wr":0)",
            R"("s","event":"post_recv","srq":5,"wr_id":1,"len":64)",
            R"("s","event":"post_recv","srq":5,"wr_id":2,"len":64)",
            R"("s","event":"post_recv","srq":6,"wr_id":3,"len":64)",
            R"("s","event":"wc","qpn":17,"wr_id":1,"status":"SUCCESS","opcode":"RECV","byte_len":1,"queue":"recv")",
        }),
        "1 queue pairs were created but not used\n"
        "s: shared receive queue 5: 2 posted, 1 used, 1 left; minimum depth 1\n"
        "s: shared receive queue 6: 1 posted, 0 used, 1 left; minimum depth 1\n");
}

TEST(SummaryParts, two_ends_with_different_path_mtus_are_told) {
    const std::string text = summary_of({
        R"("a","event":"qp_state","qpn":17,"state":"RTS","dest_qpn":18,"path_mtu":1024,"dest_gid":"::ffff:192.0.2.2","timeout":14,"retry_cnt":7,"rnr_retry":6,"min_rnr_timer":12)",
        R"("b","event":"qp_state","qpn":18,"state":"RTS","dest_qpn":17,"path_mtu":512)",
    });
    EXPECT_EQ(text,
              "a: QP 0x000011 of unknown type, RTS, to QP 0x000012 at 192.0.2.2\n"
              "  path MTU 1024, timeout 14, retry_cnt 7, rnr_retry 6, min_rnr_timer 12\n"
              "  the peer has path MTU 512: the two must be equal\n"
              "  send queue: 0 posted (0 bytes), 0 completed, 0 outstanding; at most 0 at once\n"
              "b: QP 0x000012 of unknown type, RTS, to QP 0x000011\n"
              "  path MTU 512\n"
              "  the peer has path MTU 1024: the two must be equal\n"
              "  send queue: 0 posted (0 bytes), 0 completed, 0 outstanding; at most 0 at once\n");
}

TEST(SummaryParts, only_ten_failed_calls_and_forty_regions_are_listed) {
    tracelog::Summary summary;
    std::string failures;
    for (int i = 0; i < 11; ++i) {
        summary.add(runlog::from_json(fmt::format(R"({{"t_ns":{},"role":"a","event":"failed",)"
                                                  R"("call":"ibv_reg_mr","error":"ENOMEM"}})",
                                                  i * 1000))
                        .value());
        if (i < 10)
            failures += fmt::format("  00:00:00.{:06} a: ibv_reg_mr ENOMEM\n", i);
    }
    std::string regions;
    for (int i = 0; i < 41; ++i) {
        summary.add_memory(
            runlog::from_json(fmt::format(R"({{"t_ns":1,"role":"a","event":"mr","va":{},"len":1,)"
                                          R"("lkey":{},"rkey":{},"access":"local_read"}})",
                                          4096 * (i + 1), i, i))
                .value());
        if (i < 40)
            regions +=
                fmt::format("  a: {:#x} + 1 bytes, lkey {:#010x} rkey {:#010x}, local_read\n",
                            4096 * (i + 1), i, i);
    }
    EXPECT_EQ(summary.text(),
              "memory regions\n" + regions + "  and 1 more\nfailed calls: 11\n" + failures);
}

TEST(SummaryParts, requests_that_were_only_flushed_and_a_destroyed_queue_pair_are_told) {
    const std::string text = summary_of({
        R"("a","event":"qp_state","qpn":17,"state":"ERR","dest_qpn":18)",
        R"("a","event":"post_send","qpn":17,"wr_id":8,"opcode":"SEND","len":9,"request":0)",
        R"("a","event":"wc","qpn":17,"wr_id":8,"status":"WR_FLUSH_ERR","queue":"send","request":0)",
        R"("a","event":"destroyed","what":"qp","qpn":17,"sends_posted":5,"sends_outstanding":2)",
    });
    EXPECT_EQ(text,
              "a: QP 0x000011 of unknown type, ERR, destroyed, to QP 0x000012\n"
              "  send queue: 5 posted (9 bytes), 3 completed, 2 outstanding; at most 1 at once\n"
              "  1 requests flushed, none failed\n");
}

}  // namespace fields_test
