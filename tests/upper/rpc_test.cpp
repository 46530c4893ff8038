// ONC RPC (RFC 5531), the procedures of NFS (RFC 1813, 7530), and RPC-over-RDMA's types (RFC 8166).
#include <gtest/gtest.h>

#include "upper/name_table.hpp"
#include "upper/parsed.hpp"

namespace rpc_test {

using upper::Rpc;
using upper::RpcProcedure;
using upper::RpcRdma;
using upper_test::expect_names;
using upper_test::text_of;

constexpr std::uint32_t nfs = 100003;
constexpr std::uint32_t nfs_acl = 100227;
constexpr std::uint32_t nfs_callback = 0x40000000;

TEST(RpcNames, procedures_of_nfs_3_have_the_names_of_rfc_1813) {
    expect_names({{0, "NFSv3 NULL"},    {1, "NFSv3 GETATTR"},  {2, "NFSv3 SETATTR"},
                  {3, "NFSv3 LOOKUP"},  {4, "NFSv3 ACCESS"},   {5, "NFSv3 READLINK"},
                  {6, "NFSv3 READ"},    {7, "NFSv3 WRITE"},    {8, "NFSv3 CREATE"},
                  {9, "NFSv3 MKDIR"},   {10, "NFSv3 SYMLINK"}, {11, "NFSv3 MKNOD"},
                  {12, "NFSv3 REMOVE"}, {13, "NFSv3 RMDIR"},   {14, "NFSv3 RENAME"},
                  {15, "NFSv3 LINK"},   {16, "NFSv3 READDIR"}, {17, "NFSv3 READDIRPLUS"},
                  {18, "NFSv3 FSSTAT"}, {19, "NFSv3 FSINFO"},  {20, "NFSv3 PATHCONF"},
                  {21, "NFSv3 COMMIT"}},
                 30, [](std::uint32_t procedure) {
                     return RpcProcedure{nfs, 3, procedure}.name();
                 });
}

TEST(RpcNames, other_programs_of_nfs_have_few_procedures) {
    const auto names_of = [](std::uint32_t program, std::uint32_t version) {
        return [=](std::uint32_t procedure) {
            return RpcProcedure{program, version, procedure}.name();
        };
    };
    expect_names({{0, "NFSv4 NULL"}, {1, "NFSv4 COMPOUND"}}, 5, names_of(nfs, 4));
    expect_names({{0, "NFSv4 CB_NULL"}, {1, "NFSv4 CB_COMPOUND"}}, 5, names_of(nfs_callback, 1));
    expect_names({{0, "NFSACL NULL"}, {1, "NFSACL GETACL"}, {2, "NFSACL SETACL"}}, 5,
                 names_of(nfs_acl, 3));
    expect_names({}, 5, names_of(nfs, 2));
    expect_names({}, 5, names_of(nfs, 5));
    expect_names({}, 5, names_of(nfs_acl, 2));
    expect_names({}, 5, names_of(nfs + 1, 3));
    expect_names({}, 5, names_of(nfs_callback + 1, 4));
}

// The fixed part of version 1 of RPC-over-RDMA, with three empty chunk lists.
RpcRdma parsed(const std::string& type, std::string_view after) {
    const auto message =
        upper_test::parsed({upper::Service::RpcRdma, std::nullopt},
                           "00000007 00000001 00000020 " + type + std::string(after));
    const auto* header = message.as<RpcRdma>();
    EXPECT_NE(header, nullptr);
    return header != nullptr ? *header : RpcRdma();
}
const std::string no_chunks = "00000000 00000000 00000000";
std::string rpc_text(const std::string& rpc) {
    return text_of({parsed("00000000", no_chunks + rpc)});
}

TEST(Rpc, a_call_of_an_unknown_program_shows_its_numbers) {
    EXPECT_EQ(rpc_text("00000007 00000000 00000002 000186a5 00000003 0000000f"),
              "RPC program 100005 version 3 procedure 15 call xid 0x00000007 credits 32");
}

TEST(Rpc, a_denied_reply_has_no_accept_state) {
    const auto header = parsed("00000000", no_chunks + "00000007 00000001 00000001 00000000");
    ASSERT_TRUE(header.rpc);
    EXPECT_TRUE(header.rpc->is_reply);
    EXPECT_EQ(header.rpc->reply_state, 1U);
    EXPECT_FALSE(header.rpc->accept_state);
    EXPECT_TRUE(header.rpc->results.empty());
    EXPECT_EQ(text_of({header}), "RPC reply denied xid 0x00000007 credits 32");
}

TEST(Rpc, an_accepted_reply_shows_a_state_other_than_success) {
    const std::string accepted = "00000007 00000001 00000000 00000000 00000000 ";
    EXPECT_EQ(rpc_text(accepted + "00000002 00000003 00000004"),
              "RPC reply accept state 2 xid 0x00000007 credits 32");
    EXPECT_EQ(rpc_text(accepted + "00000000"), "RPC reply xid 0x00000007 credits 32");
    const auto failed = parsed("00000000", no_chunks + accepted + "00000001 01020304");
    ASSERT_TRUE(failed.rpc);
    EXPECT_TRUE(failed.rpc->results.empty());
    const auto good = parsed("00000000", no_chunks + accepted + "00000000 01020304");
    ASSERT_TRUE(good.rpc);
    EXPECT_EQ(good.rpc->results.size(), 4U);
}

TEST(Rpc, a_reply_whose_verifier_is_cut_has_no_accept_state) {
    const auto header =
        parsed("00000000", no_chunks + "00000007 00000001 00000000 00000006 00000010 01020304");
    ASSERT_TRUE(header.rpc);
    EXPECT_EQ(header.rpc->reply_state, 0U);
    EXPECT_FALSE(header.rpc->accept_state);
}

TEST(Rpc, bytes_of_another_message_type_or_version_are_not_rpc) {
    EXPECT_EQ(rpc_text("00000007 00000002 00000002 000186a3 00000003 00000006"),
              "RDMA_MSG xid 0x00000007 credits 32");
    EXPECT_EQ(rpc_text("00000007 00000000 00000001 000186a3 00000003 00000006"),
              "RDMA_MSG xid 0x00000007 credits 32");
    EXPECT_EQ(rpc_text("00000007 00000000 00000003 000186a3 00000003 00000006"),
              "RDMA_MSG xid 0x00000007 credits 32");
}

// Procedure 1 of version 4 with null credentials, no tag, minor version 1 and `operations`.
std::string compound(const std::string& count, const std::string& operations) {
    return rpc_text(
        "00000007 00000000 00000002 000186a3 00000004 00000001"
        "00000000 00000000 00000000 00000000 00000000 00000001" +
        count + operations);
}
constexpr std::string_view end = " xid 0x00000007 credits 32";

TEST(Rpc, a_compound_shows_at_most_eight_operations) {
    std::string getfh;
    std::string shown;
    for (int i = 0; i < 9; ++i) {
        getfh += "0000000a ";
        shown += i < 8 ? " GETFH" : "";
    }
    EXPECT_EQ(compound("00000009", getfh),
              "NFSv4 COMPOUND call" + shown + " ..." + std::string(end));
    EXPECT_EQ(compound("00000008", getfh), "NFSv4 COMPOUND call" + shown + std::string(end));
}

TEST(Rpc, an_operation_without_a_number_in_the_rfcs_ends_the_list) {
    for (const char* number : {"00000000", "00000002", "00000048", "0000273c"})
        EXPECT_EQ(compound("00000002", std::string(number) + "0000000a"),
                  "NFSv4 COMPOUND call ? ..." + std::string(end))
            << number;
    EXPECT_EQ(compound("00000002", "00000047 0000000a"),
              "NFSv4 COMPOUND call CLONE ..." + std::string(end));
}

// The lengths of the arguments are those of RFC 7530, 16, RFC 8881, 18 and RFC 7862, 15.
TEST(Rpc, operations_are_skipped_with_their_arguments) {
    struct Case {
        const char* number;
        std::string_view name;
        std::size_t bytes;  // zeroes, of which an opaque is its length
    };
    for (const Case& one : {Case{"03", "ACCESS", 4},
                            {"04", "CLOSE", 20},
                            {"05", "COMMIT", 12},
                            {"07", "DELEGPURGE", 8},
                            {"08", "DELEGRETURN", 16},
                            {"09", "GETATTR", 4},
                            {"0a", "GETFH", 0},
                            {"0b", "LINK", 4},
                            {"0f", "LOOKUP", 4},
                            {"10", "LOOKUPP", 0},
                            {"13", "OPENATTR", 4},
                            {"14", "OPEN_CONFIRM", 20},
                            {"15", "OPEN_DOWNGRADE", 28},
                            {"16", "PUTFH", 4},
                            {"17", "PUTPUBFH", 0},
                            {"18", "PUTROOTFH", 0},
                            {"19", "READ", 28},
                            {"1b", "READLINK", 0},
                            {"1c", "REMOVE", 4},
                            {"1d", "RENAME", 8},
                            {"1e", "RENEW", 8},
                            {"1f", "RESTOREFH", 0},
                            {"20", "SAVEFH", 0},
                            {"21", "SECINFO", 4},
                            {"24", "SETCLIENTID_CONFIRM", 16},
                            {"29", "BIND_CONN_TO_SESSION", 24},
                            {"42", "OFFLOAD_CANCEL", 16},
                            {"43", "OFFLOAD_STATUS", 16},
                            {"2c", "DESTROY_SESSION", 16},
                            {"2d", "FREE_STATEID", 16},
                            {"34", "SECINFO_NO_NAME", 4},
                            {"35", "SEQUENCE", 32},
                            {"39", "DESTROY_CLIENTID", 8},
                            {"3a", "RECLAIM_COMPLETE", 4},
                            {"3b", "ALLOCATE", 32},
                            {"3e", "DEALLOCATE", 32},
                            {"44", "READ_PLUS", 28},
                            {"45", "SEEK", 28}}) {
        const std::string operation =
            "000000" + std::string(one.number) + std::string(2 * one.bytes, '0');
        EXPECT_EQ(compound("00000002", operation + "0000000a"),
                  "NFSv4 COMPOUND call " + std::string(one.name) + " GETFH" + std::string(end));
        if (one.bytes == 0)
            continue;
        EXPECT_EQ(compound("00000002", operation.substr(0, operation.size() - 2)),
                  "NFSv4 COMPOUND call " + std::string(one.name) + " ..." + std::string(end));
    }
}

TEST(RpcRdma, the_message_of_the_padded_type_begins_after_two_more_words) {
    const std::string call = "00000007 00000000 00000002 000186a3 00000003 00000006";
    const auto header = parsed("00000002", "00000010 00001000" + no_chunks + call);
    EXPECT_FALSE(header.is_cut);
    ASSERT_TRUE(header.rpc);
    EXPECT_EQ(header.rpc->procedure, (RpcProcedure{nfs, 3, 6}));
    EXPECT_EQ(text_of({header}), "RDMA_MSGP xid 0x00000007 credits 32");
    const auto cut = parsed("00000002", "00000010 000010");
    EXPECT_TRUE(cut.is_cut);
    EXPECT_FALSE(cut.reads || cut.rpc);
    EXPECT_EQ(text_of({cut}), "RDMA_MSGP xid 0x00000007 credits 32 cut in the chunk lists");
    EXPECT_FALSE(parsed("00000002", "00000010 00001000" + no_chunks).is_cut);
}

TEST(RpcRdma, types_from_done_on_have_no_chunk_lists) {
    const auto done = parsed("00000003", "");
    EXPECT_FALSE(done.is_cut);
    EXPECT_FALSE(done.reads || done.writes || done.replies || done.rpc);
    EXPECT_EQ(text_of({done}), "RDMA_DONE xid 0x00000007 credits 32");
    EXPECT_EQ(text_of({parsed("00000005", "")}), "RPC-over-RDMA xid 0x00000007 credits 32");
    EXPECT_EQ(text_of({parsed("00000004", "000000")}),
              "RDMA_ERROR xid 0x00000007 credits 32 cut in the chunk lists");
    EXPECT_EQ(text_of({parsed("00000004", "00000002")}),
              "RDMA_ERROR xid 0x00000007 credits 32 error 2");
}

TEST(RpcRdma, a_message_without_a_payload_carries_no_call) {
    const auto header =
        parsed("00000001", no_chunks + "00000007 00000000 00000002 000186a3 00000003 00000006");
    EXPECT_FALSE(header.rpc);
    EXPECT_FALSE(header.is_cut);
    EXPECT_EQ(header.replies, 0U);
}

TEST(RpcRdma, private_data_show_the_sizes_and_whether_keys_are_invalidated) {
    EXPECT_EQ(text_of({upper::RpcRdmaCm{
                  .version = 1, .flags = 1, .send_size = 4096, .receive_size = 1024}}),
              "RPC-over-RDMA inline send 4096 receive 1024 remote invalidation");
    EXPECT_EQ(text_of({upper::RpcRdmaCm{
                  .version = 1, .flags = 2, .send_size = 1024, .receive_size = 4096}}),
              "RPC-over-RDMA inline send 1024 receive 4096");
}

}  // namespace rpc_test
