#include <gtest/gtest.h>

#include "wire/text/summary.hpp"

namespace cm_details_test {

std::string details(wire::CmBody body) {
    wire::Cm cm;
    cm.body = body;
    return wire::cm_details(cm);
}

TEST(CmDetails, a_message_with_an_unknown_attribute_is_not_decoded) {
    EXPECT_EQ(details(std::monostate()), "not decoded");
}

// IBTA volume 1, 12.6.6 and 12.6.7: 0 is a REQ, 1 a REP; 2 is a LAP in an MRA, "no message" in a
// REJ.
TEST(CmDetails, the_message_that_was_received_or_rejected_is_named) {
    const std::string pair = "comm 0x00000011 to 0x00000022";
    wire::CmMra mra{
        .local_comm_id = 0x11, .remote_comm_id = 0x22, .message_mraed = 0, .private_data = {}};
    wire::CmRej rej;
    rej.local_comm_id = 0x11;
    rej.remote_comm_id = 0x22;
    rej.reason = 28;
    struct Case {
        std::uint8_t code;
        std::string mra;
        std::string rej;
    };
    for (const Case& one : {Case{0, "REQ", "REQ"},
                            {1, "REP", "REP"},
                            {2, "LAP", "no message"},
                            {3, "a reserved code", "a reserved code"}}) {
        mra.message_mraed = one.code;
        rej.message_rejected = one.code;
        EXPECT_EQ(details(mra), pair + " of " + one.mra);
        EXPECT_EQ(details(rej),
                  pair + " of " + one.rej + ": " + std::string(rej.reason_name()) + " (28)");
    }
}

TEST(CmDetails, an_alternate_path_shows_its_queue_pair_and_the_answer_its_status) {
    wire::CmLap lap;
    lap.local_comm_id = 0x0a0b0c0d;
    lap.remote_comm_id = 0x01020304;
    lap.remote_qpn = 0x1234;
    EXPECT_EQ(details(lap), "comm 0x0a0b0c0d to 0x01020304 remote qpn 0x001234");
    EXPECT_EQ(details(wire::CmApr{.local_comm_id = 0x0a0b0c0d,
                                  .remote_comm_id = 0x01020304,
                                  .status = 5,
                                  .private_data = {}}),
              "comm 0x0a0b0c0d to 0x01020304 status 5");
}

TEST(CmDetails, the_messages_of_a_connection_show_its_queue_pairs) {
    wire::CmRep rep;
    rep.local_comm_id = 1;
    rep.remote_comm_id = 2;
    rep.local_qpn = 0x33;
    rep.starting_psn = wire::Psn(0x44);
    EXPECT_EQ(details(rep), "comm 0x00000001 to 0x00000002 qpn 0x000033 psn 0x000044");
    wire::CmRtu rtu;
    rtu.local_comm_id = 3;
    rtu.remote_comm_id = 4;
    EXPECT_EQ(details(rtu), "comm 0x00000003 to 0x00000004");
    wire::CmDreq dreq;
    dreq.local_comm_id = 5;
    dreq.remote_comm_id = 6;
    dreq.remote_qpn = 7;
    EXPECT_EQ(details(dreq), "comm 0x00000005 to 0x00000006 remote qpn 0x000007");
    wire::CmDrep drep;
    drep.local_comm_id = 8;
    drep.remote_comm_id = 9;
    EXPECT_EQ(details(drep), "comm 0x00000008 to 0x00000009");
}

TEST(CmDetails, a_service_is_shown_by_its_port_if_rdma_cm_chose_its_id) {
    wire::CmSidrReq request;
    request.request_id = 0x12;
    request.service_id = 0x1122334455667788;
    EXPECT_EQ(details(request), "request 0x00000012 service 0x1122334455667788");
    request.ip_service.emplace();
    request.ip_service->port = 4420;
    EXPECT_EQ(details(request), "request 0x00000012 port 4420");
    wire::CmSidrRep reply;
    reply.request_id = 0x12;
    reply.qpn = 0x34;
    reply.q_key = 0x56;
    EXPECT_EQ(details(reply), "request 0x00000012 qpn 0x000034 q_key 0x00000056: " +
                                  std::string(reply.status_name()));
}

}  // namespace cm_details_test
