// What stands in a published capture for the addresses of hosts, for memory keys and for data. Equal
// originals have equal pseudonyms, and different ones different pseudonyms. All are numbered in order
// of appearance or random, so that they tell nothing about the originals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "util/cursor.hpp"
#include "util/keyed_hash.hpp"
#include "wire/address.hpp"

namespace anonymize {

class Pseudonyms {
  public:
    Pseudonyms();

    /// 02:00:00:00:00:01, … The all-zeros, broadcast and IEEE group addresses stay; other groups get
    /// 03:00:00:00:00:01, …
    wire::MacAddress of(const wire::MacAddress& address);
    /// 192.0.2.1 to .254, then 198.18.0.1, … The unspecified, broadcast and loopback addresses and
    /// 224.0.0.0/24 stay; link-local ones get 169.254.1.1, …, other groups 233.252.0.1, … Throws
    /// util::Error after 131,324 addresses.
    wire::Ipv4Address of(const wire::Ipv4Address& address);
    /// 2001:db8::1, … The unspecified and loopback addresses and well-known groups stay; link-local
    /// ones get fe80::1, …, or the modified EUI-64 of the Ethernet address's pseudonym; other groups
    /// ffXX:20:2001:db8::1, … with the same flags and scope. An IPv4 address in an IPv6 address
    /// (::ffff:192.0.2.1) has its own pseudonym.
    wire::Ipv6Address of(const wire::Ipv6Address& address);
    /// An EUI-64 with ff:fe in the middle keeps its relation to the Ethernet address.
    std::uint64_t guid(std::uint64_t guid);

    /// 0 stays 0.
    std::uint32_t rkey(std::uint32_t rkey);
    /// The addresses used with one rkey move by the same number of pages. Addresses below 4 GiB stay:
    /// zero-based ones.
    std::uint64_t va(std::uint32_t rkey, std::uint64_t va);
    /// 0, that of QP 1 and that of rdma_cm stay, and so does the highest bit, which has a meaning.
    std::uint32_t q_key(std::uint32_t q_key);

    /// Replaces data with zeros, except for its first eight bytes, which get a keyed hash: other data
    /// in the same `context`, such as a retransmission's, differ.
    void stand_in(std::span<std::byte> data, std::uint64_t context) const;
    /// A secret hash of the bytes.
    std::uint64_t hash(std::uint64_t context, util::Bytes bytes) const;

    /// Different addresses and rkeys that were replaced.
    std::size_t ip_addresses() const { return ipv4_.size() + ipv6_.size(); }
    std::size_t mac_addresses() const { return macs_.size(); }
    std::size_t rkeys() const { return rkeys_.originals(); }

  private:
    // Random numbers, each given once.
    class Numbers {
      public:
        std::uint32_t of(std::uint32_t original, std::uint32_t fixed_bits,
                         std::random_device& random);
        std::size_t originals() const { return given_.size(); }

      private:
        std::unordered_map<std::uint32_t, std::uint32_t> given_;
        std::unordered_set<std::uint32_t> used_;
    };

    wire::Ipv4Address next_unicast();

    std::random_device random_;
    util::KeyedHash::Key key_{};
    std::map<wire::MacAddress, wire::MacAddress> macs_;
    std::map<wire::Ipv4Address, wire::Ipv4Address> ipv4_;
    std::map<wire::Ipv6Address, wire::Ipv6Address> ipv6_;
    std::unordered_map<std::uint64_t, std::uint64_t> guids_;
    std::uint32_t hosts_ = 0;  // IPv4 addresses of the documentation networks
    Numbers rkeys_;
    Numbers q_keys_;
    std::unordered_map<std::uint32_t, std::uint64_t> shifts_;  // by rkey
};

}  // namespace anonymize
