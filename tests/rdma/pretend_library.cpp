#include "rdma/pretend_library.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "util/address.hpp"

namespace rdma_test {
namespace {

PretendLibrary* library = nullptr;

int poll_cq(ibv_cq*, int, ibv_wc* wc) {
    library->take("ibv_poll_cq");
    if (library->polled < 0)
        return library->polled;
    if (library->completions.empty())
        return 0;
    *wc = library->completions.front();
    library->completions.pop_front();
    return 1;
}

int req_notify_cq(ibv_cq*, int solicited_only) {
    return library->take("ibv_req_notify_cq", std::to_string(solicited_only));
}

int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attr, std::size_t) {
    const PretendDevice& device = *library->device_of(context);
    if (port == 0 || port > device.ports.size())
        return EINVAL;
    *attr = device.ports[port - 1U];
    return library->failing == "ibv_query_port" ? library->error : 0;
}

}  // namespace

PretendLibrary::PretendLibrary() {
    library = this;
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
        std::abort();
    read_end_ = util::Fd(ends[0]);
    write_end_ = util::Fd(ends[1]);
    comp_channel.fd = event_channel.fd = read_end_.get();
    id.channel = &event_channel;
}

PretendLibrary::~PretendLibrary() {
    library = nullptr;
}

PretendLibrary* PretendLibrary::present() {
    return library;
}

PretendDevice& PretendLibrary::add(const std::string& name, ibv_port_state state, ibv_mtu mtu) {
    PretendDevice& added = *devices.emplace_back(std::make_unique<PretendDevice>());
    added.name = name;
    ibv_port_attr& port = added.ports.emplace_back();
    port.state = state;
    port.active_mtu = mtu;
    port.link_layer = IBV_LINK_LAYER_ETHERNET;
    port.gid_tbl_len = 8;
    std::snprintf(added.device.name, sizeof added.device.name, "%s", name.c_str());
    added.extended.sz = sizeof added.extended;
    added.extended.query_port = query_port;
    ibv_context& context = added.extended.context;
    context.abi_compat = __VERBS_ABI_IS_EXTENDED;
    context.device = &added.device;
    context.ops.poll_cq = poll_cq;
    context.ops.req_notify_cq = req_notify_cq;
    cq.context = &context;
    return added;
}

PretendDevice* PretendLibrary::device_of(const ibv_context* context) {
    for (const auto& device : devices)
        if (&device->extended.context == context)
            return device.get();
    return nullptr;
}

void PretendLibrary::wake() const {
    if (write(write_end_.get(), "x", 1) != 1)
        std::abort();
}

rdma_cm_event& PretendLibrary::expect(rdma_cm_event_type type, int status) {
    rdma_cm_event& event = *events.emplace_back(std::make_unique<rdma_cm_event>());
    event.event = type;
    event.status = status;
    return event;
}

int PretendLibrary::take(const std::string& call, const std::string& arguments) {
    calls_.push_back(fmt::format("{}({})", call, arguments));
    if (call != failing)
        return 0;
    errno = error;
    return error;
}

}  // namespace rdma_test

// The definitions of a program come before those of its shared libraries. The names are in
// parentheses because verbs.h also has macros of these names.

namespace {

using rdma_test::library;

void unread_wake() {
    char byte = 0;
    [[maybe_unused]] const ssize_t got = read(library->comp_channel.fd, &byte, 1);
}

}  // namespace

#define REAL(name, ...) reinterpret_cast<decltype(&(name))>(dlsym(RTLD_NEXT, #name))(__VA_ARGS__)
#define UNLESS_PRETENDED(name, ...) \
    if (library == nullptr)         \
    return REAL(name, __VA_ARGS__)

extern "C" {

ibv_device**(ibv_get_device_list)(int* count) {
    UNLESS_PRETENDED(ibv_get_device_list, count);
    if (!library->has_support) {
        errno = ENOSYS;
        return nullptr;
    }
    library->take("ibv_get_device_list");
    library->listed.clear();
    for (const auto& device : library->devices)
        library->listed.push_back(&device->device);
    *count = static_cast<int>(library->listed.size());
    library->listed.push_back(nullptr);
    return library->listed.data();
}

void(ibv_free_device_list)(ibv_device** list) {
    UNLESS_PRETENDED(ibv_free_device_list, list);
    library->take("ibv_free_device_list");
}

const char*(ibv_get_device_name)(ibv_device* device) {
    UNLESS_PRETENDED(ibv_get_device_name, device);
    return device->name;
}

ibv_context*(ibv_open_device)(ibv_device* device) {
    UNLESS_PRETENDED(ibv_open_device, device);
    if (library->take("ibv_open_device", device->name) != 0)
        return nullptr;
    for (const auto& each : library->devices)
        if (&each->device == device)
            return &each->extended.context;
    return nullptr;
}

int(ibv_close_device)(ibv_context* context) {
    UNLESS_PRETENDED(ibv_close_device, context);
    return library->take("ibv_close_device", context->device->name) == 0 ? 0 : -1;
}

int(ibv_query_device)(ibv_context* context, ibv_device_attr* attr) {
    UNLESS_PRETENDED(ibv_query_device, context, attr);
    attr->phys_port_cnt = static_cast<std::uint8_t>(library->device_of(context)->ports.size());
    return library->failing == "ibv_query_device" ? library->error : 0;
}

ssize_t(_ibv_query_gid_table)(ibv_context* context, ibv_gid_entry* entries, std::size_t room,
                              std::uint32_t flags, std::size_t size) {
    UNLESS_PRETENDED(_ibv_query_gid_table, context, entries, room, flags, size);
    const auto& gids = library->device_of(context)->gids;
    if (library->failing == "ibv_query_gid_table")
        return -library->error;
    if (gids.size() > room)
        return -EINVAL;
    std::ranges::copy(gids, entries);
    return static_cast<ssize_t>(gids.size());
}

int(ibv_query_qp)(ibv_qp* qp, ibv_qp_attr* attr, int mask, ibv_qp_init_attr* init) {
    UNLESS_PRETENDED(ibv_query_qp, qp, attr, mask, init);
    if (library->take("ibv_query_qp", fmt::format("{:#x}", mask)) != 0)
        return library->error;
    *attr = library->qp_attr;
    return 0;
}

ibv_comp_channel*(ibv_create_comp_channel)(ibv_context* context) {
    UNLESS_PRETENDED(ibv_create_comp_channel, context);
    return library->take("ibv_create_comp_channel") == 0 ? &library->comp_channel : nullptr;
}

int(ibv_destroy_comp_channel)(ibv_comp_channel* channel) {
    UNLESS_PRETENDED(ibv_destroy_comp_channel, channel);
    return library->take("ibv_destroy_comp_channel");
}

ibv_cq*(ibv_create_cq)(ibv_context* context, int entries, void* user, ibv_comp_channel* channel,
                       int vector) {
    UNLESS_PRETENDED(ibv_create_cq, context, entries, user, channel, vector);
    const auto text = fmt::format("{}, {}, {}", entries, channel == &library->comp_channel, vector);
    return library->take("ibv_create_cq", text) == 0 ? &library->cq : nullptr;
}

int(ibv_destroy_cq)(ibv_cq* cq) {
    UNLESS_PRETENDED(ibv_destroy_cq, cq);
    return library->take("ibv_destroy_cq");
}

int(ibv_get_cq_event)(ibv_comp_channel* channel, ibv_cq** cq, void** user) {
    UNLESS_PRETENDED(ibv_get_cq_event, channel, cq, user);
    unread_wake();
    *cq = &library->cq;
    library->completions.insert(library->completions.end(),
                                library->completions_after_event.begin(),
                                library->completions_after_event.end());
    library->completions_after_event.clear();
    return library->take("ibv_get_cq_event") == 0 ? 0 : -1;
}

void(ibv_ack_cq_events)(ibv_cq* cq, unsigned count) {
    UNLESS_PRETENDED(ibv_ack_cq_events, cq, count);
    library->take("ibv_ack_cq_events", std::to_string(count));
}

ibv_mr*(ibv_reg_mr_iova2)(ibv_pd* pd, void* memory, std::size_t size, std::uint64_t iova,
                          unsigned access) {
    UNLESS_PRETENDED(ibv_reg_mr_iova2, pd, memory, size, iova, access);
    const auto text = fmt::format("{}, {}", size, access);
    return library->take("ibv_reg_mr", text) == 0 ? &library->mr : nullptr;
}

int(ibv_dereg_mr)(ibv_mr* mr) {
    UNLESS_PRETENDED(ibv_dereg_mr, mr);
    return library->take("ibv_dereg_mr");
}

rdma_event_channel*(rdma_create_event_channel)() {
    UNLESS_PRETENDED(rdma_create_event_channel);
    return library->take("rdma_create_event_channel") == 0 ? &library->event_channel : nullptr;
}

void(rdma_destroy_event_channel)(rdma_event_channel* channel) {
    UNLESS_PRETENDED(rdma_destroy_event_channel, channel);
    library->take("rdma_destroy_event_channel");
}

int(rdma_create_id)(rdma_event_channel* channel, rdma_cm_id** id, void* user,
                    rdma_port_space space) {
    UNLESS_PRETENDED(rdma_create_id, channel, id, user, space);
    *id = &library->id;
    return library->take("rdma_create_id", fmt::format("{:#x}", static_cast<int>(space))) == 0 ? 0
                                                                                               : -1;
}

int(rdma_destroy_id)(rdma_cm_id* id) {
    UNLESS_PRETENDED(rdma_destroy_id, id);
    return library->take("rdma_destroy_id") == 0 ? 0 : -1;
}

int(rdma_create_qp)(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr* attr) {
    UNLESS_PRETENDED(rdma_create_qp, id, pd, attr);
    return library->take("rdma_create_qp") == 0 ? 0 : -1;
}

void(rdma_destroy_qp)(rdma_cm_id* id) {
    UNLESS_PRETENDED(rdma_destroy_qp, id);
    library->take("rdma_destroy_qp");
}

int(rdma_get_cm_event)(rdma_event_channel* channel, rdma_cm_event** event) {
    UNLESS_PRETENDED(rdma_get_cm_event, channel, event);
    unread_wake();
    if (library->take("rdma_get_cm_event") != 0)
        return -1;
    *event = library->events.front().release();
    library->events.pop_front();
    return 0;
}

int(rdma_ack_cm_event)(rdma_cm_event* event) {
    UNLESS_PRETENDED(rdma_ack_cm_event, event);
    delete event;
    return library->take("rdma_ack_cm_event") == 0 ? 0 : -1;
}

int(rdma_resolve_addr)(rdma_cm_id* id, sockaddr* source, sockaddr* to, int timeout_ms) {
    UNLESS_PRETENDED(rdma_resolve_addr, id, source, to, timeout_ms);
    const auto text =
        fmt::format("{}, {}, {}", source == nullptr ? "null" : util::Address(source).host(),
                    util::Address(to).host(), timeout_ms);
    if (library->take("rdma_resolve_addr", text) != 0)
        return -1;
    if (!library->events.empty())
        library->wake();
    return 0;
}

int(rdma_reject)(rdma_cm_id* id, const void* data, std::uint8_t size) {
    UNLESS_PRETENDED(rdma_reject, id, data, size);
    const auto text = std::string(static_cast<const char*>(data), size);
    return library->take("rdma_reject", text) == 0 ? 0 : -1;
}

}  // extern "C"

#undef REAL
#undef UNLESS_PRETENDED
