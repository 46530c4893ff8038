// The check of a capture's reliable connections as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/conformance/checker.hpp"
#include "util/style.hpp"

namespace render {

/// A host's counter and its value according to the capture.
struct CounterRow {
    std::string host;  ///< "server"
    std::string name;  ///< as in hw_counters
    std::uint64_t counted = 0;
    std::uint64_t captured = 0;

    bool is_equal() const { return counted == captured; }
};

/// Facts that are not in the capture.
struct CheckContext {
    std::map<std::string, std::string> roles;    ///< address -> role: "server"
    std::map<std::uint64_t, std::string> rules;  ///< frame -> rule of the link emulator
    std::vector<CounterRow> counters;            ///< empty: the run has none
    std::size_t most_rows = 40;                  ///< recoveries and findings each; 0: all
};

std::string check_text(const conformance::Report& report, const CheckContext& context,
                       const util::TextStyle& style);

/// A clause on why the two values may differ. Empty if no reason is known.
std::string_view why_unequal(std::string_view counter);

/// "client 192.0.2.2", or the address alone.
std::string host_name(const conformance::Report& report, const CheckContext& context,
                      const flow::Host& host);

}  // namespace render
