#include "trace/explain/link_record.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {
namespace {

constexpr std::uint32_t gsi_qpn = 1;

// What a `limit` did that has not dropped the packet.
constexpr std::string_view queued = "queued";

// "RC Acknowledge", "RC RDMA READ response First".
bool is_request(std::string_view opcode_name) {
    return opcode_name.find("Acknowledge") == std::string_view::npos &&
           opcode_name.find("response") == std::string_view::npos;
}

std::string_view past_of(std::string_view what) {
    constexpr auto forms =
        std::to_array<std::pair<std::string_view, std::string_view>>({{"drop", "dropped"},
                                                                      {"duplicate", "duplicated"},
                                                                      {"delay", "delayed"},
                                                                      {"reorder", "reordered"},
                                                                      {"corrupt", "corrupted"},
                                                                      {"set", "changed"},
                                                                      {"mark", "marked"},
                                                                      {"cut", "lost (cut)"},
                                                                      {"limit", "lost (limit)"},
                                                                      {queued, "delayed (limit)"}});
    const auto* const found =
        std::ranges::find(forms, what, &std::pair<std::string_view, std::string_view>::first);
    return found == forms.end() ? what : found->second;
}

bool is_loss(std::string_view what) {
    return what == "drop" || what == "cut" || what == "limit";
}

bool is_change(std::string_view what) {
    return what == "corrupt" || what == "set";
}

// What a rule must have done to be the reason of a cause.
bool explains(const Cause& cause, std::string_view what, bool to_responses) {
    switch (cause.code) {
        case Code::Loss:
            return is_loss(what) || is_change(what);
        case Code::PathBroken:
        case Code::LargePacketsLost:
        case Code::CmNoAnswer:
            return is_loss(what);
        case Code::AcksLost:
            return to_responses && (is_loss(what) || what == "delay" || what == queued);
        case Code::Corruption:
        case Code::WrongIcrc:
            return is_change(what);
        case Code::Reordering:
            return what == "reorder" || what == "delay";
        case Code::NeedlessRetransmissions:
            return what == "duplicate" || what == "delay" || what == queued;
        case Code::TimeoutTooShort:
            return what == "delay" || what == "limit" || what == queued;
        case Code::Congestion:
            return what == "mark";
        default:
            return false;
    }
}

Certainty next_to(const Cause& cause) {
    return cause.certainty == Certainty::Possible || !cause.open.empty() ? Certainty::Likely
                                                                         : Certainty::Certain;
}

class Link {
  public:
    Link(const Whole& whole, Causes& causes)
        : record_(whole.link), directions_(whole.directions), causes_(causes) {}

    void explain(bool has_failed) {
        for (Cause& cause : causes_) {
            if (const Direction* lossy = with_lost_responses(cause)) {
                cause.code = Code::Loss;
                cause.text =
                    fmt::format("responses from {} were lost, and requests were retransmitted.",
                                spoken(lossy->to));
            }
            complete(cause);
        }
        const bool is_unexplained = has_failed && std::ranges::none_of(causes_, &Cause::is_fatal);
        std::set<const LinkRecord::Done*> told;
        for (const Direction& direction : directions_)
            if (is_unexplained)
                add(direction, told);
            else if (!add_never_sent_again(direction))
                add_recovered(direction);
        // A rule may have sent them to a queue pair that does not exist.
        if (is_unexplained && told.empty())
            for (const auto& [at, done] : record_.all()) {
                const auto& [from, to, qpn] = std::get<0>(at);
                add(done, fmt::format("{} → {}, QP {:#08x}", from, to, qpn));
            }
    }

  private:
    std::vector<const LinkRecord::Done*> to_requests(const Direction& direction) const {
        return record_.of(direction.from, direction.to, direction.dest_qpn);
    }
    std::vector<const LinkRecord::Done*> to_responses(const Direction& direction) const {
        if (!direction.is_reliable())
            return {};
        const auto qpn = direction.requester != nullptr ? std::optional(direction.requester->qpn)
                         : direction.back != nullptr ? std::optional(direction.back->key.dest_qpn)
                                                     : std::nullopt;
        return qpn ? record_.of(direction.to, direction.from, *qpn)
                   : std::vector<const LinkRecord::Done*>();
    }

    // The capture has responses that the requester did not act on. Its direction if rules dropped
    // some, and none made them late; otherwise nullptr.
    const Direction* with_lost_responses(const Cause& cause) const {
        if (cause.code != Code::NeedlessRetransmissions || cause.certainty != Certainty::Possible)
            return nullptr;
        const Direction* found = directions_.at(cause.where);
        if (found == nullptr)
            return nullptr;
        const auto responses = to_responses(*found);
        const auto is_drop = [](const LinkRecord::Done* done) { return is_loss(done->what); };
        const auto is_delay = [](const LinkRecord::Done* done) {
            return done->what == "delay" || done->what == queued;
        };
        return std::ranges::any_of(responses, is_drop) && std::ranges::none_of(responses, is_delay)
                   ? found
                   : nullptr;
    }

    using Reasons = std::vector<LinkRecord::Done>;

    // What a rule did to the requests and to the responses is one sentence.
    static void note(const LinkRecord::Done& done, Reasons& reasons) {
        const auto same = std::ranges::find_if(reasons, [&](const LinkRecord::Done& one) {
            return one.rule == done.rule && one.what == done.what;
        });
        if (same == reasons.end())
            reasons.push_back(done);
        else
            same->packets += done.packets;
    }

    void complete(Cause& cause) const {
        Reasons reasons;
        const auto take = [&](const std::vector<const LinkRecord::Done*>& all, bool to_responses) {
            for (const LinkRecord::Done* done : all)
                if (explains(cause, done->what, to_responses))
                    note(*done, reasons);
        };
        if (cause.code == Code::Congestion) {
            for (const auto& [at, done] : record_.all())
                take({&done}, false);
        } else if (cause.code == Code::CmNoAnswer) {
            take(record_.of_manager(cause.where), false);
        } else if (const Direction* found = directions_.at(cause.where)) {
            take(to_requests(*found), false);
            take(to_responses(*found), true);
        }
        if (!reasons.empty())
            cause.certainty = next_to(cause);
        add(std::move(reasons), cause);
    }

    static void add(Reasons reasons, Cause& cause) {
        for (LinkRecord::Done& done : reasons)
            add(std::move(done), cause);
    }

    static void add(LinkRecord::Done done, Cause& cause) {
        cause.text += done.sentence();
        cause.add(std::move(done.first));
        cause.try_this = "Remove the rule (lab/lab wire clear, or rocewire clear), and run again.";
    }

    // Packets were lost, and requests were retransmitted, which no rule explains: as when the last packet of a
    // message was lost and the capture has none that shows the gap.
    void add_recovered(const Direction& direction) const {
        if (has_cause(direction))
            return;
        std::set<std::uint32_t> psns;
        const auto again = std::ranges::find_if(direction.requests, [&](const Seen* request) {
            return !psns.insert(request->psn.value()).second;
        });
        if (again == direction.requests.end() || !direction.is_reliable())
            return;
        Reasons reasons;
        for (const auto& all : {to_requests(direction), to_responses(direction)})
            for (const LinkRecord::Done* done : all)
                if (is_loss(done->what))
                    note(*done, reasons);
        if (reasons.empty())
            return;
        Cause cause{.code = Code::Loss,
                    .certainty = Certainty::Likely,
                    .text = "Packets were lost, and requests were retransmitted.",
                    .where = direction.where()};
        cause.add(evidence(**again));
        add(std::move(reasons), cause);
        causes_.push_back(std::move(cause));
    }

    // The last lost request was not sent again: its requester gave up at once, or waits without limit. The
    // capture does not show that it was sent.
    bool add_never_sent_again(const Direction& direction) const {
        if (!direction.is_reliable() || direction.requests.empty() || has_cause(direction))
            return false;
        const auto all = to_requests(direction);
        const auto lost = std::ranges::find_if(all, [&](const LinkRecord::Done* done) {
            return is_loss(done->what) && done->last_request &&
                   std::ranges::all_of(direction.requests, [&](const Seen* request) {
                       return request->psn.is_before(wire::Psn(*done->last_request));
                   });
        });
        if (lost == all.end())
            return false;
        Cause& cause = add_fatal(causes_, Code::Loss, Certainty::Likely,
                                 fmt::format("PSN {:#08x} was lost, and not sent again until the "
                                             "end of the capture.",
                                             *(*lost)->last_request),
                                 direction.where());
        add(**lost, cause);
        return true;
    }

    bool has_cause(const Direction& direction) const {
        return std::ranges::any_of(
            causes_, [&](const Cause& cause) { return cause.where == direction.where(); });
    }

    // Something failed, no rule explains it, and packets were lost or changed.
    void add(const Direction& direction, std::set<const LinkRecord::Done*>& told) const {
        for (const auto& all : {to_requests(direction), to_responses(direction)})
            for (const LinkRecord::Done* done : all)
                if (told.insert(done).second)
                    add(*done, direction.where());
    }

    void add(const LinkRecord::Done& done, std::string where) const {
        const bool is_changed = is_change(done.what);
        if (!is_changed && !is_loss(done.what))
            return;
        Cause& cause =
            add_fatal(causes_, is_changed ? Code::Corruption : Code::Loss, Certainty::Likely,
                      is_changed ? "packets of this connection were changed."
                                 : "packets of this connection were lost.",
                      std::move(where));
        add(done, cause);
    }

    const LinkRecord& record_;
    const Directions& directions_;
    Causes& causes_;
};

}  // namespace

std::string LinkRecord::Done::sentence() const {
    return fmt::format(" Rule {} of the link emulator, `{}`, did it: {} {}.", rule, text,
                       explain::packets(packets, "was", "were"), past_of(what));
}

void LinkRecord::learn(const runlog::Event& event) {
    const auto qpn = event[key::dest_qpn];
    const auto rule = event[key::rule];
    if (!qpn || !rule || event[key::copy])
        return;
    const bool is_queued =
        event.is("limit") && event[key::detail].find("dropped") == std::string::npos;
    const std::string what(is_queued ? queued : event.name);
    Done& done = all_[{Place(event[key::from], event[key::to], *qpn), *rule, what}];
    if (is_request(event[key::opcode_name]))
        done.last_request = event[key::psn];
    if (done.packets++ == 0) {
        done.rule = *rule;
        done.what = what;
        done.text = event[key::text];
        done.first = evidence(event);
    }
}

std::vector<const LinkRecord::Done*> LinkRecord::of(std::string_view from, std::string_view to,
                                                    std::uint32_t dest_qpn) const {
    const Place wanted{std::string(from), std::string(to), dest_qpn};
    std::vector<const Done*> found;
    for (const auto& [at, done] : all_)
        if (std::get<Place>(at) == wanted)
            found.push_back(&done);
    return found;
}

std::vector<const LinkRecord::Done*> LinkRecord::of_manager(std::string_view where) const {
    const std::string_view ends = where.substr(0, where.find(", port "));
    std::vector<const Done*> found;
    for (const auto& [at, done] : all_) {
        const auto& [from, to, qpn] = std::get<Place>(at);
        if (qpn == gsi_qpn &&
            (ends == from || ends == to || ends == fmt::format("{} → {}", from, to) ||
             ends == fmt::format("{} → {}", to, from)))
            found.push_back(&done);
    }
    return found;
}

void explain_link(const Whole& whole, bool has_failed, Causes& causes) {
    if (!whole.link.empty())
        Link(whole, causes).explain(has_failed);
}

}  // namespace explain
