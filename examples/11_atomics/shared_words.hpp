// What all clients of step 11's server have in common: the words, and two keys to them.
#pragma once

#include <atomic>
#include <span>

#include "verbs/completion.hpp"
#include "words.hpp"

namespace step11 {

// ibv_reg_mr(3): who lends for writing from afar must be able to write it from here.
inline constexpr int all_rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
inline constexpr int without_atomics = all_rights & ~IBV_ACCESS_REMOTE_ATOMIC;

/// Made for the first client, and gone with the last one. Throws util::Error or std::system_error
/// where a verb fails, and where the device has no atomics.
struct SharedWords {
    ibv_device_attr device;
    verbs::Pd pd;
    verbs::CompletionQueue completions;  // nothing will come: no atomic completes on this side
    Words words;
    verbs::Mr mr, mr_without_atomics;

    SharedWords(ibv_context* context, runlog::Log& log)
        : device(ask_device(context)),
          pd(util::check_ptr(ibv_alloc_pd(context), "ibv_alloc_pd")),
          completions(context, 1),
          mr(lend(all_rights, log)),
          mr_without_atomics(lend(without_atomics, log)) {
        log.event("atomics", verbs::describe_atomics(ibv_get_device_name(context->device), device));
    }

    verbs::Mr lend(int access, runlog::Log& log) {
        verbs::Mr lent =
            verbs::register_memory(pd.get(), std::as_writable_bytes(std::span(&words, 1)), access);
        log.event("mr", verbs::describe(*lent, access));
        return lent;
    }

    // What this host's processor reads, as the device has left it.
    void write_words(runlog::Log& log) {
        log.event("words", {{"counter", std::atomic_ref(words.counter).load()},
                            {"maximum", std::atomic_ref(words.maximum).load()}});
    }
};

}  // namespace step11
