// Checks of lesson 14 on a device with on-demand paging.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/lab.hpp"

namespace lesson14_test {

inline std::vector<runlog::Event> events_of(const support::Outcome& outcome) {
    std::vector<runlog::Event> log;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);)
        if (auto event = runlog::from_json(line))
            log.push_back(std::move(*event));
    return log;
}

inline bool has_note(const std::vector<runlog::Event>& log, std::string_view text) {
    return std::ranges::any_of(support::LabRun::all(log, "note"), [&](const auto& note) {
        return note.text("text").find(text) != std::string_view::npos;
    });
}

/// Expects the results of part 5: registering pins and allocates nothing, the first WRITE to a page
/// pays, and a WRITE goes to the pages that are mapped at its time.
inline void expect_on_demand_paging(const std::vector<runlog::Event>& log) {
    const auto registered = support::LabRun::all(log, "odp_reg");
    ASSERT_EQ(registered.size(), 2U);
    const auto& pinned = registered[0];
    const auto& on_demand = registered[1];
    EXPECT_EQ(pinned.text("access"), "pinned");
    EXPECT_EQ(pinned.number("pinned"), pinned.number("len"));
    EXPECT_GE(pinned.number("allocated").value(), pinned.number("len").value() / 2);
    EXPECT_EQ(on_demand.text("access"), "on demand");
    EXPECT_EQ(on_demand.number("pinned"), 0U);
    EXPECT_LT(on_demand.number("allocated").value(), on_demand.number("len").value() / 2);
    EXPECT_LT(on_demand.number("reg_p50_ns").value(), pinned.number("reg_p50_ns").value());

    const auto written = support::LabRun::all(log, "odp_write");
    ASSERT_EQ(written.size(), 2U);
    EXPECT_EQ(written[1].text("access"), "on demand");
    EXPECT_GT(written[1].number("first_p50_ns").value(), written[1].number("again_p50_ns").value());

    const auto unmapped = support::LabRun::all(log, "odp_unmap");
    ASSERT_EQ(unmapped.size(), 2U);
    EXPECT_EQ(unmapped[0].text("status"), "SUCCESS");
    EXPECT_EQ(unmapped[0].text("memory"), "written");
    EXPECT_EQ(unmapped[1].text("status"), "REM_ACCESS_ERR");

    const auto* place = support::LabRun::find(log, "odp_place");
    ASSERT_NE(place, nullptr);
    EXPECT_EQ(place->text("status"), "SUCCESS");
    EXPECT_EQ(place->number("arrived") != place->number("to"),
              has_note(log, "this device ignores the offset in a page"));
}

}  // namespace lesson14_test
