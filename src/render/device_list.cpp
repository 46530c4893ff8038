#include "render/device_list.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "util/json.hpp"
#include "util/style.hpp"

namespace render {
namespace {

constexpr std::size_t columns = 100;

struct DeviceRow {
    std::string name, state, kind;
    std::string text;  // last column, wrapped
    std::string note;  // on its own line
};

DeviceRow row_of(const capture::Interface& interface, const DeviceList& list) {
    DeviceRow row{interface.name,
                  interface.is_up ? "up" : "down",
                  interface.kind,
                  fmt::format("{}", fmt::join(interface.addresses, ", ")),
                  {}};
    const auto devices = capture::offloading(list.rdma_devices, interface.name);
    if (!devices.empty())
        row.note = fmt::format("RoCE that {} handles in hardware does not appear here",
                               fmt::join(devices, ", "));
    return row;
}

std::string advice(const capture::RdmaDevice& device, const DeviceList& list) {
    if (device.offloads_roce())
        return fmt::format("capture with '-i {}'{}", device.name,
                           list.libpcap_names.contains(device.name)
                               ? ""
                               : ", but this libpcap has no RDMA sniffing");
    if (device.is_iwarp)
        return "iWARP, no RoCE";
    return device.netdevs.empty() ? std::string()
                                  : fmt::format("capture with '-i {}'", device.netdevs.front());
}

DeviceRow row_of(const capture::RdmaDevice& device, const DeviceList& list) {
    const std::string of =
        device.netdevs.empty() ? "" : fmt::format("of {}", fmt::join(device.netdevs, ", "));
    const std::string what = advice(device, list);
    std::string state = device.state;
    std::ranges::transform(state, state.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
    return {device.name,
            state,
            device.is_software() ? "RDMA in software" : "RDMA, " + device.driver,
            of + (of.empty() || what.empty() ? "" : ": ") + what,
            {}};
}

}  // namespace

DeviceList DeviceList::gather() {
    return {capture::interfaces(), capture::rdma_devices(), capture::libpcap_names()};
}

std::string DeviceList::text() const {
    std::vector<DeviceRow> rows;
    for (const auto& interface : interfaces)
        rows.push_back(row_of(interface, *this));
    for (const auto& device : rdma_devices)
        rows.push_back(row_of(device, *this));
    std::size_t name = 0, state = 0, kind = 0;
    for (const DeviceRow& row : rows) {
        name = std::max(name, row.name.size());
        state = std::max(state, row.state.size());
        kind = std::max(kind, row.kind.size());
    }
    std::string text;
    for (const DeviceRow& row : rows) {
        std::string line = fmt::format("{:<{}}  {:<{}}  {:<{}}  ", row.name, name, row.state, state,
                                       row.kind, kind);
        line += util::continued(row.text, columns, line.size());
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
        if (!row.note.empty()) {
            text.append(name + 2, ' ');
            text += util::continued(row.note, columns, name + 2) + '\n';
        }
    }
    return text;
}

std::string DeviceList::json() const {
    std::string text;
    for (const auto& interface : interfaces)
        text += util::Json{{"name", interface.name},
                           {"type", "interface"},
                           {"kind", interface.kind},
                           {"up", interface.is_up},
                           {"addresses", interface.addresses},
                           {"offloaded_to", capture::offloading(rdma_devices, interface.name)}}
                    .dump() +
                '\n';
    for (const auto& device : rdma_devices)
        text += util::Json{{"name", device.name},
                           {"type", "rdma_device"},
                           {"state", device.state},
                           {"node_guid", device.node_guid},
                           {"driver",
                            device.is_software() ? util::Json(nullptr) : util::Json(device.driver)},
                           {"netdevs", device.netdevs},
                           {"roce_offloaded", device.offloads_roce()},
                           {"sniffable", libpcap_names.contains(device.name)}}
                    .dump() +
                '\n';
    return text;
}

}  // namespace render
