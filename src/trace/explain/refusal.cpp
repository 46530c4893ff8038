// Why the responder refused an access to its memory, by its log. Without: refusal_without_log.cpp.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/explain/refused_request.hpp"

namespace explain {
namespace {

class Access {
  public:
    Access(const Case& one, const RefusedRequest& request, Causes& causes)
        : case_(one), request_(request), causes_(causes) {}

    void explain() {
        const std::string& role = case_.direction.responder_role;
        if (request_.is_cut)
            add(Code::RemoteAccess, Certainty::Certain,
                "the responder refused the access to its memory, and the capture cut off the "
                "request's rkey and address.");
        else if (!role.empty() &&
                 (case_.is_responders_log_whole() ||
                  (case_.whole.logs.is_gapless(role) && region_of(role) != nullptr)))
            by_log(role);
        else
            explain_without_log(case_, request_, causes_);
    }

  private:
    Cause& add(Code code, Certainty certainty, std::string text) {
        return add_refused(case_, request_, causes_, code, certainty, std::move(text));
    }

    std::vector<const Region*> regions(std::string_view role) const {
        std::vector<const Region*> found;
        for (const Region& region : case_.whole.logs.regions())
            if (region.role == role && region.rkey != 0)
                found.push_back(&region);
        return found;
    }

    // A check that the responder makes of an access, with its result by the responder's log.
    enum class Outcome : std::uint8_t { Passed, Failed, Unknown };
    struct Check {
        Code code{};
        Outcome outcome{};
        std::string text;  // if it passed: the data that show it; otherwise the cause
        std::vector<Evidence> evidence;
    };

    static Check passed(Code code, std::string text) {
        return {code, Outcome::Passed, std::move(text), {}};
    }
    static Check failed(Code code, std::string text, std::vector<Evidence> evidence) {
        return {code, Outcome::Failed, std::move(text), std::move(evidence)};
    }
    static Check unknown(Code code) { return {code, Outcome::Unknown, {}, {}}; }

    void by_log(const std::string& role) {
        const Region* region = region_of(role);
        // The log has no rkey that a program derived, as for a memory window (ibv_inc_rkey(3)).
        if (region == nullptr && explain_as_accepted(case_, request_, causes_))
            return;
        const std::vector<Check> checks =
            region == nullptr
                ? without_region(role)
                : std::vector{
                      passed(Code::WrongRkey, fmt::format("{} registered memory with rkey {:#010x}",
                                                          spoken(role), region->rkey)),
                      registration(*region), domain(*region), in_bounds(*region), right(*region)};
        const std::size_t before = causes_.size();
        for (const Check& check : checks)
            if (check.outcome == Outcome::Failed)
                add(check, checks);
        if (causes_.size() != before)
            return;
        const auto open = std::ranges::find_if(checks, [](const Check& check) {
            return check.outcome == Outcome::Unknown && !check.text.empty();
        });
        if (open != checks.end())
            add(*open, checks);
        else
            add(Code::RemoteAccess, Certainty::Likely,
                "the responder refused the access, although its log has a region that fits.")
                .add(value(role, region->text()));
    }

    void add(const Check& check, const std::vector<Check>& all) {
        Cause& cause = add(
            check.code, check.outcome == Outcome::Failed ? Certainty::Certain : Certainty::Possible,
            check.text);
        for (const Evidence& one : check.evidence)
            cause.add(one);
        for (const Check& other : all)
            cause.consider(other.code, other.outcome == Outcome::Passed ? std::optional(other.text)
                                                                        : std::nullopt);
    }

    // Some devices give rkey 0 to a region without remote rights.
    const Region* region_of(std::string_view role) const {
        const Region* found = nullptr;
        for (const Region& one : case_.whole.logs.regions())
            if (one.role == role && one.rkey == request_.rkey &&
                (one.rkey != 0 || (one.lkey != 0 && !one.gone_ns && !one.allows(request_.right) &&
                                   one.has(request_.va, request_.length))))
                found = &one;
        return found;
    }

    std::vector<Check> without_region(const std::string& role) const {
        const auto all = regions(role);
        return {failed(Code::WrongRkey,
                       fmt::format("{} has no memory region with rkey {:#010x}.{}",
                                   spoken(case_.direction.to), request_.rkey, origin_of_rkey(all)),
                       list(all)),
                passed(Code::Deregistered,
                       fmt::format("no region in the log of {} ever had this rkey", spoken(role)))};
    }

    Check registration(const Region& region) const {
        constexpr Code code = Code::Deregistered;
        if (!region.gone_ns)
            return passed(code, "the log has no deregistration of it");
        const std::string_view what =
            region.lkey == 0 ? "bound anew or invalidated" : "deregistered or invalidated";
        constexpr std::int64_t doubt_ns = 200'000'000;  // between the clocks of two hosts
        const bool is_gone = case_.is_before(*region.gone_ns, request_.refused_ns);
        if (!is_gone &&
            (case_.is_captured_at_responder() || *region.gone_ns - request_.refused_ns > doubt_ns))
            return passed(code, fmt::format("it was {} {} after that", what,
                                            milliseconds(*region.gone_ns - request_.refused_ns)));
        // The capture's clock may not show whether it was deregistered before.
        return {
            code,
            is_gone ? Outcome::Failed : Outcome::Unknown,
            fmt::format("the {} with rkey {:#010x} was {} before the request arrived.",
                        region.lkey == 0 ? "window" : "region", request_.rkey, what),
            {value(region.role, region.text()),
             {.role = region.role,
              .t_ns = *region.gone_ns,
              .text = fmt::format("the {} was {}", region.lkey == 0 ? "window" : "region", what)}}};
    }

    Check domain(const Region& region) const {
        constexpr Code code = Code::OtherPd;
        const LoggedQueuePair* responder = case_.direction.responder;
        if (responder == nullptr || !responder->pd || !region.pd)
            return unknown(code);
        if (*responder->pd == *region.pd)
            return passed(code,
                          fmt::format("the region and the queue pair are in protection domain {}",
                                      *region.pd));
        return failed(code,
                      fmt::format("the region with rkey {:#010x} is in protection domain {}, and "
                                  "the queue pair in {}.",
                                  region.rkey, *region.pd, *responder->pd),
                      {value(region.role, region.text())});
    }

    Check in_bounds(const Region& region) const {
        constexpr Code code = Code::OutOfBounds;
        if (!region.has(request_.va, request_.length))
            return failed(code, bounds_text(case_, request_, region),
                          {value(region.role, region.text())});
        return passed(code, fmt::format("{:#x} + {} B lies in {:#x} + {} B", request_.va,
                                        request_.length, region.va, region.length));
    }

    Check right(const Region& region) const {
        constexpr Code code = Code::MissingAccessRight;
        const LoggedQueuePair* responder = case_.direction.responder;
        if (!region.allows(request_.right))
            return failed(code,
                          region.rkey == 0
                              ? fmt::format("the region at this address does not allow {}: it has "
                                            "no remote rights, and therefore rkey 0.",
                                            request_.right)
                              : fmt::format("the region with rkey {:#010x} does not allow {}.",
                                            region.rkey, request_.right),
                          {value(region.role, region.text())});
        if (responder == nullptr || responder->access.empty())
            return unknown(code);
        if (request_.is_forbidden_by(responder))
            return failed(code, forbidden_text(*responder, request_), {access_of(*responder)});
        return passed(code, fmt::format("the region and the queue pair have {}", request_.right));
    }

    // What the rkey could be instead.
    std::string origin_of_rkey(const std::vector<const Region*>& all) const {
        const std::uint32_t swapped = __builtin_bswap32(request_.rkey);
        if (std::ranges::any_of(all, [&](const Region* one) { return one->rkey == swapped; }))
            return fmt::format(" In the other byte order it is {:#010x}, which it has.", swapped);
        const std::string& from = case_.direction.requester_role;
        if (!from.empty() && from != case_.direction.responder_role &&
            std::ranges::any_of(case_.whole.logs.regions(), [&](const Region& one) {
                return one.role == from && one.rkey == request_.rkey;
            }))
            return fmt::format(" It is the rkey of a region of {}.", spoken(from));
        return {};
    }

    static std::vector<Evidence> list(const std::vector<const Region*>& all) {
        constexpr std::size_t most = 3;
        std::vector<Evidence> listed;
        for (std::size_t i = 0; i < std::min(all.size(), most); ++i)
            listed.push_back(value(all[i]->role, all[i]->text()));
        if (all.size() > most)
            listed.push_back(
                value(all.front()->role, fmt::format("and {} more regions", all.size() - most)));
        return listed;
    }

    const Case& case_;
    const RefusedRequest& request_;
    Causes& causes_;
};

// How an access is outside of a region.
class Bounds {
  public:
    Bounds(const Case& one, const RefusedRequest& request, const Region& region)
        : case_(one), request_(request), region_(region) {}

    std::string text() const {
        constexpr std::uint64_t near = 1 << 20;
        const std::uint64_t end = request_.va + request_.length;
        const std::uint64_t region_end = region_.va + region_.length;
        if (request_.va >= region_.va && end > region_end && end - region_end <= near)
            return fmt::format("the access ends {} past the end of the region.",
                               bytes(end - region_end));
        if (request_.va < region_.va && region_.va - request_.va <= near)
            return fmt::format("the access begins {} before the region.",
                               bytes(region_.va - request_.va));
        return "the access is outside of the region." + origin();
    }

  private:
    static std::string bytes(std::uint64_t count) {
        return fmt::format("{} byte{}", count, count == 1 ? "" : "s");
    }

    // What the address could be instead.
    std::string origin() const {
        constexpr std::uint64_t low = UINT32_MAX;
        const std::uint64_t va = request_.va;
        const auto fits = [&](std::uint64_t address) {
            return region_.has(address, request_.length);
        };
        if (fits(__builtin_bswap64(va)))
            return fmt::format(" In the other byte order, {:#x} lies in it.", va);
        if (fits((region_.va & ~low) | (va & low)))
            return fmt::format(" The low 32 bits of {:#x} are right, the high 32 bits are not.",
                               va);
        if (const Region* own = own_region_at(va))
            return fmt::format(" {:#x} is an address of {}: {:#x} + {} B.", va,
                               spoken(case_.direction.from), own->va, own->length);
        if (va < region_.length && request_.length <= region_.length - va)
            return fmt::format(" {:#x} is an offset; the request needs an address.", va);
        return {};
    }

    const Region* own_region_at(std::uint64_t va) const {
        const auto& all = case_.whole.logs.regions();
        const auto found = std::ranges::find_if(all, [&](const Region& region) {
            return region.role == case_.direction.requester_role && region.has(va, 1);
        });
        return found == all.end() ? nullptr : &*found;
    }

    const Case& case_;
    const RefusedRequest& request_;
    const Region& region_;
};

}  // namespace

void explain_refusal(const Case& one, Causes& causes) {
    const auto request = refused_request(one);
    if (!request)
        return;
    if (request->reason == Refused::Access && !request->right.empty())
        Access(one, *request, causes).explain();
    else
        explain_not_executed(one, *request, causes);
}

std::string bounds_text(const Case& one, const RefusedRequest& request, const Region& region) {
    return Bounds(one, request, region).text();
}

}  // namespace explain
