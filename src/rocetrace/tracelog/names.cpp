#include "rocetrace/tracelog/names.hpp"

#include <array>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>

#include <fmt/format.h>
#include <infiniband/verbs.h>

#include "rdma/names.hpp"
#include "util/address.hpp"

namespace tracelog {

std::string_view opcode_name(std::uint32_t opcode) {
    return opcode > IBV_WR_ATOMIC_WRITE ? "UNKNOWN"
                                        : rdma::name_of(static_cast<ibv_wr_opcode>(opcode));
}

std::string_view send_flag_names(std::uint32_t flags) {
    // Of all combinations, so that a record is written without composing it.
    static const auto names = [] {
        constexpr std::array<std::string_view, 5> single{"FENCE", "SIGNALED", "SOLICITED", "INLINE",
                                                         "IP_CSUM"};
        std::array<std::string, 1U << single.size()> all;
        for (std::size_t i = 0; i < all.size(); ++i)
            for (std::size_t bit = 0; bit < single.size(); ++bit)
                if ((i >> bit & 1U) != 0)
                    all.at(i).append(all.at(i).empty() ? "" : " ").append(single.at(bit));
        return all;
    }();
    static_assert(IBV_SEND_FENCE == 1 && IBV_SEND_IP_CSUM == 16);
    return names.at(flags % names.size());
}

std::string_view cm_event_name(unsigned type) {
    // In the order of <rdma/rdma_cma.h>.
    constexpr std::array<std::string_view, 16> names{
        "ADDR_RESOLVED",   "ADDR_ERROR",       "ROUTE_RESOLVED", "ROUTE_ERROR",
        "CONNECT_REQUEST", "CONNECT_RESPONSE", "CONNECT_ERROR",  "UNREACHABLE",
        "REJECTED",        "ESTABLISHED",      "DISCONNECTED",   "DEVICE_REMOVAL",
        "MULTICAST_JOIN",  "MULTICAST_ERROR",  "ADDR_CHANGE",    "TIMEWAIT_EXIT"};
    return type < names.size() ? names.at(type) : "UNKNOWN";
}

std::string error_name(int error) {
    const char* name = strerrorname_np(error);
    return name == nullptr ? fmt::format("error {}", error) : name;
}

std::string address_text(std::span<const std::byte> address) {
    sockaddr_storage storage{};
    if (address.size() != sizeof(sockaddr_in) && address.size() != sizeof(sockaddr_in6))
        return {};
    std::memcpy(&storage, address.data(), address.size());
    if (storage.ss_family != AF_INET && storage.ss_family != AF_INET6)
        return {};
    return util::Address(reinterpret_cast<const sockaddr*>(&storage)).text();
}

}  // namespace tracelog
