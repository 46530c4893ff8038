#include "upper/service.hpp"

#include <algorithm>
#include <array>

namespace upper {
namespace {

constexpr auto names = std::to_array<std::string_view>({"nvme", "nvme-admin", "rpcrdma", "iser"});
constexpr std::array<Channel, names.size()> named{{{Service::Nvme, std::nullopt},
                                                   {Service::Nvme, std::uint16_t{0}},
                                                   {Service::RpcRdma, std::nullopt},
                                                   {Service::Iser, std::nullopt}}};

}  // namespace

Service service_of_port(std::uint16_t port) {
    constexpr std::uint16_t nvme = 4420;
    constexpr std::uint16_t nfs_rdma = 20049;
    constexpr std::uint16_t iscsi = 3260;
    switch (port) {
        case nvme:
            return Service::Nvme;
        case nfs_rdma:
            return Service::RpcRdma;
        case iscsi:
            return Service::Iser;
        default:
            return Service::None;
    }
}

std::optional<Channel> service_named(std::string_view name) {
    const auto found = std::ranges::find(names, name);
    return found == names.end()
               ? std::nullopt
               : std::optional(named[static_cast<std::size_t>(found - names.begin())]);
}

std::span<const Channel> channels() {
    return named;
}

}  // namespace upper
