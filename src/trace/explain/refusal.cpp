// Why the responder refused an access to its memory.
#include <algorithm>
#include <string_view>

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
        if (!role.empty() && case_.whole.logs.is_whole(role))
            by_regions(role);
        else
            as_told();
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

    void by_regions(const std::string& role) {
        const auto all = regions(role);
        std::vector<const Region*> same;
        for (const Region* region : all)
            if (region->rkey == request_.rkey)
                same.push_back(region);
        if (const Region* region = region_without_rkey(role)) {
            Cause& cause =
                add(Code::MissingAccessRight, Certainty::Certain,
                    fmt::format("the region at this address does not allow {}: it has no remote "
                                "rights, and therefore rkey 0.",
                                request_.right));
            cause.add(value(role, region->text()));
            return;
        }
        if (same.empty()) {
            Cause& cause =
                add(Code::WrongRkey, Certainty::Certain,
                    fmt::format("{} has no memory region with rkey {:#010x}.{}",
                                spoken(case_.direction.to), request_.rkey, origin_of_rkey(all)));
            list(all, cause);
            return;
        }
        const Region& region = *same.back();
        if (region.gone_ns && case_.is_before(*region.gone_ns, request_.refused_ns))
            gone(role, region, Certainty::Certain);
        else
            by_region(role, region);
    }

    // Some devices give rkey 0 to a region without remote rights.
    const Region* region_without_rkey(std::string_view role) const {
        const auto& all = case_.whole.logs.regions();
        const auto found = std::ranges::find_if(all, [&](const Region& one) {
            return request_.rkey == 0 && one.role == role && one.rkey == 0 && one.lkey != 0 &&
                   !one.gone_ns && one.has(request_.va, request_.length) &&
                   !one.allows(request_.right);
        });
        return found == all.end() ? nullptr : &*found;
    }

    void gone(const std::string& role, const Region& region, Certainty certainty) {
        Cause& cause = add(Code::Deregistered, certainty,
                           fmt::format("the region with rkey {:#010x} was deregistered or "
                                       "invalidated before the request arrived.",
                                       request_.rkey));
        cause.add(value(role, region.text()));
        cause.add({.role = role,
                   .t_ns = *region.gone_ns,
                   .text = "the region was deregistered or invalidated"});
    }

    void by_region(const std::string& role, const Region& region) {
        const LoggedQueuePair* responder = case_.direction.responder;
        if (responder != nullptr && responder->pd && region.pd && *responder->pd != *region.pd) {
            Cause& cause =
                add(Code::OtherPd, Certainty::Certain,
                    fmt::format("the region with rkey {:#010x} is in protection domain {}, and the "
                                "queue pair in {}.",
                                region.rkey, *region.pd, *responder->pd));
            cause.add(value(role, region.text()));
            return;
        }
        if (!region.has(request_.va, request_.length)) {
            Cause& cause = add(Code::OutOfBounds, Certainty::Certain, bounds(region));
            cause.add(value(role, region.text()));
            return;
        }
        if (!region.allows(request_.right)) {
            Cause& cause = add(Code::MissingAccessRight, Certainty::Certain,
                               fmt::format("the region with rkey {:#010x} does not allow {}.",
                                           region.rkey, request_.right));
            cause.add(value(role, region.text()));
            return;
        }
        if (request_.is_forbidden_by(case_.direction.responder)) {
            add_forbidden(case_, request_, causes_);
            return;
        }
        // The capture's clock does not show when it was deregistered; nothing else is wrong with
        // it.
        if (region.gone_ns && !case_.is_captured_at_responder()) {
            gone(role, region, Certainty::Possible);
            return;
        }
        Cause& cause =
            add(Code::RemoteAccess, Certainty::Likely,
                "the responder refused the access, although its log has a region that fits.");
        cause.add(value(role, region.text()));
    }

    static std::string bytes(std::uint64_t count) {
        return fmt::format("{} byte{}", count, count == 1 ? "" : "s");
    }

    std::string bounds(const Region& region) const {
        constexpr std::uint64_t near = 1 << 20;
        const std::uint64_t end = request_.va + request_.length;
        const std::uint64_t region_end = region.va + region.length;
        if (request_.va >= region.va && end > region_end && end - region_end <= near)
            return fmt::format("the access ends {} past the end of the region.",
                               bytes(end - region_end));
        if (request_.va < region.va && region.va - request_.va <= near)
            return fmt::format("the access begins {} before the region.",
                               bytes(region.va - request_.va));
        return "the access is outside of the region." + origin_of_address(region);
    }

    // What the address could be instead.
    std::string origin_of_address(const Region& region) const {
        constexpr std::uint64_t low = UINT32_MAX;
        const std::uint64_t va = request_.va;
        const auto fits = [&](std::uint64_t address) {
            return region.has(address, request_.length);
        };
        if (fits(__builtin_bswap64(va)))
            return fmt::format(" In the other byte order, {:#x} lies in it.", va);
        if (fits((region.va & ~low) | (va & low)))
            return fmt::format(" The low 32 bits of {:#x} are right, the high 32 bits are not.",
                               va);
        if (const Region* own = own_region_at(va))
            return fmt::format(" {:#x} is an address of {}: {:#x} + {} B.", va,
                               spoken(case_.direction.from), own->va, own->length);
        if (va < region.length && request_.length <= region.length - va)
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

    // Without the responder's log: uses what the requester was told about the memory.
    void as_told() {
        std::vector<const Told*> told;
        for (const Told& one : case_.whole.logs.told())
            if (one.role == case_.direction.requester_role)
                told.push_back(&one);
        const auto same = std::ranges::find_if(
            told, [this](const Told* one) { return one->rkey == request_.rkey; });
        if (!told.empty() && same == told.end()) {
            Cause& cause = add(Code::WrongRkey, Certainty::Likely,
                               fmt::format("rkey {:#010x} is not one of those that {} received.",
                                           request_.rkey, spoken(case_.direction.from)));
            cause.add(
                value(told.back()->role, fmt::format("received rkey {:#010x}", told.back()->rkey)));
            return;
        }
        if (same != told.end()) {
            Region region;
            region.va = (*same)->va;
            region.length = (*same)->length;
            if (!region.has(request_.va, request_.length)) {
                Cause& cause = add(Code::OutOfBounds, Certainty::Likely, bounds(region));
                cause.add(value((*same)->role, fmt::format("received memory {:#x} + {} B",
                                                           region.va, region.length)));
                return;
            }
        }
        if (as_accepted_before())
            return;
        add(Code::RemoteAccess, Certainty::Certain,
            "the responder refused the access to its memory. Only its run log shows which of rkey, "
            "bounds, rights, registration and protection domain is wrong.");
    }

    // Without any log: the accesses with the same rkey that the responder executed before.
    bool as_accepted_before() {
        if (request_.packet == nullptr)
            return false;
        const Seen* same = nullptr;       // the same bytes, in the same way
        const Seen* otherwise = nullptr;  // the same bytes, in another way
        std::uint64_t end = 0;            // of what was accepted
        for (const Seen* one : case_.direction.requests) {
            if (one->frame >= request_.packet->frame ||
                distance(one->psn, request_.packet->psn) <= 0 || one->rkey != request_.rkey ||
                right_of(*one).empty())
                continue;
            end = std::max(end, one->va + one->dmalen);
            if (one->va > request_.va || one->va + one->dmalen < request_.va + request_.length)
                continue;
            (right_of(*one) == request_.right ? same : otherwise) = one;
        }
        const Seen* known = same != nullptr ? same : otherwise;
        if (known != nullptr) {
            Cause& cause = add(
                same != nullptr ? Code::Deregistered : Code::MissingAccessRight, Certainty::Likely,
                same != nullptr
                    ? "the responder executed such an access to the same bytes before: the "
                      "region has been deregistered or invalidated since."
                    : fmt::format("the responder executed another access to the same bytes "
                                  "before: its rkey and bounds are right, and {} is missing.",
                                  request_.right));
            cause.evidence.insert(cause.evidence.begin(), evidence(*known));
            return true;
        }
        if (end == 0 || end >= request_.va + request_.length)
            return false;
        add(Code::OutOfBounds, Certainty::Possible,
            fmt::format("the responder executed accesses with this rkey before, up to {:#x}; this "
                        "one ends at {:#x}: probably behind the region.",
                        end, request_.va + request_.length));
        return true;
    }

    void list(const std::vector<const Region*>& all, Cause& cause) const {
        constexpr std::size_t most = 3;
        for (std::size_t i = 0; i < std::min(all.size(), most); ++i)
            cause.add(value(all[i]->role, all[i]->text()));
        if (all.size() > most)
            cause.add(
                value(all.front()->role, fmt::format("and {} more regions", all.size() - most)));
    }

    const Case& case_;
    const RefusedRequest& request_;
    Causes& causes_;
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

}  // namespace explain
