#include "bench/setup/cmtime.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>
#include <string_view>

namespace bench {
namespace {

constexpr std::array set_up_steps{"create id", "bind addr", "resolve addr", "resolve route",
                                  "create qp", "init qp",   "connect"};

// Rows of rdma-core 56 that are sums of others, or for which the table has no room.
constexpr std::array left_out{"full connect", "destroy id", "destroy qp"};

}  // namespace

std::vector<CmtimeStep> parse_cmtime(const std::string& text) {
    // "resolve addr :       67.58      66.29   49533.00    1351.56": total and maximum in ms,
    // minimum and time per connection in us.
    static const std::regex old_row(R"(([a-z ]+?) *:( +[0-9.]+){3} +([0-9.]+) *)");
    // "resolve addr       38       1944        690      34542        810        278": per
    // connection, then for all, in us.
    static const std::regex new_row(R"((?:cm )?([a-z ]+?) +([0-9]+)( +[0-9]+){5} *)");
    std::vector<CmtimeStep> steps;
    std::istringstream lines(text);
    std::smatch match;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("cm_conn"))
            break;  // rdma-core 56: the same table again, without queue pairs
        if (std::regex_match(line, match, old_row))
            steps.push_back({match[1], std::stod(match[3])});
        else if (std::regex_match(line, match, new_row) && std::stod(match[2]) > 0 &&
                 std::ranges::find(left_out, match[1].str()) == left_out.end())
            steps.push_back({match[1], std::stod(match[2])});
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
