// The reference runs as captures that lack packets or have coarse times: no host is accused of what the
// capture did.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "capture/file_source.hpp"
#include "capture/frame.hpp"
#include "trace/conformance/checker.hpp"
#include "trace/explain/explainer.hpp"
#include "wire/roce_flows.hpp"

namespace imperfect_samples_test {

namespace fs = std::filesystem;

std::vector<fs::path> captures() {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator("captures/samples"))
        if (fs::exists(entry.path() / "annotated.pcapng"))
            all.push_back(entry.path() / "annotated.pcapng");
    std::ranges::sort(all);
    return all;
}

/// Of each `every` packets, `lost` are missing, from frame `first` on; times have steps.
struct Flaw {
    std::uint64_t every = 0, first = 0, lost = 1;
    std::int64_t step_ns = 1;

    bool lacks(std::uint64_t frame) const {
        return every != 0 && frame >= first && (frame - first) % every < lost;
    }
    std::int64_t time(std::int64_t t_ns) const { return t_ns - t_ns % step_ns; }
};

/// What a check and an explanation say of the hosts, sorted: "ack-beyond", "deviation".
std::vector<std::string> accusations(const fs::path& path, const Flaw& flaw) {
    flow::Tracker tracker;
    conformance::Checker checker(tracker);
    explain::Explainer explainer;
    wire::RoceFlows flows;
    capture::FileSource source(path.string());
    while (const auto frame = source.next()) {
        if (flaw.lacks(frame->number))
            continue;
        const wire::Packet packet = capture::decode(*frame, flows);
        const std::int64_t t_ns = flaw.time(frame->time.count());
        const std::uint64_t stream =
            tracker.add(std::chrono::nanoseconds(t_ns), packet, frame->bytes.size());
        checker.add_at_one_point(frame->number, t_ns, packet, stream);
        explainer.add(frame->number, t_ns, packet, frame->bytes.size(), frame->bytes);
    }
    checker.captured_at({});
    std::vector<std::string> all;
    for (const auto& finding : checker.finish().findings)
        all.emplace_back(name(finding.code));
    for (const auto& cause : explainer.explanation().causes)
        if (cause.code == explain::Code::Deviation)
            all.emplace_back(name(cause.code));
    std::ranges::sort(all);
    return all;
}

void expect_nothing_new(const Flaw& flaw) {
    ASSERT_GE(captures().size(), 26U);
    for (const fs::path& path : captures()) {
        const auto perfect = accusations(path, {});
        std::vector<std::string> added;
        std::ranges::set_difference(accusations(path, flaw), perfect, std::back_inserter(added));
        EXPECT_TRUE(added.empty()) << path << fmt::format(": {}", fmt::join(added, " "));
    }
}

class SamplesWithout : public testing::TestWithParam<Flaw> {};

TEST_P(SamplesWithout, packets_accuse_no_host) {
    expect_nothing_new(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Some, SamplesWithout,
                         testing::Values(Flaw{50, 10}, Flaw{50, 35}, Flaw{7, 5}, Flaw{97, 20, 5}),
                         [](const auto& one) {
                             return fmt::format("{}_of_{}_from_{}", one.param.lost, one.param.every,
                                                one.param.first);
                         });

class SamplesWithTimeStepsOf : public testing::TestWithParam<std::int64_t> {};

TEST_P(SamplesWithTimeStepsOf, nanoseconds_accuse_no_host) {
    expect_nothing_new({.step_ns = GetParam()});
}

// The last one is a time for all packets.
INSTANTIATE_TEST_SUITE_P(Steps, SamplesWithTimeStepsOf,
                         testing::Values(1'000, 1'000'000, 15'625'000, 1'000'000'000,
                                         1'000'000'000'000'000));

}  // namespace imperfect_samples_test
