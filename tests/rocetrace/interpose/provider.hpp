// A provider that writes down each call that reaches it, and the log of the interposing library as
// text: one line for each event.
#pragma once

#include <arpa/inet.h>
#include <cerrno>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <infiniband/verbs.h>

#include "rocetrace/interpose/context.hpp"
#include "support/pretend_device.hpp"

namespace interpose_test {

inline std::string text_of(const auto& value) {
    return fmt::format("{}", value);
}
/// "4096+100/7": address, length and lkey.
inline std::string text_of(const runlog::Sges& sges) {
    std::vector<std::string> texts;
    for (const runlog::Sge& sge : sges)
        texts.push_back(fmt::format("{}+{}/{}", sge.addr, sge.length, sge.lkey));
    return fmt::format("{}", fmt::join(texts, ","));
}

/// "sges=4096+100/7 send_flags=SIGNALED": the fields with these keys.
inline std::string fields_of(const runlog::Event& event, const std::set<std::string_view>& keys) {
    std::vector<std::string> texts;
    for (const runlog::Field& field : event.fields)
        if (keys.contains(field.key))
            texts.push_back(
                field.key + '=' +
                std::visit([](const auto& value) { return text_of(value); }, field.value));
    return fmt::format("{}", fmt::join(texts, " "));
}

/// "mw_made type=1 rkey=7": the name and the fields of an event, without process, thread and
/// duration, and without the scatter/gather list and the flags of a request (list_of).
inline std::string line_of(const runlog::Event& event) {
    const std::set<std::string_view> others{"pid",  "tid",       "took_us",   "waited_us",
                                            "sges", "more_sges", "send_flags"};
    std::string line = event.name;
    for (const runlog::Field& field : event.fields)
        if (!others.contains(field.key))
            line += ' ' + fields_of(event, {field.key});
    return line;
}

/// The scatter/gather list and the flags of a request.
inline std::string list_of(const runlog::Event& event) {
    return fields_of(event, {"sges", "more_sges", "send_flags"});
}

/// Returns what was logged since the last call.
inline std::vector<std::string> new_lines() {
    std::vector<std::string> lines;
    for (const runlog::Event& event : support::PretendTrace::of_this_process().events())
        lines.push_back(line_of(event));
    return lines;
}

class Provider {
  public:
    static constexpr std::uint32_t qpn = 0x30;

    Provider() {
        present = this;
        extended_.sz = sizeof extended_;
        extended_.priv = reinterpret_cast<verbs_ex_private*>(private_);
        ibv_context& context = extended_.context;
        context.abi_compat = __VERBS_ABI_IS_EXTENDED;
        context.cmd_fd = -1;
        context.device = &device_;
        std::snprintf(device_.name, sizeof device_.name, "made_up");
        fill_first_interface(context.ops);
        fill_extended_interface();
        pd.context = cq.context = srq.context = mw.context = xrcd.context = &context;
        pd.handle = 9;
        cq.handle = 4;
        srq.handle = 5;
        mr.pd = &pd;
        mw.rkey = 0x77;
        mw.pd = &pd;
        mw.type = IBV_MW_TYPE_1;
        qp.qp_base.context = &context;
        qp.qp_base.qp_num = qpn;
        qp.qp_base.qp_type = IBV_QPT_RC;
        qp.qp_base.send_cq = qp.qp_base.recv_cq = &cq;
        interpose::adopt(&context);
    }
    ~Provider() {
        interpose::bury(interpose::detach(&qp.qp_base));
        interpose::forget(&cq);
        interpose::detach(&extended_.context);
        present = nullptr;
    }
    Provider(const Provider&) = delete;
    Provider& operator=(const Provider&) = delete;
    Provider(Provider&&) = delete;
    Provider& operator=(Provider&&) = delete;

    ibv_context* context() { return &extended_.context; }
    verbs_context& extended() { return extended_; }
    ibv_device& device() { return device_; }

    /// Returns the calls that arrived since the last call.
    std::vector<std::string> reached() { return std::exchange(reached_, {}); }

    /// The queue pair in RTS, with the functions of the extended interface.
    void begin(ibv_qp_type type = IBV_QPT_RC, bool signals_all = false) {
        qp.qp_base.qp_type = type;
        fill_batch(qp);
        const ibv_qp_ex own = qp;
        interpose::adopt(&qp.qp_base, {signals_all, nullptr, {4, 4, 1, 1, 0}}, &own);
        ibv_qp_attr attr{};
        attr.qp_state = IBV_QPS_RTS;
        attr.path_mtu = IBV_MTU_1024;
        attr.sq_psn = 100;
        interpose::queue_pairs.find(&qp.qp_base)
            ->modified(attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_PATH_MTU);
        new_lines();
    }

    std::function<void()> during;  // called inside each call
    int refusal = 0;               // the error of all calls; 0: they succeed
    std::uint32_t refused_wc_flags = 0;
    std::uint64_t bad_wr_id = UINT64_MAX;  // the first request of a list that is refused
    ibv_pd pd{};
    ibv_cq cq{};
    ibv_srq srq{};
    ibv_mr mr{};
    ibv_mw mw{};
    ibv_xrcd xrcd{};
    ibv_qp_ex qp{};
    std::uint32_t extends_qp = 2;  // libibverbs looks here, behind the queue pair (VERBS_QP_EX)
    ibv_cq_ex extended_cq{};
    ibv_port_attr port{};
    ibv_device_attr limits{};

  private:
    template <typename... Arguments>
    static int take(const char* call, const Arguments&... arguments) {
        std::vector<std::string> words{fmt::format("{}", arguments)...};
        present->reached_.push_back(fmt::format("{}({})", call, fmt::join(words, ", ")));
        if (present->during)
            present->during();
        errno = present->refusal != 0 ? present->refusal : EDOM;  // must reach the program
        return present->refusal;
    }
    template <typename Object, typename... Arguments>
    static Object* make(Object& object, const char* call, const Arguments&... arguments) {
        return take(call, arguments...) == 0 ? &object : nullptr;
    }
    template <typename Wr>
    static int post(const char* call, Wr* list, Wr** bad) {
        for (; list != nullptr; list = list->next) {
            if (list->wr_id == present->bad_wr_id) {
                *bad = list;
                return take(call, "refused");
            }
            take(call, list->wr_id);
        }
        return present->refusal;
    }

    static void fill_first_interface(ibv_context_ops& ops) {
        ops.post_send = [](ibv_qp*, ibv_send_wr* wr, ibv_send_wr** bad) {
            return post("post_send", wr, bad);
        };
        ops.post_recv = [](ibv_qp*, ibv_recv_wr* wr, ibv_recv_wr** bad) {
            return post("post_recv", wr, bad);
        };
        ops.post_srq_recv = [](ibv_srq*, ibv_recv_wr* wr, ibv_recv_wr** bad) {
            return post("post_srq_recv", wr, bad);
        };
        ops.req_notify_cq = [](ibv_cq*, int solicited) { return take("req_notify_cq", solicited); };
        ops.alloc_mw = [](ibv_pd*, ibv_mw_type type) {
            return make(present->mw, "alloc_mw", static_cast<int>(type));
        };
        ops.bind_mw = [](ibv_qp*, ibv_mw*, ibv_mw_bind* bind) {
            return take("bind_mw", bind->wr_id);
        };
        ops.dealloc_mw = [](ibv_mw* mw) {
            mw->rkey = 0;  // the memory may be reused
            return take("dealloc_mw");
        };
    }
    void fill_extended_interface() {
        extended_.create_qp_ex = [](ibv_context*, ibv_qp_init_attr_ex* attr) {
            return make(present->qp.qp_base, "create_qp_ex", attr->comp_mask);
        };
        extended_.open_qp = [](ibv_context*, ibv_qp_open_attr* attr) {
            return make(present->qp.qp_base, "open_qp", attr->qp_num);
        };
        extended_.create_cq_ex = [](ibv_context*, ibv_cq_init_attr_ex* attr) {
            const bool refused = (attr->wc_flags & present->refused_wc_flags) != 0;
            ibv_cq_ex* made = make(present->extended_cq, "create_cq_ex", attr->cqe, attr->wc_flags);
            attr->cqe = refused ? attr->cqe : 128;
            return refused ? nullptr : made;
        };
        extended_.create_srq_ex = [](ibv_context*, ibv_srq_init_attr_ex* attr) {
            return make(present->srq, "create_srq_ex", attr->attr.max_wr);
        };
        extended_.open_xrcd = [](ibv_context*, ibv_xrcd_init_attr* attr) {
            return make(present->xrcd, "open_xrcd", attr->fd);
        };
        extended_.close_xrcd = [](ibv_xrcd*) { return take("close_xrcd"); };
        extended_.reg_dm_mr = [](ibv_pd*, ibv_dm*, std::uint64_t offset, std::size_t length,
                                 unsigned access) {
            return make(present->mr, "reg_dm_mr", offset, length, access);
        };
        extended_.alloc_null_mr = [](ibv_pd*) { return make(present->mr, "alloc_null_mr"); };
        extended_.alloc_parent_domain = [](ibv_context*, ibv_parent_domain_init_attr*) {
            return make(present->pd, "alloc_parent_domain");
        };
        extended_.query_device_ex = [](ibv_context*, const ibv_query_device_ex_input*,
                                       ibv_device_attr_ex* attr, std::size_t size) {
            attr->orig_attr = present->limits;
            return take("query_device_ex", size == sizeof *attr);
        };
        extended_.query_port = [](ibv_context*, std::uint8_t number, ibv_port_attr* attr,
                                  std::size_t) {
            *attr = present->port;
            return take("query_port", number);
        };
    }
    template <typename Pair>
    static void fill_flush(Pair& qp) {
        if constexpr (requires { qp.wr_flush; })
            qp.wr_flush = [](Pair*, std::uint32_t rkey, std::uint64_t va, std::size_t length,
                             std::uint8_t, std::uint8_t) { take("flush", rkey, va, length); };
    }
    static void fill_batch(ibv_qp_ex& qp) {
        using Ex = ibv_qp_ex*;
        using U32 = std::uint32_t;
        using U64 = std::uint64_t;
        qp.wr_start = [](Ex) { take("start"); };
        qp.wr_complete = [](Ex) { return take("complete"); };
        qp.wr_abort = [](Ex) { take("abort"); };
        qp.wr_atomic_cmp_swp = [](Ex, U32 rkey, U64 va, U64 compare, U64 swap) {
            take("cmp_swp", rkey, va, compare, swap);
        };
        qp.wr_atomic_fetch_add = [](Ex, U32 rkey, U64 va, U64 add) {
            take("fetch_add", rkey, va, add);
        };
        qp.wr_atomic_write = [](Ex, U32 rkey, U64 va, const void*) {
            take("atomic_write", rkey, va);
        };
        fill_flush(qp);
        qp.wr_bind_mw = [](Ex, ibv_mw* mw, U32 rkey, const ibv_mw_bind_info* info) {
            take("bind_mw", mw->rkey, rkey, info->length);
        };
        qp.wr_local_inv = [](Ex, U32 rkey) { take("local_inv", rkey); };
        qp.wr_rdma_read = [](Ex, U32 rkey, U64 va) { take("read", rkey, va); };
        qp.wr_rdma_write = [](Ex, U32 rkey, U64 va) { take("write", rkey, va); };
        qp.wr_rdma_write_imm = [](Ex, U32 rkey, U64 va, __be32 imm) {
            take("write_imm", rkey, va, ntohl(imm));
        };
        qp.wr_send = [](Ex) { take("send"); };
        qp.wr_send_imm = [](Ex, __be32 imm) { take("send_imm", ntohl(imm)); };
        qp.wr_send_inv = [](Ex, U32 rkey) { take("send_inv", rkey); };
        qp.wr_send_tso = [](Ex, void*, std::uint16_t size, std::uint16_t mss) {
            take("send_tso", size, mss);
        };
        qp.wr_set_ud_addr = [](Ex, ibv_ah*, U32 number, U32 q_key) {
            take("ud_addr", number, q_key);
        };
        qp.wr_set_xrc_srqn = [](Ex, U32 number) { take("xrc_srqn", number); };
        qp.wr_set_inline_data = [](Ex, void*, std::size_t length) { take("inline", length); };
        qp.wr_set_inline_data_list = [](Ex, std::size_t count, const ibv_data_buf*) {
            take("inline_list", count);
        };
        qp.wr_set_sge = [](Ex, U32 lkey, U64 address, U32 length) {
            take("sge", lkey, address, length);
        };
        qp.wr_set_sge_list = [](Ex, std::size_t count, const ibv_sge*) { take("sge_list", count); };
    }

    static inline Provider* present = nullptr;
    std::vector<std::string> reached_;
    std::uint64_t private_[256] = {};  // libibverbs looks for the number of the driver here
    ibv_device device_{};
    verbs_context extended_{};
};

}  // namespace interpose_test
