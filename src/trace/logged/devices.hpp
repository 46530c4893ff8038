// The GIDs that roles use, from the `device` events of their logs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runlog/event.hpp"
#include "trace/flow/host.hpp"

namespace logged {

namespace key = runlog::key;

/// The address in packets: "192.0.2.1" of the GID "::ffff:192.0.2.1"; an invalid GID is unchanged.
std::string address_of(std::string_view gid);

struct Device {
    std::string role;
    std::uint64_t gid_index = 0;
    std::string gid;                 ///< "::ffff:192.0.2.1"
    std::optional<flow::Host> host;  ///< nullopt: the GID is not valid
    std::uint64_t path_mtu = 0;      ///< of its port, bytes; 0: unknown

    std::string address() const { return address_of(gid); }
};

class Devices {
  public:
    /// Takes the events of each log in order; ignores all but `device`.
    void learn(const runlog::Event& event);

    /// The device of an event that was learned last; nullptr: it is no `device` event with a GID.
    const Device* of(const runlog::Event& event) const;
    /// nullptr: the log does not have it.
    const Device* find(std::string_view role, std::uint64_t gid_index) const;
    /// Whether the role's log has this index and no GID for it.
    bool is_empty(const std::string& role, std::uint64_t gid_index) const {
        return empty_.contains({role, gid_index});
    }
    /// The one that the role's log names last; nullptr: none.
    const Device* last_of(std::string_view role) const;
    /// In the order in which the logs name them.
    const std::vector<Device>& all() const { return all_; }
    /// A limit of the role's devices, such as max_qp_wr; of several devices the largest. nullopt:
    /// the log does not have it.
    std::optional<std::uint64_t> limit(const std::string& role, const runlog::NumberKey& key) const;

  private:
    void learn_limits(const runlog::Event& event);

    std::vector<Device> all_;
    std::set<std::pair<std::string, std::uint64_t>>
        empty_;  // role and index of entries without a GID
    std::map<std::pair<std::string, std::string_view>, std::uint64_t> limits_;
};

}  // namespace logged
