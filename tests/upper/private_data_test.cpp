// Private data of connection manager messages, by the service of the connection.
#include <gtest/gtest.h>

#include "upper/parsed.hpp"

namespace private_data_test {

using upper::Service;
using upper_test::text_of;

constexpr std::uint16_t consumer_reject = 28;

template <typename Kind>
std::string text(Service service, std::string_view hex, Kind message = {}) {
    const auto bytes = wire_test::from_hex(hex);
    message.private_data = bytes;
    wire::Cm cm;
    cm.body = message;
    return text_of(upper::parse(service, cm));
}

std::string padded(std::string hex, std::size_t bytes) {
    std::erase(hex, ' ');
    return hex.append(2 * bytes - hex.size(), '0');
}

TEST(PrivateData, of_a_request_for_nvme_need_32_bytes) {
    EXPECT_EQ(text<wire::CmReq>(Service::Nvme, padded("0000 0100 2000 1f00", 32)),
              "NVMe queue 1 host receive queue 32 send queue 31");
    EXPECT_EQ(text<wire::CmReq>(Service::Nvme, padded("0000 0100 2000 1f00", 31)), "");
}

TEST(PrivateData, of_a_reply_for_nvme_need_32_bytes) {
    EXPECT_EQ(text<wire::CmRep>(Service::Nvme, padded("0000 8000", 32)),
              "NVMe controller receive queue 128");
    EXPECT_EQ(text<wire::CmRep>(Service::Nvme, padded("0000 8000", 31)), "");
}

TEST(PrivateData, of_a_reject_are_the_controllers_only_if_the_consumer_rejected) {
    wire::CmRej reject;
    reject.reason = consumer_reject;
    EXPECT_EQ(text(Service::Nvme, "0000 0400", reject), "NVMe reject status 4 (Invalid HSQSIZE)");
    EXPECT_EQ(text(Service::Nvme, "0000 04", reject), "");
    EXPECT_EQ(text(Service::RpcRdma, "0000 0400", reject), "");
    EXPECT_EQ(text(Service::Iser, "0000 0400", reject), "");
    reject.reason = consumer_reject - 1;
    EXPECT_EQ(text(Service::Nvme, "0000 0400", reject), "");
    reject.reason = consumer_reject + 1;
    EXPECT_EQ(text(Service::Nvme, "0000 0400", reject), "");
}

TEST(PrivateData, for_rpc_over_rdma_are_optional) {
    const std::string shown = "RPC-over-RDMA inline send 4096 receive 1024 remote invalidation";
    EXPECT_EQ(text<wire::CmReq>(Service::RpcRdma, "f6ab0e18 01 01 03 00"), shown);
    EXPECT_EQ(text<wire::CmRep>(Service::RpcRdma, "f6ab0e18 01 01 03 00"), shown);
    EXPECT_EQ(text<wire::CmReq>(Service::RpcRdma, "f6ab0e18 01 01 03"), "");
    EXPECT_EQ(text<wire::CmReq>(Service::RpcRdma, "f6ab0e17 01 01 03 00"), "");
}

TEST(PrivateData, for_iser_need_four_bytes) {
    const std::string shown = "iSER without zero-based addresses, remote invalidation";
    EXPECT_EQ(text<wire::CmReq>(Service::Iser, "80000000"), shown);
    EXPECT_EQ(text<wire::CmRep>(Service::Iser, "80000000"), shown);
    EXPECT_EQ(text<wire::CmReq>(Service::Iser, "800000"), "");
}

TEST(PrivateData, without_a_service_are_not_decoded) {
    EXPECT_EQ(text<wire::CmReq>(Service::None, padded("f6ab0e18", 32)), "");
    EXPECT_EQ(text<wire::CmRep>(Service::None, padded("f6ab0e18", 32)), "");
}

TEST(PrivateData, of_nvme_are_little_endian) {
    const auto request = wire_test::from_hex(padded("0100 0203 0405 0607 0809", 32));
    const auto req = upper::NvmeCmRequest::parse(util::Bytes(request).first<32>());
    EXPECT_EQ(req.record_format, 1);
    EXPECT_EQ(req.queue_id, 0x0302);
    EXPECT_EQ(req.host_receive_size, 0x0504);
    EXPECT_EQ(req.host_send_size, 0x0706);
    EXPECT_EQ(req.controller_id, 0x0908);
    const auto rep = upper::NvmeCmReply::parse(util::Bytes(request).first<32>());
    EXPECT_EQ(rep.record_format, 1);
    EXPECT_EQ(rep.controller_receive_size, 0x0302);
    const auto rej = upper::NvmeCmReject::parse(util::Bytes(request).first<4>());
    EXPECT_EQ(rej.record_format, 1);
    EXPECT_EQ(rej.status, 0x0302);
}

TEST(Services, have_one_channel_for_each_name) {
    ASSERT_EQ(upper::channels().size(), 4U);
    EXPECT_EQ(upper::channels()[0], *upper::service_named("nvme"));
    EXPECT_EQ(upper::channels()[1], *upper::service_named("nvme-admin"));
    EXPECT_EQ(upper::channels()[2], *upper::service_named("rpcrdma"));
    EXPECT_EQ(upper::channels()[3], *upper::service_named("iser"));
    EXPECT_EQ(upper::channels()[2].service, Service::RpcRdma);
    EXPECT_EQ(upper::channels()[3].service, Service::Iser);
}

// The ports are those of IANA's registry: nvme, nfsrdma and iscsi-target.
TEST(Services, are_told_by_the_port) {
    struct Case {
        std::uint16_t port;
        Service service;
    };
    for (const Case one :
         {Case{4420, Service::Nvme}, {20049, Service::RpcRdma}, {3260, Service::Iser}}) {
        EXPECT_EQ(upper::service_of_port(one.port), one.service);
        EXPECT_EQ(upper::service_of_port(one.port - 1), Service::None);
        EXPECT_EQ(upper::service_of_port(one.port + 1), Service::None);
    }
}

TEST(Problem, tells_a_cut_message_from_one_that_is_too_short) {
    const auto text = [](std::size_t length, std::size_t left) {
        return upper::Problem{"NVMe command", 64, length, left}.text();
    };
    EXPECT_EQ(text(64, 63), "NVMe command needs 64 bytes, 63 captured");
    EXPECT_EQ(text(63, 62), "NVMe command needs 64 bytes, the message has 63");
    EXPECT_EQ(text(64, 64), "NVMe command needs 64 bytes, the message has 64");
}

}  // namespace private_data_test
