// Lesson 13, the server: what all clients share: the words and two keys for them.
#pragma once

#include <atomic>

#include "limits.hpp"
#include "rdma/handles.hpp"
#include "words.hpp"

namespace lesson13 {

/// Created for the first client, destroyed with the last. Throws util::Error if the device does not
/// support atomics, std::system_error if a verb fails.
struct SharedWords {
    ibv_device_attr device;
    rdma::Pd pd;
    Words words;
    rdma::Mr mr, mr_without_atomics;
    rdma::Cq cq;  // stays empty: no atomic of a client completes at the server

    // REMOTE_ATOMIC is a separate right. Like REMOTE_WRITE it requires LOCAL_WRITE (ibv_reg_mr(3)).
    SharedWords(ibv_context* context, runlog::Log& log)
        : device(query_device(context)),
          pd(CHECK_PTR(ibv_alloc_pd(context))),
          mr(CHECK_PTR(ibv_reg_mr(pd.get(), &words, sizeof words,
                                  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC))),
          mr_without_atomics(CHECK_PTR(ibv_reg_mr(
              pd.get(), &words, sizeof words,
              IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ))),
          cq(CHECK_PTR(ibv_create_cq(context, 1, nullptr, nullptr, 0))) {
        log_device(context, device, log);
    }

    /// Logs the words as this host's CPU reads them.
    void log_words(runlog::Log& log) {
        log.event("words", {{"counter", std::atomic_ref(words.counter).load()},
                            {"maximum", std::atomic_ref(words.maximum).load()}});
    }
};

}  // namespace lesson13
