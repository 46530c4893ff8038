#include "trace/logged/devices.hpp"

#include <algorithm>

namespace logged {
namespace {

// The newest device for which `fits` holds.
template <typename Fits>
const Device* newest(const std::vector<Device>& all, Fits fits) {
    const auto found = std::find_if(all.rbegin(), all.rend(), fits);
    return found == all.rend() ? nullptr : &*found;
}

}  // namespace

std::string address_of(std::string_view gid) {
    const auto host = flow::host_of_gid(gid);
    return host ? flow::text(*host) : std::string(gid);
}

void Devices::learn(const runlog::Event& event) {
    if (!event.is("device"))
        return;
    learn_limits(event);
    const auto gid = event[key::gid];
    if (const auto index = event[key::gid_index]; index && (gid.empty() || gid == "::"))
        empty_.insert({event.role, *index});
    const Device* known = of(event);
    if (gid.empty() || (known != nullptr && known->gid == gid))
        return;
    all_.push_back({event.role, event[key::gid_index].value_or(0), std::string(gid),
                    flow::host_of_gid(gid), event[key::path_mtu].value_or(0)});
}

void Devices::learn_limits(const runlog::Event& event) {
    for (const runlog::NumberKey& key :
         {key::max_qp_wr, key::max_sge, key::max_cqe, key::max_mr_size, key::max_qp_rd_atom,
          key::max_qp_init_rd_atom})
        if (const auto value = event[key]) {
            std::uint64_t& limit = limits_[{event.role, key.name}];
            limit = std::max(limit, *value);
        }
}

std::optional<std::uint64_t> Devices::limit(const std::string& role,
                                            const runlog::NumberKey& key) const {
    const auto found = limits_.find({role, key.name});
    return found == limits_.end() ? std::nullopt : std::optional(found->second);
}

const Device* Devices::of(const runlog::Event& event) const {
    return event.is("device") && !event[key::gid].empty()
               ? find(event.role, event[key::gid_index].value_or(0))
               : nullptr;
}

const Device* Devices::find(std::string_view role, std::uint64_t gid_index) const {
    return newest(all_, [&](const Device& device) {
        return device.role == role && device.gid_index == gid_index;
    });
}

const Device* Devices::last_of(std::string_view role) const {
    return newest(all_, [&](const Device& device) { return device.role == role; });
}

}  // namespace logged
