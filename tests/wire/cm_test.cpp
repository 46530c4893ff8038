// Connection manager messages other than ConnectRequest. Offsets: IBTA volume 1, chapter 12, as in
// Linux include/rdma/ibta_vol1_c12.h.
#include <gtest/gtest.h>

#include "wire/cm_data.hpp"

namespace cm_test {

using wire::CmAttribute;
using wire_test::CmData;

TEST(Cm, reply) {
    const CmData data;
    const auto rep = data.parse_as<wire::CmRep>(CmAttribute::ConnectReply);
    EXPECT_EQ(rep.local_comm_id, 0x00010203U);
    EXPECT_EQ(rep.remote_comm_id, 0x04050607U);
    EXPECT_EQ(rep.local_qpn, 0x0c0d0eU);
    EXPECT_EQ(rep.starting_psn, wire::Psn(0x141516));
    EXPECT_EQ(rep.responder_resources, 24);
    EXPECT_TRUE(data.is_at(rep.private_data, 36, 196));
}

TEST(Cm, ready_to_use_and_disconnect_reply_have_two_ids) {
    const CmData data;
    const auto rtu = data.parse_as<wire::CmRtu>(CmAttribute::ReadyToUse);
    EXPECT_EQ(rtu.local_comm_id, 0x00010203U);
    EXPECT_EQ(rtu.remote_comm_id, 0x04050607U);
    EXPECT_TRUE(data.is_at(rtu.private_data, 8, 224));
    const auto drep = data.parse_as<wire::CmDrep>(CmAttribute::DisconnectReply);
    EXPECT_EQ(drep.local_comm_id, 0x00010203U);
    EXPECT_EQ(drep.remote_comm_id, 0x04050607U);
    EXPECT_TRUE(data.is_at(drep.private_data, 8, 224));
}

TEST(Cm, disconnect_request) {
    const CmData data;
    const auto dreq = data.parse_as<wire::CmDreq>(CmAttribute::DisconnectRequest);
    EXPECT_EQ(dreq.local_comm_id, 0x00010203U);
    EXPECT_EQ(dreq.remote_comm_id, 0x04050607U);
    EXPECT_EQ(dreq.remote_qpn, 0x08090aU);
    EXPECT_TRUE(data.is_at(dreq.private_data, 12, 220));
}

TEST(Cm, reject) {
    const CmData data = CmData().put(8, "bf").put(9, "0b").put(10, "001c");
    const auto rej = data.parse_as<wire::CmRej>(CmAttribute::ConnectReject);
    EXPECT_EQ(rej.local_comm_id, 0x00010203U);
    EXPECT_EQ(rej.remote_comm_id, 0x04050607U);
    EXPECT_EQ(rej.message_rejected, 2);
    EXPECT_EQ(rej.reason, 28);
    EXPECT_EQ(rej.reason_name(), "Consumer Reject");
    EXPECT_TRUE(data.is_at(rej.ari, 12, 5));
    EXPECT_TRUE(data.is_at(rej.private_data, 84, 148));
}

TEST(Cm, a_rejects_additional_information_ends_with_its_field) {
    const CmData data = CmData().put(9, "ff");  // length 127, but the field has 72 bytes
    EXPECT_TRUE(data.is_at(data.parse_as<wire::CmRej>(CmAttribute::ConnectReject).ari, 12, 72));
}

TEST(Cm, reasons_of_a_reject) {
    const auto reason = [](std::uint16_t code) {
        wire::CmRej rej;
        rej.reason = code;
        return rej.reason_name();
    };
    EXPECT_EQ(reason(0), "Reserved");
    EXPECT_EQ(reason(1), "No QP available");
    EXPECT_EQ(reason(4), "Timeout");
    EXPECT_EQ(reason(8), "Invalid Service ID");
    EXPECT_EQ(reason(10), "Stale connection");
    EXPECT_EQ(reason(12), "Primary Remote Port GID rejected");
    EXPECT_EQ(reason(24), "Port and CM Redirection");
    EXPECT_EQ(reason(29), "RNR Retry Count Reject");
    EXPECT_EQ(reason(33), "Invalid Alternate Flow Label");
    EXPECT_EQ(reason(35), "Vendor option not supported");
    EXPECT_EQ(reason(36), "Reserved");
    EXPECT_EQ(reason(0xffff), "Reserved");
}

TEST(Cm, message_receipt_acknowledgement) {
    const CmData data = CmData().put(8, "7f");
    const auto mra = data.parse_as<wire::CmMra>(CmAttribute::MsgRcptAck);
    EXPECT_EQ(mra.local_comm_id, 0x00010203U);
    EXPECT_EQ(mra.remote_comm_id, 0x04050607U);
    EXPECT_EQ(mra.message_mraed, 1);
    EXPECT_TRUE(data.is_at(mra.private_data, 10, 222));
}

TEST(Cm, alternate_path_and_its_response) {
    const CmData data;
    const auto lap = data.parse_as<wire::CmLap>(CmAttribute::LoadAlternatePath);
    EXPECT_EQ(lap.local_comm_id, 0x00010203U);
    EXPECT_EQ(lap.remote_comm_id, 0x04050607U);
    EXPECT_EQ(lap.remote_qpn, 0x0c0d0eU);
    EXPECT_TRUE(data.is_at(lap.private_data, 64, 168));
    const auto apr = data.parse_as<wire::CmApr>(CmAttribute::AlternatePathResponse);
    EXPECT_EQ(apr.local_comm_id, 0x00010203U);
    EXPECT_EQ(apr.remote_comm_id, 0x04050607U);
    EXPECT_EQ(apr.status, 9);
    EXPECT_TRUE(data.is_at(apr.private_data, 84, 148));
}

}  // namespace cm_test
