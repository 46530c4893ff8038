#include "bench/setup/report.hpp"

#include <algorithm>
#include <functional>
#include <span>

#include <fmt/format.h>

#include "bench/statistics.hpp"

namespace bench {
namespace {

using Json = nlohmann::ordered_json;
using Part = std::function<Nanoseconds(const Sample&)>;

constexpr int cell = 7;

std::vector<double> values(const Series& series, const Part& part) {
    std::vector<double> all;
    for (const Sample& sample : series.samples)
        all.push_back(static_cast<double>(part(sample).count()));
    return all;
}

double in_ms(double ns) {
    return ns / 1e6;
}

Nanoseconds total(const Sample& sample) {
    return sample.total;
}
Nanoseconds connected(const Sample& sample) {
    return sample.connected;
}
Part phase(std::size_t index) {
    return [index](const Sample& sample) { return sample.phases[index]; };
}

Spread ratio(const Series& series, const Series& base) {
    return ratios(values(series, total), values(base, total));
}
double ratio_of(const Series& series, const Series& base, double percent) {
    return percentile(values(series, total), percent) / percentile(values(base, total), percent);
}

// A row of the table of phases: two cells per method, empty if it does not have the phase.
std::string row(std::string_view title, std::span<const Series> all, const Part& part) {
    std::string line = fmt::format("{:<16}", title);
    for (const Series& series : all) {
        const auto of = values(series, part);
        if (std::ranges::all_of(of, [](double ns) { return ns == 0; }))
            line += fmt::format("{:>{}}{:>{}}", "-", cell + 1, "-", cell);
        else
            line += fmt::format("{:>{}.2f}{:>{}.2f}", in_ms(percentile(of, 50)), cell + 1,
                                in_ms(percentile(of, 99)), cell);
    }
    return line + '\n';
}

std::string phases_table(std::span<const Series> all) {
    std::string text = fmt::format("{:<16}", "ms");
    for (const Series& series : all)
        text += fmt::format("{:>{}}", series.method->name, 2 * cell + 1);
    text += fmt::format("\n{:<16}", "");
    for (std::size_t i = 0; i < all.size(); ++i)
        text += fmt::format("{:>{}}{:>{}}", "p50", cell + 1, "p99", cell);
    text += '\n';
    for (std::size_t i = 0; i < phase_names.size(); ++i)
        text += row(phase_names[i].title, all, phase(i));
    return text + row("to RTS", all, connected) + row("to first byte", all, total);
}

std::string ratios_table(const Result& result) {
    std::string text =
        fmt::format("{:<22}{:>9}{:>9}   {:<34}{:>19}\n", "first byte, over cm's", "of p50",
                    "of p99", "round by round: median (half)", "process's first, ms");
    const Series& base = result.series.front();
    for (const Series& series : result.series) {
        const Spread spread = ratio(series, base);
        text += fmt::format(
            "{:<22}{:>9.2f}{:>9.2f}   {:<34}{:>19.2f}\n", series.method->name,
            ratio_of(series, base, 50), ratio_of(series, base, 99),
            fmt::format("{:.2f} ({:.2f} to {:.2f})", spread.median, spread.q1, spread.q3),
            in_ms(static_cast<double>(series.first.total.count())));
    }
    return text;
}

std::string cmtime_text(const std::vector<CmtimeStep>& steps) {
    constexpr double us_in_ms = 1000;
    if (steps.empty())
        return {};
    std::string names, times;
    const auto add = [&](const std::string& name, double us) {
        names += fmt::format("{}{}", names.empty() ? "" : "  ", name);
        times += fmt::format("{}{:>{}.2f}", times.empty() ? "" : "  ", us / us_in_ms, name.size());
    };
    for (const CmtimeStep& step : steps)
        add(step.name, step.us_per_connection);
    add("until connected", set_up_time(steps));
    return fmt::format(
        "\ncmtime, each phase of all its connections concurrently, ms per connection:\n{}\n{}\n",
        names, times);
}

Json percentiles(const Series& series, const Part& part) {
    const auto of = values(series, part);
    return {{"p50", percentile(of, 50)}, {"p99", percentile(of, 99)}};
}

Json sample_json(const Sample& sample) {
    Json json;
    for (std::size_t i = 0; i < phase_names.size(); ++i)
        json[phase_names[i].key] = sample.phases[i].count();
    json["connected"] = sample.connected.count();
    json["total"] = sample.total.count();
    json["resumed"] = sample.was_resumed;
    return json;
}

Json series_json(const Series& series, const Series& base) {
    Json json{{"name", series.method->name},
              {"device", series.method->device == Device::OfTheProcess ? "process" : "connection"}};
    for (std::size_t i = 0; i < phase_names.size(); ++i)
        json["phases"][phase_names[i].key] = percentiles(series, phase(i));
    json["connected"] = percentiles(series, connected);
    json["total"] = percentiles(series, total);
    const Spread spread = ratio(series, base);
    json["ratio_to_cm"] = {{"of_p50", ratio_of(series, base, 50)},
                           {"of_p99", ratio_of(series, base, 99)},
                           {"q1", spread.q1},
                           {"median", spread.median},
                           {"q3", spread.q3}};
    json["first"] = sample_json(series.first);
    for (const Sample& sample : series.samples)
        json["samples"].push_back(sample_json(sample));
    return json;
}

}  // namespace

std::string table(const Result& result) {
    const std::span<const Series> all(result.series);
    const auto opening = std::ranges::find_if(
        all, [](const Series& series) { return series.method->device == Device::OfTheConnection; });
    const auto first = static_cast<std::size_t>(opening - all.begin());
    return fmt::format(
        "{} connections of each method, in turns, after {} warm-up rounds that do not count\n\n"
        "The device is opened once for the process, on both sides:\n{}\n"
        "The device is opened for each connection, on both sides, as lessons 06 and 07 do:\n{}\n"
        "{}{}",
        all.front().samples.size(), result.warm_up, phases_table(all.first(first)),
        phases_table(all.subspan(first)), ratios_table(result), cmtime_text(result.cmtime));
}

Json json(const Result& result) {
    Json json{{"connections", result.series.front().samples.size()},
              {"warm_up", result.warm_up},
              {"unit", "ns"}};
    for (const Series& series : result.series)
        json["methods"].push_back(series_json(series, result.series.front()));
    for (const CmtimeStep& step : result.cmtime)
        json["cmtime"][step.name] = step.us_per_connection * 1000;
    return json;
}

}  // namespace bench
