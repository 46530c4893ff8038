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
    for (HostCut& cut : cuts_)
        if (cut.event.rule == number)
            cut = {};
    return rules_.remove_if([&](const RuleState& state) { return state.number == number; }) != 0;
}

void Stage::clear() {
    rules_.clear();
    std::ranges::fill(cuts_, HostCut{});
}

void Stage::restart() {
    for (RuleState& state : rules_) {
        state.seen = state.taken = 0;
        state.random.seed(state.rule.which.seed);
    }
    std::ranges::fill(cuts_, HostCut{});
}

void Stage::take(const ReceivedFrame& arrival, Time now, StageOutput& out) {
    release(now, out);
    const wire::Packet packet = decoded(arrival);
    if (rules_.empty()) {
        out.arrived(arrival, packet.is_roce(), {});
        out.leaves(arrival.from, arrival.to, arrival.bytes, packet.is_roce());
        return;
    }
    const auto sent = std::make_shared<Sent>(
        Sent{.time = arrival.time,
             .at = now,
             .from = arrival.from,
             .to = arrival.to,
             .frame = {{arrival.bytes.begin(), arrival.bytes.end()}, packet.trail},
             .opcode = packet.opcode,
             .rules = pick(arrival, packet)});
    const HostCut* cut = cut_at(arrival.from, now);
    if (cut == nullptr && arrival.to)
        cut = cut_at(*arrival.to, now);
    if (cut != nullptr)
        log({sent}, cut->event, now);
    else
        pass({sent}, now);
    std::vector<RuleEvent> events;
    for (const Action& action : actions_)
        if (action.sent == sent)
            events.push_back(action.event);
    sent->recorded = out.arrived(arrival, sent->is_roce(), events);
    flush(out);
}

void Stage::release(Time now, StageOutput& out) {
    for (auto due = next(); due && *due <= now; due = next()) {
        pass(take_first(), *due);
        flush(out);
    }
}

wire::Packet Stage::decoded(const ReceivedFrame& arrival) const {
    const bool needs_icrc = std::ranges::any_of(rules_, [](const RuleState& state) {
        return state.rule.where && state.rule.where->needs_icrc();
    });
    return wire::decode(arrival.bytes, wire::LinkType::Ethernet, arrival.bytes.size(),
                        needs_icrc ? wire::IcrcCheck::Compute : wire::IcrcCheck::Skip);
}

// Every rule counts the frame, whatever happens to it.
std::vector<std::uint32_t> Stage::pick(const ReceivedFrame& arrival, const wire::Packet& packet) {
    const filter::View view{0, arrival.time, packet, arrival.bytes, arrival.bytes.size(), scratch_};
    std::vector<std::uint32_t> picked;
    for (RuleState& state : rules_)
        if (picks(state, arrival, packet.is_roce(), view))
            picked.push_back(state.number);
    return picked;
}

bool Stage::picks(RuleState& state, const ReceivedFrame& arrival, bool is_roce,
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

// Takes the frame from the rule that it reached last to the next that holds or drops it, or out.
void Stage::pass(Frame frame, Time now) {
    std::vector<Frame> followers;  // its copies, and what it overtakes; those of later rules first
    bool goes_on = true;
    for (auto state = rules_.begin(); goes_on && state != rules_.end(); ++state) {
        if (state->number <= frame.rule)
            continue;
        frame.rule = state->number;
        if (std::ranges::binary_search(frame.sent->rules, state->number))
            goes_on = apply(*state, frame, now, followers);
        else if (std::holds_alternative<Reorder>(state->rule.action))
            overtake(frame, followers);
    }
    if (goes_on)
        leave(std::move(frame), now);
    for (Frame& follower : followers)
        pass(std::move(follower), now);
}

// Returns false if the rule drops or holds the frame.
bool Stage::apply(RuleState& state, Frame& frame, Time now, std::vector<Frame>& followers) {
    RuleEvent event{state.number, name_of(state.rule.action), state.rule.text, {}};
    const auto act = [&](std::string detail) {
        ++state.taken;
        event.detail = std::move(detail);
        log(frame, event, now);
    };
    return std::visit(
        Overloaded{
            [&](const Drop&) {
                act({});
                return false;
            },
            [&](const Duplicate& duplicate) {
                std::uint32_t& made = frame.sent->copies;
                const std::uint32_t copies = std::min(duplicate.copies, most_copies - made);
                std::string detail;
                if (duplicate.after.count() != 0)
                    detail = text_of(duplicate.after) + " later";
                if (copies < duplicate.copies)
                    detail += fmt::format("{}only {}: a packet has at most {} copies",
                                          detail.empty() ? "" : ", ", copies, most_copies);
                act(std::move(detail));
                std::vector<Frame> more(copies, frame);
                for (Frame& copy : more) {
                    copy.copy = ++made;
                    if (duplicate.after.count() != 0)
                        hold(now + duplicate.after, copy);
                }
                if (duplicate.after.count() == 0)
                    followers.insert(followers.begin(), more.begin(), more.end());
                return true;
            },
            [&](const Delay& delay) {
                act(text_of(delay.time));
                hold(now + delay.time, std::move(frame));
                return false;
            },
            [&](const Reorder& reorder) {
                act(fmt::format("after the next {}", reorder.by));
                held_bytes_ += frame.bytes().size();
                overtaken_.push_back({std::move(frame), reorder.by, now + overtaking_time});
                return false;
            },
            [&](const Cut& cut) {
                const Host host = frame.sent->from;
                act(fmt::format("{}'s link, {}", hosts_.at(host), text_of(cut.time)));
                if (now + cut.time > cuts_.at(host).until)
                    cuts_.at(host) = {now + cut.time, event};
                return false;
            },
            [&](const Limit& limit) {
                while (!state.queue.empty() && state.queue.front() <= now)
                    state.queue.pop_front();
                if (state.queue.size() >= limit.queue) {
                    act("its queue is full: dropped");
                    return false;
                }
                const auto begin = state.queue.empty() ? now : state.queue.back();
                const double seconds = static_cast<double>(frame.bytes().size()) * 8 /
                                       static_cast<double>(limit.bits_per_second);
                const Time until = begin + Nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
                state.queue.push_back(until);
                act(text_of(until - now));
                hold(until, std::move(frame));
                return false;
            },
            [&](const auto& edit) {  // Corrupt, Set, Mark
                std::string detail = emulator::apply(edit, frame.edit());
                if (!detail.empty())
                    act(std::move(detail));
                return true;
            },
        },
        state.rule.action);
}

// Counts a frame at the frames that the rule holds which it just reached.
void Stage::overtake(const Frame& by, std::vector<Frame>& followers) {
    std::vector<Frame> passed;
    for (auto it = overtaken_.begin(); it != overtaken_.end();) {
        const bool is_passed =
            it->frame.rule == by.rule && it->frame.sent->from == by.sent->from && --it->left == 0;
        if (!is_passed) {
            ++it;
            continue;
        }
        held_bytes_ -= it->frame.bytes().size();
        passed.push_back(std::move(it->frame));
        it = overtaken_.erase(it);
    }
    followers.insert(followers.begin(), passed.begin(), passed.end());
}

void Stage::leave(Frame frame, Time now) {
    const Sent& sent = *frame.sent;
    const HostCut* cut = cut_at(sent.from, now);
    std::vector<Host> reached;
    for (Host host = 0; host < hosts_.size(); ++host) {
        if (host == sent.from || (sent.to && *sent.to != host))
            continue;
        const HostCut* end = cut_at(host, now);
        if (end == nullptr)
            reached.push_back(host);
        else if (cut == nullptr)
            cut = end;
    }
    if (cut == nullptr) {
        departures_.push_back({std::move(frame), sent.to});
        return;
    }
    log(frame, cut->event, now);
    if (cut_at(sent.from, now) == nullptr)
        for (const Host host : reached)
            departures_.push_back({frame, host});
}

void Stage::log(const Frame& frame, RuleEvent event, Time now) {
    event.copy = frame.copy;
    event.time = frame.sent->time + std::chrono::duration_cast<capture::Time>(now - frame.sent->at);
    actions_.push_back({frame.sent, std::move(event)});
}

// Returns null if the host's link is not cut.
const Stage::HostCut* Stage::cut_at(Host host, Time now) const {
    const HostCut& cut = cuts_.at(host);
    return now < cut.until ? &cut : nullptr;
}

void Stage::hold(Time until, Frame frame) {
    held_bytes_ += frame.bytes().size();
    held_.emplace(until, std::move(frame));
}

Stage::Frame Stage::take_first() {
    const bool is_overtaken = !overtaken_.empty() && overtaken_.front().until == *next();
    Frame frame = std::move(is_overtaken ? overtaken_.front().frame : held_.begin()->second);
    if (is_overtaken)
        overtaken_.pop_front();
    else
        held_.erase(held_.begin());
    held_bytes_ -= frame.bytes().size();
    return frame;
}

void Stage::flush(StageOutput& out) {
    for (const Action& action : actions_)
        out.acted(*action.sent, action.event);
    for (const Departure& one : departures_)
        out.leaves(one.frame.sent->from, one.to, one.frame.bytes(), one.frame.sent->is_roce());
    actions_.clear();
    departures_.clear();
}

util::Deadline Stage::next() const {
    util::Deadline next;
    if (!held_.empty())
        next = held_.begin()->first;
    if (!overtaken_.empty() && (!next || overtaken_.front().until < *next))
        next = overtaken_.front().until;
    return next;
}

}  // namespace emulator
