#include "emulator/stage.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "emulator/edit.hpp"

namespace emulator {
namespace {

// Returns a number in [0, 1). The sequence is the same with every standard library.
double draw(std::mt19937_64& random) {
    return static_cast<double>(random() >> 11U) * 0x1p-53;
}

std::string text_of(Nanoseconds time) {
    return fmt::format("{} ms", static_cast<double>(time.count()) / 1e6);
}

}  // namespace

// The rules' decisions on one frame: collected first, then carried out.
struct Stage::FrameState {
    const Arrival& arrival;
    std::vector<std::byte> edited{};  // empty: unchanged
    std::vector<Event> events{};
    bool goes_on = true;  // immediately; false: dropped or held
    std::uint32_t copies = 0;
    std::uint32_t overtaken_by = 0;
    std::optional<Nanoseconds> copies_after{};
    std::optional<util::Clock::time_point> at{};

    std::span<std::byte> edit() {
        if (edited.empty())
            edited.assign(arrival.bytes.begin(), arrival.bytes.end());
        return edited;
    }
    util::Bytes bytes() const { return edited.empty() ? arrival.bytes : util::Bytes(edited); }
    Held held() const { return {arrival.from, arrival.to, {bytes().begin(), bytes().end()}}; }
};

std::uint32_t Stage::add(Rule rule) {
    const auto host = [this](const std::string& name) -> std::optional<Host> {
        if (name.empty())
            return std::nullopt;
        return static_cast<Host>(std::ranges::find(hosts_, name) - hosts_.begin());
    };
    RuleState state{++last_number_, std::move(rule), {}, {}};
    state.from = host(state.rule.from);
    state.to = host(state.rule.to);
    state.random.seed(state.rule.which.seed);
    rules_.push_back(std::move(state));
    return last_number_;
}

bool Stage::remove(std::uint32_t number) {
    return rules_.remove_if([&](const RuleState& state) { return state.number == number; }) != 0;
}

void Stage::clear() {
    rules_.clear();
    std::ranges::fill(cut_until_, util::Clock::time_point{});
}

void Stage::restart() {
    for (RuleState& state : rules_) {
        state.seen = state.taken = 0;
        state.random.seed(state.rule.which.seed);
    }
    std::ranges::fill(cut_until_, util::Clock::time_point{});
}

void Stage::take(const Arrival& arrival, util::Clock::time_point now, StageOutput& out) {
    FrameState frame{arrival};
    if (!is_cut(arrival, now, frame) && !rules_.empty()) {
        const bool needs_icrc = std::ranges::any_of(rules_, [](const RuleState& state) {
            return state.rule.where && state.rule.where->needs_icrc();
        });
        const wire::Packet packet =
            wire::decode(arrival.bytes, wire::LinkType::Ethernet, arrival.bytes.size(),
                         needs_icrc ? wire::IcrcCheck::Compute : wire::IcrcCheck::Skip);
        const filter::View view{0,       arrival.time, packet, arrival.bytes, arrival.bytes.size(),
                                scratch_};
        // Every rule counts the frame, even if an earlier rule has dropped it.
        std::vector<RuleState*> picked;
        for (RuleState& state : rules_)
            if (picks(state, arrival, packet.is_roce(), view))
                picked.push_back(&state);
        for (RuleState* state : picked)
            if (frame.goes_on && apply(*state, frame, now))
                ++state->taken;
    }
    out.arrived(arrival, frame.events);
    pass(frame, out);
    if (frame.overtaken_by > 0) {
        Held held = frame.held();
        held_bytes_ += held.bytes.size();
        overtaken_.push_back({std::move(held), frame.overtaken_by, now + overtaking_time});
    }
    if (frame.at)
        hold(*frame.at, frame.held());
    if (frame.copies_after)
        for (std::uint32_t i = 0; i < frame.copies; ++i)
            hold(now + *frame.copies_after, frame.held());
}

void Stage::pass(FrameState& frame, StageOutput& out) {
    const Arrival& arrival = frame.arrival;
    if (frame.goes_on) {
        out.leaves(arrival.from, arrival.to, frame.bytes());
        if (!frame.copies_after)
            for (std::uint32_t i = 0; i < frame.copies; ++i)
                out.leaves(arrival.from, arrival.to, frame.bytes());
        count_overtakers(arrival.from, out);
    }
}

bool Stage::is_cut(const Arrival& arrival, util::Clock::time_point now, FrameState& frame) {
    for (const std::optional<Host> end : {std::optional(arrival.from), arrival.to})
        if (end && now < cut_until_.at(*end)) {
            frame.events.push_back(cut_by_.at(*end));
            frame.goes_on = false;
            return true;
        }
    return false;
}

bool Stage::picks(RuleState& state, const Arrival& arrival, bool is_roce,
                  const filter::View& view) {
    const Rule& rule = state.rule;
    if ((!rule.any_frame && !is_roce) || (state.from && *state.from != arrival.from) ||
        (state.to && state.to != arrival.to) || (rule.where && !rule.where->matches(view)))
        return false;
    ++state.seen;
    const Which& which = rule.which;
    switch (which.kind) {
        case Which::Kind::All:
            return true;
        case Which::Kind::Range:
            return which.first <= state.seen && state.seen <= which.last;
        case Which::Kind::Every:
            return state.seen % which.every == 0;
        case Which::Kind::Share:
            return draw(state.random) < which.share;
    }
    return false;
}

namespace {

template <typename... Functions>
struct Overloaded : Functions... {
    using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace

// Returns false if the action does not apply to this frame.
bool Stage::apply(RuleState& state, FrameState& frame, util::Clock::time_point now) {
    std::string detail;
    const bool done = std::visit(
        Overloaded{
            [&](const Drop&) {
                frame.goes_on = false;
                return true;
            },
            [&](const Duplicate& duplicate) {
                frame.copies += duplicate.copies;
                if (duplicate.after.count() != 0) {
                    frame.copies_after = duplicate.after;
                    detail = text_of(duplicate.after) + " later";
                }
                return true;
            },
            [&](const Delay& delay) {
                frame.goes_on = false;
                frame.at = now + delay.time;
                detail = text_of(delay.time);
                return true;
            },
            [&](const Reorder& reorder) {
                frame.goes_on = false;
                frame.overtaken_by = reorder.by;
                detail = fmt::format("after the next {}", reorder.by);
                return true;
            },
            [&](const Cut& cut) {
                frame.goes_on = false;
                const Host host = frame.arrival.from;
                cut_until_.at(host) = now + cut.time;
                detail = fmt::format("{}'s link, {}", hosts_.at(host), text_of(cut.time));
                cut_by_.at(host) = {state.number, name_of(state.rule.action), state.rule.text,
                                    detail};
                return true;
            },
            [&](const Limit& limit) {
                frame.goes_on = false;
                while (!state.queue.empty() && state.queue.front() <= now)
                    state.queue.pop_front();
                if (state.queue.size() >= limit.queue) {
                    detail = "its queue is full: dropped";
                    return true;
                }
                const auto begin = state.queue.empty() ? now : state.queue.back();
                const double seconds = static_cast<double>(frame.arrival.bytes.size()) * 8 /
                                       static_cast<double>(limit.bits_per_second);
                frame.at = begin + Nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
                state.queue.push_back(*frame.at);
                detail = text_of(*frame.at - now);
                return true;
            },
            [&](const auto& edit) {  // Corrupt, Set, Mark
                detail = emulator::apply(edit, frame.edit());
                return !detail.empty();
            },
        },
        state.rule.action);
    if (done)
        frame.events.push_back(
            {state.number, name_of(state.rule.action), state.rule.text, std::move(detail)});
    return done;
}

void Stage::hold(util::Clock::time_point until, Held held) {
    held_bytes_ += held.bytes.size();
    delayed_.emplace(until, std::move(held));
}

void Stage::count_overtakers(Host from, StageOutput& out) {
    for (auto it = overtaken_.begin(); it != overtaken_.end();) {
        if (it->held.from != from || --it->left != 0) {
            ++it;
            continue;
        }
        held_bytes_ -= it->held.bytes.size();
        out.leaves(it->held.from, it->held.to, it->held.bytes);
        it = overtaken_.erase(it);
    }
}

void Stage::release(util::Clock::time_point now, StageOutput& out) {
    while (!delayed_.empty() && delayed_.begin()->first <= now) {
        const Held held = std::move(delayed_.extract(delayed_.begin()).mapped());
        held_bytes_ -= held.bytes.size();
        out.leaves(held.from, held.to, held.bytes);
        count_overtakers(held.from, out);
    }
    while (!overtaken_.empty() && overtaken_.front().until <= now) {
        const Held held = std::move(overtaken_.front().held);
        overtaken_.pop_front();
        held_bytes_ -= held.bytes.size();
        out.leaves(held.from, held.to, held.bytes);
    }
}

util::Deadline Stage::next() const {
    util::Deadline next;
    if (!delayed_.empty())
        next = delayed_.begin()->first;
    if (!overtaken_.empty() && (!next || overtaken_.front().until < *next))
        next = overtaken_.front().until;
    return next;
}

}  // namespace emulator
