// What cmtime, of rdma-core, says about its own connections.
#pragma once

#include <string>
#include <vector>

namespace bench {

/// A line of cmtime's table (librdmacm/examples/cmtime.c, as of rdma-core 44 and of 56, which has
/// other columns). It makes all its connections at once, one step after the other:
/// `us_per_connection` is the whole step's time over their number.
struct CmtimeStep {
    std::string name;  // "resolve addr"; "connect", which rdma-core 56 calls "cm connect"
    double us_per_connection = 0;
};

/// The steps in the order of the table. Other lines are skipped.
std::vector<CmtimeStep> parse_cmtime(const std::string& text);

/// The sum of the steps that come before a connection can be used.
double set_up_time(const std::vector<CmtimeStep>& steps);

}  // namespace bench
