// Why a queue pair may not use the memory of a request or a receive of its own.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {
namespace {

class LocalMemory {
  public:
    LocalMemory(const Logs& logs, const LoggedQueuePair& pair, const Completion& failed)
        : logs_(logs), pair_(pair), failed_(failed) {}

    // As a device checks an entry of a scatter/gather list (IBTA volume 1, 10.6.3.1).
    std::optional<MemoryFault> fault_of(const runlog::Sge& sge) const {
        const Region* region = region_of(sge.lkey);
        if (region == nullptr)
            return unknown(sge);
        const auto fault = [&](std::string text, std::string advice) {
            return MemoryFault{.text = std::move(text),
                               .evidence = {value(pair_.role, region->local_text())},
                               .advice = std::move(advice)};
        };
        if (failed_.post && region->gone_ns && *region->gone_ns <= failed_.post->t_ns)
            return gone(*region, Certainty::Certain);
        if (pair_.pd && region->pd && *pair_.pd != *region->pd)
            return fault(fmt::format("the region with lkey {:#010x} is in protection domain {}, "
                                     "and the queue pair in {}",
                                     sge.lkey, *region->pd, *pair_.pd),
                         "Register the memory in the protection domain of the queue pair.");
        if (!region->has(sge.addr, sge.length))
            return fault(fmt::format("{:#x} + {} B is not within the region with lkey {:#010x}",
                                     sge.addr, sge.length, sge.lkey),
                         "Check address and length of the scatter-gather entries.");
        if (writes() && !region->allows("local_write"))
            return fault(
                fmt::format("the region with lkey {:#010x} does not allow local_write", sge.lkey),
                "Register memory that the adapter writes to (receives, READs, atomics) "
                "with IBV_ACCESS_LOCAL_WRITE.");
        // The program may have deregistered it after the error.
        if (region->gone_ns && *region->gone_ns <= failed_.t_ns)
            return gone(*region, Certainty::Likely);
        return std::nullopt;
    }

  private:
    MemoryFault gone(const Region& region, Certainty certainty) const {
        return {.text = fmt::format("the region with lkey {:#010x} was deregistered before",
                                    region.lkey),
                .certainty = certainty,
                .evidence = {value(pair_.role, region.local_text()),
                             {.role = pair_.role,
                              .t_ns = *region.gone_ns,
                              .text = "the region was deregistered"}},
                .advice = "Keep memory registered until the requests that use it have completed."};
    }

    bool writes() const {
        return failed_.is_receive || (failed_.post && failed_.post->is_read_or_atomic());
    }

    const Region* region_of(std::uint32_t lkey) const {
        const Region* found = nullptr;
        for (const Region& one : logs_.regions())
            if (one.role == pair_.role && one.lkey == lkey && one.registered_ns <= failed_.t_ns)
                found = &one;
        return found;
    }

    // A log without any region does not have the calls that register memory.
    std::optional<MemoryFault> unknown(const runlog::Sge& sge) const {
        const bool has_regions = std::ranges::any_of(logs_.regions(), [&](const Region& one) {
            return one.role == pair_.role && one.lkey != 0;
        });
        if (!has_regions || sge.length == 0 || !logs_.is_whole(pair_.role))
            return std::nullopt;
        return MemoryFault{.text = fmt::format("{} has no memory region with lkey {:#010x}",
                                               spoken(pair_.role), sge.lkey),
                           .evidence = {},
                           .advice = "Use the lkey that ibv_reg_mr returned for this memory."};
    }

    const Logs& logs_;
    const LoggedQueuePair& pair_;
    const Completion& failed_;
};

}  // namespace

std::optional<MemoryFault> memory_fault(const Logs& logs, const LoggedQueuePair& pair,
                                        const Completion& failed) {
    const LocalMemory memory(logs, pair, failed);
    for (const runlog::Sge& sge : failed.sges)
        if (auto fault = memory.fault_of(sge))
            return fault;
    return std::nullopt;
}

void MemoryFault::add_to(Cause& cause) const {
    cause.certainty = std::max(cause.certainty, certainty);
    cause.text.back() = ':';
    cause.text += ' ' + text + '.';
    cause.try_this = advice;
    for (const Evidence& one : evidence)
        cause.add(one);
}

}  // namespace explain
