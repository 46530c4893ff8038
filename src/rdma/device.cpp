#include "rdma/device.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rdma/names.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace rdma {

namespace key = runlog::key;

namespace {

class DeviceList {
  public:
    // libibverbs returns NULL with ENOSYS if the kernel has no RDMA support: no devices, no error.
    DeviceList() : list_(ibv_get_device_list(&count_), ibv_free_device_list) {}

    std::span<ibv_device*> devices() const& {
        return {list_.get(), list_ ? static_cast<std::size_t>(count_) : 0};
    }
    void devices() const&& = delete;  // the list owns the devices

    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (ibv_device* device : devices())
            names.emplace_back(ibv_get_device_name(device));
        return names;
    }

  private:
    int count_ = 0;
    std::unique_ptr<ibv_device*, void (*)(ibv_device**)> list_;
};

Context open(ibv_device* device) {
    return Context{util::check_ptr(
        ibv_open_device(device), fmt::format("ibv_open_device({})", ibv_get_device_name(device)))};
}

std::string table_text(const std::vector<Gid>& table) {
    std::string out;
    for (const Gid& gid : table)
        out += fmt::format("\n  port {} index {}: {} ({})", gid.port, gid.index, gid.text(),
                           name_of(gid.type));
    return out.empty() ? " The GID table is empty." : " The GID table has:" + out;
}

}  // namespace

std::string Gid::text() const {
    std::array<char, INET6_ADDRSTRLEN> text{};
    inet_ntop(AF_INET6, raw.raw, text.data(), text.size());
    return text.data();
}

std::string Gid::netdev() const {
    std::array<char, IF_NAMESIZE> name{};
    return netdev_index != 0 && if_indextoname(netdev_index, name.data()) != nullptr ? name.data()
                                                                                     : "";
}

util::Address Gid::address() const {
    in6_addr v6{};
    std::memcpy(&v6, raw.raw, sizeof v6);
    if (IN6_IS_ADDR_V4MAPPED(&v6)) {
        sockaddr_in v4{};
        v4.sin_family = AF_INET;
        std::memcpy(&v4.sin_addr, raw.raw + 12, sizeof v4.sin_addr);
        return util::Address(reinterpret_cast<const sockaddr*>(&v4));
    }
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr = v6;
    if (IN6_IS_ADDR_LINKLOCAL(&v6))
        address.sin6_scope_id = netdev_index;
    return util::Address(reinterpret_cast<const sockaddr*>(&address));
}

std::vector<std::string> device_names() {
    return DeviceList().names();
}

Context open_device(const std::string& name) {
    const DeviceList list;
    for (ibv_device* device : list.devices())
        if (name == ibv_get_device_name(device))
            return open(device);
    const auto names = list.names();
    throw util::Error(names.empty() ? fmt::format("no RDMA device '{}': this host has none. Run "
                                                  "00_hello/devices to find out what is missing.",
                                                  name)
                                    : fmt::format("no RDMA device '{}': this host has {}.", name,
                                                  fmt::join(names, ", ")));
}

std::vector<Gid> gid_table(ibv_context* context) {
    ibv_device_attr device{};
    CHECK_RC(ibv_query_device(context, &device));
    std::size_t room = 0;
    for (std::uint8_t port = 1; port <= device.phys_port_cnt; ++port)
        room += static_cast<std::size_t>(std::max(0, query_port(context, port).gid_tbl_len));
    std::vector<ibv_gid_entry> entries(room);
    const auto count = ibv_query_gid_table(context, entries.data(), entries.size(), 0);
    if (count < 0)
        util::throw_system_error(static_cast<int>(-count), "ibv_query_gid_table");
    entries.resize(static_cast<std::size_t>(count));
    std::vector<Gid> table;
    table.reserve(entries.size());
    for (const ibv_gid_entry& entry : entries)
        table.push_back({entry.gid_index, static_cast<std::uint8_t>(entry.port_num),
                         static_cast<ibv_gid_type>(entry.gid_type), entry.gid, entry.ndev_ifindex});
    return table;
}

Gid choose_gid(ibv_context* context, const util::Address& address) {
    const auto table = gid_table(context);
    const auto it = std::ranges::find_if(table, [&](const Gid& gid) {
        return gid.type == IBV_GID_TYPE_ROCE_V2 && gid.address().is_host_of(address);
    });
    if (it == table.end())
        throw util::Error(fmt::format("{} has no RoCE v2 GID for {}.{}",
                                      ibv_get_device_name(context->device), address.host(),
                                      table_text(table)));
    return *it;
}

DevicePort open_device_of(const util::Address& address) {
    const DeviceList list;
    for (ibv_device* device : list.devices()) {
        Context context = open(device);
        for (const Gid& gid : gid_table(context.get()))
            if (gid.type == IBV_GID_TYPE_ROCE_V2 && gid.address().is_host_of(address))
                return {std::move(context), gid};
    }
    const auto names = list.names();
    throw util::Error(
        names.empty()
            ? "this host has no RDMA device. Run 00_hello/devices to find out what is missing."
            : fmt::format("no RDMA device here ({}) has the address {}: connect through an "
                          "interface that has one (00_hello/devices lists them).",
                          fmt::join(names, ", "), address.host()));
}

Gid gid_at(ibv_context* context, std::uint8_t port, std::uint32_t index) {
    const auto table = gid_table(context);
    const auto it = std::ranges::find_if(
        table, [&](const Gid& gid) { return gid.port == port && gid.index == index; });
    if (it == table.end())
        throw util::Error(fmt::format("{} has no GID with index {}.{}",
                                      ibv_get_device_name(context->device), index,
                                      table_text(table)));
    return *it;
}

Gid gid_of(ibv_qp* qp) {
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    CHECK_RC(ibv_query_qp(qp, &attr, IBV_QP_AV, &init));
    return gid_at(qp->context, attr.ah_attr.port_num, attr.ah_attr.grh.sgid_index);
}

ibv_port_attr query_port(ibv_context* context, std::uint8_t port) {
    ibv_port_attr attr{};
    CHECK_RC(ibv_query_port(context, port, &attr));
    return attr;
}

runlog::Fields describe_device(ibv_context* context, std::uint8_t port, const Gid* gid) {
    const ibv_port_attr attr = query_port(context, port);
    runlog::Fields fields{{key::device, ibv_get_device_name(context->device)},
                          {key::port, port},
                          {key::port_state, name_of(attr.state)},
                          {key::path_mtu, bytes_of(attr.active_mtu)}};
    if (gid != nullptr) {
        if (const std::string netdev = gid->netdev(); !netdev.empty())
            fields.emplace_back(key::netdev, netdev);
        fields.emplace_back(key::gid_index, gid->index);
        fields.emplace_back(key::gid, gid->text());
        fields.emplace_back(key::gid_type, name_of(gid->type));
    }
    return fields;
}

}  // namespace rdma
