// The check of a capture's reliable connections, as a person reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/conformance/checker.hpp"
#include "util/style.hpp"

namespace render {

/// A host's counter beside what the capture says.
struct CounterRow {
    std::string host;  ///< "server"
    std::string name;  ///< as in hw_counters
    std::uint64_t counted = 0;
    std::uint64_t captured = 0;

    bool is_equal() const { return counted == captured; }
};

/// What is known beside the capture.
struct CheckContext {
    std::map<std::string, std::string> roles;  ///< by address: "server"
    std::map<std::uint64_t, std::string>
        rules;                         ///< by frame: what the link emulator was told to do
    std::vector<CounterRow> counters;  ///< none: the run has none
    std::size_t most_rows = 40;        ///< of recoveries and of findings; 0: all
};

std::string check_text(const conformance::Report& report, const CheckContext& context,
                       const util::TextStyle& style);

/// What may make the two differ, a clause; empty where nothing is known.
std::string_view why_unequal(std::string_view counter);

/// "client 192.0.2.2", or the address alone.
std::string host_name(const conformance::Report& report, const CheckContext& context,
                      const flow::Host& host);

}  // namespace render
