// The cost of one packet in each part of rocecap, on the traffic of traffic.hpp.
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "bench/traffic.hpp"
#include "filter/field.hpp"
#include "filter/json.hpp"
#include "filter/where.hpp"
#include "trace/flow/tracker.hpp"
#include "wire/packet.hpp"
#include "wire/text/line.hpp"

namespace {

// More than a CPU's caches hold, as when a file is read.
constexpr std::size_t frame_count = 100'000;

struct Frame {
    std::chrono::nanoseconds time{};
    util::Bytes bytes;
};

// Contiguous in memory, as in a file.
class Frames {
  public:
    Frames() {
        bench::Traffic traffic;
        std::vector<bench::Traffic::Frame> made(frame_count);
        for (auto& frame : made) {
            frame = traffic.next();
            bytes_.insert(bytes_.end(), frame.bytes.begin(), frame.bytes.end());
        }
        util::Bytes rest = bytes_;
        for (const auto& frame : made) {
            frames_.push_back({frame.time, rest.first(frame.bytes.size())});
            rest = rest.subspan(frame.bytes.size());
        }
    }
    const std::vector<Frame>& all() const { return frames_; }

  private:
    std::vector<std::byte> bytes_;
    std::vector<Frame> frames_;
};

wire::Packet decoded(const Frame& frame, wire::IcrcCheck icrc) {
    return wire::decode(frame.bytes, wire::LinkType::Ethernet, frame.bytes.size(), icrc);
}

// Calls work(frame, number of the frame) for each frame in turn, as often as needed.
template <typename Work>
void for_frames(benchmark::State& state, Work work) {
    static const Frames frames;
    const std::vector<Frame>& all = frames.all();
    std::size_t i = 0;
    for (auto _ : state) {
        work(all[i], i + 1);
        i = i + 1 == all.size() ? 0 : i + 1;
    }
    state.SetItemsProcessed(state.iterations());
}

void decode(benchmark::State& state) {
    for_frames(state, [](const Frame& frame, std::size_t) {
        benchmark::DoNotOptimize(decoded(frame, wire::IcrcCheck::Skip));
    });
}
BENCHMARK(decode);

void decode_and_check_icrc(benchmark::State& state) {
    for_frames(state, [](const Frame& frame, std::size_t) {
        benchmark::DoNotOptimize(decoded(frame, wire::IcrcCheck::Compute));
    });
}
BENCHMARK(decode_and_check_icrc);

void decode_to_text(benchmark::State& state) {
    wire::Listing listing;
    std::string text;
    for_frames(state, [&](const Frame& frame, std::size_t number) {
        text.clear();
        listing.append(text, number, frame.time, decoded(frame, wire::IcrcCheck::Compute),
                       frame.bytes);
        benchmark::DoNotOptimize(text.data());
    });
}
BENCHMARK(decode_to_text);

void decode_to_eight_fields(benchmark::State& state) {
    const filter::Row row(
        "frame,ip.src,ip.dst,bth.opcode,bth.destqp,bth.psn,reth.r_key,aeth.syndrome",
        filter::Row::Format::Tsv);
    std::string text;
    std::string scratch;
    for_frames(state, [&](const Frame& frame, std::size_t number) {
        text.clear();
        const wire::Packet packet = decoded(frame, wire::IcrcCheck::Skip);
        row.append(text, {number, frame.time, packet, frame.bytes, frame.bytes.size(), scratch});
        benchmark::DoNotOptimize(text.data());
    });
}
BENCHMARK(decode_to_eight_fields);

void decode_to_json(benchmark::State& state) {
    std::string text;
    std::string scratch;
    for_frames(state, [&](const Frame& frame, std::size_t number) {
        text.clear();
        const wire::Packet packet = decoded(frame, wire::IcrcCheck::Compute);
        filter::append_json(text,
                            {number, frame.time, packet, frame.bytes, frame.bytes.size(), scratch});
        benchmark::DoNotOptimize(text.data());
    });
}
BENCHMARK(decode_to_json);

void decode_and_filter(benchmark::State& state) {
    const auto where =
        filter::Where::parse("bth.psn in 0x10..0x20 and r_key == 0x220 or aeth.type == NAK");
    std::string scratch;
    for_frames(state, [&](const Frame& frame, std::size_t number) {
        const wire::Packet packet = decoded(frame, wire::IcrcCheck::Skip);
        benchmark::DoNotOptimize(
            where.matches({number, frame.time, packet, frame.bytes, frame.bytes.size(), scratch}));
    });
}
BENCHMARK(decode_and_filter);

void decode_and_follow(benchmark::State& state) {
    flow::Tracker tracker;
    for_frames(state, [&](const Frame& frame, std::size_t) {
        tracker.add(frame.time, decoded(frame, wire::IcrcCheck::Skip), frame.bytes.size());
    });
}
BENCHMARK(decode_and_follow);

}  // namespace

BENCHMARK_MAIN();
