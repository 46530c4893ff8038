#include "service/setup_times.hpp"

#include <string>

namespace service {
namespace {

constexpr std::array<std::string_view, phases> names{"tcp", "tls", "exchange", "qp"};

}  // namespace

void SetupTimes::add(const PhaseTimes& times) {
    ++clients_;
    for (std::size_t phase = 0; phase < phases; ++phase)
        latencies_[phase].add(times[phase].count(), pages_);
}

runlog::Fields SetupTimes::describe() const {
    runlog::Fields fields{{"clients", clients_}};
    for (std::size_t phase = 0; phase < phases && clients_ > 0; ++phase) {
        const flow::LatencySummary summary = latencies_[phase].summary(pages_);
        const std::string name(names[phase]);
        fields.emplace_back(name + "_p50_us", summary.p50 / 1000);
        fields.emplace_back(name + "_p99_us", summary.p99 / 1000);
    }
    return fields;
}

}  // namespace service
