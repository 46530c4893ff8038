#include "xray/layout.hpp"

#include <bpf/btf.h>
#include <fstream>
#include <memory>

#include <gtest/gtest.h>

#include "support/error_text.hpp"
#include "support/temp_path.hpp"
#include "xray/probes.hpp"

namespace xray_test {
namespace {

struct Free {
    void operator()(btf* types) const { btf__free(types); }
};
using Types = std::unique_ptr<btf, Free>;

void save(const btf* types, const std::string& path) {
    std::uint32_t size = 0;
    const void* data = btf__raw_data(types, &size);
    ASSERT_NE(data, nullptr);
    std::ofstream(path, std::ios::binary).write(static_cast<const char*>(data), size);
}

// A kernel's structures, as far as the probes read them: members behind a name, in an unnamed union, and
// in the module.
class XrayLayout : public testing::Test {
  protected:
    XrayLayout() {
        kernel_.reset(btf__new_empty());
        btf* k = kernel_.get();
        const int u32 = btf__add_int(k, "unsigned int", 4, 0);
        const int u64 = btf__add_int(k, "unsigned long", 8, 0);
        const auto structure =
            [](btf* types, const char* name,
               std::initializer_list<std::tuple<const char*, int, unsigned>> members) {
                const int id = btf__add_struct(types, name, 512);
                for (const auto& [member, type, byte] : members)
                    btf__add_field(types, member, type, byte * 8, 0);
                return id;
            };
        const int qp = structure(k, "ib_qp", {{"device", u64, 0}, {"qp_num", u32, 176}});
        const int named = btf__add_typedef(k, "ib_qp_t", qp);
        structure(k, "ib_wc", {{"status", u32, 8}, {"qp", u64, 24}});
        structure(k, "ib_uverbs_wc", {{"wr_id", u64, 0}, {"status", u32, 8}, {"qp_num", u32, 28}});
        const int either = btf__add_union(k, "", 8);
        btf__add_field(k, "wr_id", u64, 0, 0);
        btf__add_field(k, "wr_cqe", u64, 0, 0);
        structure(k, "ib_send_wr", {{"next", u64, 0}, {"", either, 8}, {"opcode", u32, 28}});
        structure(k, "sk_buff", {{"cb", u64, 40}});
        save(k, kernel_file_.str());
        module_.reset(btf__new_empty_split(k));
        btf* m = module_.get();
        structure(m, "rxe_qp",
                  {{"ibqp", named, 0},
                   {"is_user", u32, 600},
                   {"retrans_timer", u64, 1920},
                   {"rnr_nak_timer", u64, 1968}});
        structure(m, "rxe_pkt_info", {{"hdr", u64, 24}});
        structure(m, "rxe_cq", {{"is_user", u32, 318}});
        save(m, module_file_.str());
    }

    xray::Layout layout() const { return {kernel_file_.str(), module_file_.str()}; }

    Types kernel_, module_;
    support::TempPath kernel_file_{"kernel_btf"}, module_file_{"module_btf"};
};

TEST_F(XrayLayout, has_members_behind_names_and_in_unnamed_unions) {
    const auto all = layout();
    EXPECT_EQ(all.offset_of("rxe_qp", "is_user"), 600U);
    EXPECT_EQ(all.offset_of("rxe_qp", "ibqp.qp_num"), 176U);
    EXPECT_EQ(all.offset_of("ib_send_wr", "wr_id"), 8U);
    EXPECT_EQ(all.offset_of("sk_buff", "cb"), 40U);
}

TEST_F(XrayLayout, says_what_a_kernel_does_not_have) {
    const auto all = layout();
    EXPECT_EQ(
        support::error_text([&] { static_cast<void>(all.offset_of("rxe_qp", "ibqp.number")); }),
        "this kernel has no ibqp.number in its struct rxe_qp");
    EXPECT_EQ(support::error_text([&] { static_cast<void>(all.offset_of("rxe_task", "state")); }),
              "this kernel has no state in its struct rxe_task");
    EXPECT_TRUE(support::error_text([] {
                    xray::Layout("/dev/null", "");
                }).starts_with("/dev/null is not readable"));
}

TEST_F(XrayLayout, gives_the_probes_their_offsets) {
    std::string all;
    for (const xray::Probe& probe : xray::probes_of(layout()))
        all += xray::definition(probe, probe.functions.back(), "g") + '\n';
    EXPECT_EQ(
        all,
        R"(p:g/post rdma_rxe:rxe_post_send qpn=+176($arg1):u32 user=+600($arg1):u8 wr=+8($arg2):u64 opcode=+28($arg2):u32
p:g/requester rdma_rxe:rxe_requester qpn=+176($arg1):u32
p:g/transmit rdma_rxe:rxe_xmit_packet qpn=+176($arg1):u32 op=+0(+24($arg2)):u8 dest=+4(+24($arg2)):x32 psn=+8(+24($arg2)):x32
p:g/receive rdma_rxe:rxe_rcv op=+0(+64($arg1)):u8 dest=+4(+64($arg1)):x32 psn=+8(+64($arg1)):x32
r:g/icrc rdma_rxe:rxe_icrc_check ret=$retval:s32
p:g/responder rdma_rxe:rxe_receiver qpn=+176($arg1):u32
p:g/completer rdma_rxe:rxe_completer qpn=+176($arg1):u32
p:g/complete rdma_rxe:rxe_cq_post user=+318($arg1):u8 wr=+0($arg2):u64 status=+8($arg2):u32 qpn=+28($arg2):u32 kernel_qpn=+176(+24($arg2)):u32
p:g/ack_timer rdma_rxe:retransmit_timer qpn=-1744($arg1):u32
p:g/rnr_timer rdma_rxe:rnr_nak_timer qpn=-1792($arg1):u32
p:g/error rdma_rxe:rxe_qp_error qpn=+176($arg1):u32
)");
}

}  // namespace
}  // namespace xray_test
