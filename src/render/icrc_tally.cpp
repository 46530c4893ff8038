#include "render/icrc_tally.hpp"

#include <fmt/format.h>

#include "util/json.hpp"
#include "wire/icrc_hint.hpp"

namespace render {
namespace {

std::string packets_text(std::uint64_t count) {
    return fmt::format("{} packet{}", count, count == 1 ? "" : "s");
}

}  // namespace

void IcrcTally::add(const wire::Packet& packet) {
    ++packets_;
    roce_ += packet.is_roce() ? 1 : 0;
    if (packet.malformed)
        ++malformed_;
    else if (packet.not_roce)
        ++not_roce_;
    else if (!packet.icrc)
        ++unchecked_["a header is cut off"];
    else if (packet.icrc->status == wire::IcrcStatus::Unchecked)
        ++unchecked_[packet.icrc->reason];
    else if (packet.icrc->status == wire::IcrcStatus::Good)
        ++good_;
    else
        add_bad(packet);
}

void IcrcTally::add_bad(const wire::Packet& packet) {
    ++bad_;
    const wire::IcrcHint* hint = packet.icrc->hint;
    if (hint == nullptr) {
        ++unexplained_;
        return;
    }
    if (hint->kind == wire::IcrcHint::Kind::SourcePort)
        ++right_with_srcport_;
    ++hints_[hint->cause()];
}

std::uint64_t IcrcTally::unchecked() const {
    std::uint64_t sum = 0;
    for (const auto& [reason, count] : unchecked_)
        sum += count;
    return sum;
}

std::string IcrcTally::text() const {
    std::string text = fmt::format("{}, {} of them RoCE\nICRC: {} good, {} bad, {} unchecked\n",
                                   packets_text(packets_), roce_, good_, bad_, unchecked());
    // A source port that fits few of many may be coincidence.
    const auto port_cause = wire::IcrcHint{.kind = wire::IcrcHint::Kind::SourcePort}.cause();
    for (const auto& [cause, count] : hints_)
        if (cause != port_cause || count > unexplained_)
            text += fmt::format("  bad: {} of {} right {}\n", count, packets_text(bad_), cause);
    for (const auto& [reason, count] : unchecked_)
        text += fmt::format("  unchecked: {}: {}\n", reason, packets_text(count));
    if (malformed_ != 0)
        text += fmt::format("malformed: {}\n", packets_text(malformed_));
    return text;
}

util::Json IcrcTally::json() const {
    util::Json reasons = util::Json::object();
    for (const auto& [reason, count] : unchecked_)
        reasons[std::string(reason)] = count;
    return {{"packets", packets_},
            {"roce", roce_},
            {"icrc", {{"good", good_}, {"bad", bad_}, {"unchecked", unchecked()}}},
            {"unchecked", reasons},
            {"malformed", malformed_},
            {"not_roce", not_roce_},
            {"right_with_srcport", right_with_srcport_}};
}

}  // namespace render
