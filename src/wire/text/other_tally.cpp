#include "wire/text/other_tally.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "wire/text/other.hpp"

namespace wire {
namespace {

// More kinds than this are counted as one: noise can have any EtherType.
constexpr std::size_t most_kinds = 256;
constexpr std::size_t most_named = 8;

std::string count_text(std::uint64_t count) {
    return fmt::format("{} packet{}", count, count == 1 ? "" : "s");
}

// "300 TCP, 12 ARP", most frequent first.
template <typename Kind>
std::string kinds_text(std::vector<Kind> kinds) {
    std::ranges::stable_sort(kinds, std::ranges::greater(), &Kind::count);
    std::string text;
    std::uint64_t unnamed = 0;
    for (std::size_t i = 0; i < kinds.size(); ++i)
        if (i < most_named)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kinds[i].count, kinds[i].name);
        else
            unnamed += kinds[i].count;
    return unnamed == 0 ? text : fmt::format("{}, {} of other kinds", text, unnamed);
}

}  // namespace

OtherTally::Key OtherTally::key_of(const Packet& packet) {
    Key key;
    key.reason = packet.not_roce;
    if (packet.outer)
        key.outer = packet.outer->innermost().kind;
    if (packet.not_roce)
        key.detail = other_number(packet);
    else
        key.detail = packet.malformed ? 1 : 0;
    return key;
}

void OtherTally::add(const Packet& packet) {
    ++packets_;
    if (packet.is_roce()) {
        ++roce_;
        return;
    }
    if (packet.mac_control)
        add_flow_control(*packet.mac_control);
    const Key key = key_of(packet);
    auto kind = std::ranges::find(kinds_, key, &Kind::key);
    if (kind == kinds_.end() && kinds_.size() == most_kinds)
        kind = kinds_.end() - 1;
    else if (kind == kinds_.end())
        kind = kinds_.insert(kind, kinds_.size() + 1 == most_kinds
                                       ? Kind{.key = key, .name = "of other kinds"}
                                       : Kind{.key = key,
                                              .may_hide_roce = may_hide_roce(packet),
                                              .name = other_kind(packet)});
    ++kind->count;
}

void OtherTally::add_flow_control(const MacControl& control) {
    const auto count = [&](std::size_t index, std::uint16_t quanta) {
        ++(quanta == 0 ? flow_control_[index].resume : flow_control_[index].pause);
    };
    if (control.is_pause())
        count(MacControl::priorities, control.quanta[0]);
    for (std::size_t priority = 0; priority < MacControl::priorities; ++priority)
        if (control.enables(priority))
            count(priority, control.quanta[priority]);
}

std::vector<std::string> OtherTally::lines() const {
    std::vector<std::string> all{instead(), hidden(), flow_control()};
    std::erase(all, "");
    return all;
}

std::string OtherTally::instead() const {
    if (roce_ != 0)
        return "";
    if (packets_ == 0)
        return "the capture has no packet";
    return fmt::format("no RoCE packet in {}: {}", count_text(packets_), kinds_text(kinds_));
}

std::string OtherTally::hidden() const {
    std::vector<Kind> hiding;
    std::uint64_t count = 0;
    for (const Kind& kind : kinds_)
        if (kind.may_hide_roce) {
            hiding.push_back(kind);
            count += kind.count;
        }
    return hiding.empty() ? ""
                          : fmt::format("{} may have RoCE inside that is not decoded: {}",
                                        count_text(count), kinds_text(hiding));
}

std::string OtherTally::flow_control() const {
    std::string text;
    for (std::size_t i = 0; i < flow_control_.size(); ++i) {
        const auto& [pause, resume] = flow_control_[i];
        if (pause + resume == 0)
            continue;
        text += text.empty() ? "" : "; ";
        text += i == MacControl::priorities ? "PAUSE" : fmt::format("PFC priority {}", i);
        text += fmt::format(": {} pause, {} resume", pause, resume);
    }
    return text;
}

}  // namespace wire
