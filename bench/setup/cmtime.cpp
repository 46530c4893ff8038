#include "bench/setup/cmtime.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

namespace bench {
namespace {

constexpr std::array set_up_steps{"create id",     "bind addr", "resolve addr",
                                  "resolve route", "create qp", "connect"};

std::string trimmed(std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

}  // namespace

// "resolve addr :       67.58      66.29   49533.00    1351.56": total ms, max ms, min us, us/conn.
std::vector<CmtimeStep> parse_cmtime(const std::string& text) {
    std::vector<CmtimeStep> steps;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const auto colon = line.find(':');
        if (colon == std::string::npos)
            continue;
        std::istringstream numbers(line.substr(colon + 1));
        double total = 0, most = 0, least = 0;
        CmtimeStep step{trimmed(line.substr(0, colon))};
        if (numbers >> total >> most >> least >> step.us_per_connection)
            steps.push_back(std::move(step));
    }
    return steps;
}

double set_up_time(const std::vector<CmtimeStep>& steps) {
    double sum = 0;
    for (const CmtimeStep& step : steps)
        if (std::ranges::find(set_up_steps, step.name) != set_up_steps.end())
            sum += step.us_per_connection;
    return sum;
}

}  // namespace bench
