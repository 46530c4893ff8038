#include <array>
#include <cerrno>
#include <cstring>
#include <net/if.h>

#include "rdma/names.hpp"
#include "rocetrace/interpose/context.hpp"
#include "rocetrace/interpose/real.hpp"
#include "rocetrace/interpose/sink.hpp"

namespace interpose {

namespace {

// The fields that libibverbs' own function fills since its version 1.11.
bool query_gid(ibv_context* context, std::uint8_t port, std::uint8_t index, ibv_gid_entry& entry) {
    using Query = int (*)(ibv_context*, std::uint32_t, std::uint32_t, ibv_gid_entry*, std::uint32_t,
                          std::size_t);
    const auto query = real<Query>(Library::verbs, "_ibv_query_gid_ex", "IBVERBS_1.11");
    if (query != nullptr)
        return query(context, port, index, &entry, 0, sizeof entry) == 0;
    const auto query_old =
        real<decltype(&ibv_query_gid)>(Library::verbs, "ibv_query_gid", "IBVERBS_1.1");
    entry.gid_type = IBV_GID_TYPE_ROCE_V2;
    return query_old != nullptr && query_old(context, port, index, &entry.gid) == 0;
}

void add_port(EventWriter<"device">& event, ibv_context* context, std::uint8_t port) {
    ibv_port_attr attr{};
    const verbs_context* extended = verbs_get_ctx_op(context, query_port);
    event.add(key::port, port);
    if (extended == nullptr || extended->query_port(context, port, &attr, sizeof attr) != 0)
        return;
    event.add(key::port_state, attr.state).add(key::path_mtu, rdma::bytes_of(attr.active_mtu));
}

void add_limits(EventWriter<"device">& event, ibv_context& context) {
    ibv_device_attr_ex extended{};
    const ibv_device_attr& attr = extended.orig_attr;
    const verbs_context* functions = verbs_get_ctx_op(&context, query_device_ex);
    if (functions == nullptr ||
        functions->query_device_ex(&context, nullptr, &extended, sizeof extended) != 0)
        return;
    event.add(key::max_qp_wr, attr.max_qp_wr)
        .add(key::max_sge, attr.max_sge)
        .add(key::max_cqe, attr.max_cqe)
        .add(key::max_mr_size, attr.max_mr_size)
        .add(key::max_qp_rd_atom, attr.max_qp_rd_atom)
        .add(key::max_qp_init_rd_atom, attr.max_qp_init_rd_atom);
}

}  // namespace

void log_opened(const OpenCall& call, ibv_context& context) {
    EventWriter<"device"> event;
    event.add(key::device, context.device->name);
    add_limits(event, context);
    call.log_made(event);
}

void log_gid(ibv_context* context, std::uint8_t port, std::uint8_t gid_index) {
    Context* known = contexts.find(context);
    if (known == nullptr || gid_index >= 64 || !wants(Category::device))
        return;
    const std::uint64_t bit = std::uint64_t{1} << gid_index;
    if (port == 1 && (__atomic_fetch_or(&known->gids_told, bit, __ATOMIC_RELAXED) & bit) != 0)
        return;
    const int error = errno;
    ibv_gid_entry entry{};
    EventWriter<"device"> event;
    event.add(key::device, context->device->name);
    add_port(event, context, port);
    if (query_gid(context, port, gid_index, entry)) {
        std::array<char, IF_NAMESIZE> name{};
        if (entry.ndev_ifindex != 0 && if_indextoname(entry.ndev_ifindex, name.data()) != nullptr)
            event.add(key::netdev, name.data());
        event.add(key::gid_index, gid_index)
            .add(key::gid, &entry.gid)
            .add(key::gid_type, entry.gid_type);
    } else {
        event.add(key::gid_index, gid_index);
    }
    log(event);
    errno = error;
}

}  // namespace interpose
