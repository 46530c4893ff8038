// Results of rdma-core's cmtime for its own connections.
#pragma once

#include <string>
#include <vector>

namespace bench {

/// A line of cmtime's table (librdmacm/examples/cmtime.c, as of rdma-core 44 and of 56, which has
/// other columns). It makes all its connections concurrently, one lesson after the other:
/// `us_per_connection` is the time of the whole lesson divided by their number.
struct CmtimeStep {
    std::string name;  // "resolve addr"; "connect", which rdma-core 56 calls "cm connect"
    double us_per_connection = 0;
};

/// The lessons in the order of the table. Other lines are skipped.
std::vector<CmtimeStep> parse_cmtime(const std::string& text);

/// The sum of the lessons until a connection can be used.
double set_up_time(const std::vector<CmtimeStep>& steps);

}  // namespace bench
