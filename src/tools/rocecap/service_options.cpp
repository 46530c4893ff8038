#include "tools/rocecap/service_options.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "util/error.hpp"
#include "util/number.hpp"
#include "util/printable.hpp"

namespace rocecap {
namespace {

template <typename Number>
std::map<Number, upper::Channel> channels_of(const std::vector<std::string>& told,
                                             std::string_view option, Number most) {
    std::map<Number, upper::Channel> channels;
    for (const std::string& text : told) {
        const std::string_view all = text;
        const auto equals = all.find('=');
        const auto number = util::prefixed_number_of<std::uint32_t>(all.substr(0, equals));
        const auto channel = equals == std::string_view::npos
                                 ? std::nullopt
                                 : upper::service_named(all.substr(equals + 1));
        if (!number || *number > most || !channel)
            throw util::Error(
                fmt::format("{} '{}' is not valid: write a number from 0 to {}, '=' and one of {}.",
                            option, util::printable(text), most, upper::service_names));
        channels[static_cast<Number>(*number)] = *channel;
    }
    return channels;
}

}  // namespace

void ServiceOptions::add_to(CLI::App& command) {
    command
        .add_option("--service", by_port_,
                    "What connections to this port of rdma_cm carry, where the\n"
                    "port is not the service's own: 4421=nvme")
        ->type_name("PORT=SERVICE");
    command
        .add_option("--qpn", by_qpn_,
                    "What SENDs to this queue pair carry, where the capture does\n"
                    "not have the connection's set-up: 0x12=nvme-admin")
        ->type_name("QPN=SERVICE");
}

service::Told ServiceOptions::told() const {
    constexpr std::uint16_t last_port = UINT16_MAX;
    constexpr std::uint32_t last_qpn = 0xffffff;
    return {.by_port = channels_of(by_port_, "--service", last_port),
            .by_qpn = channels_of(by_qpn_, "--qpn", last_qpn)};
}

}  // namespace rocecap
