// Lesson 14, part 3: what the lessons about memory windows share: a region that allows windows, and
// the results of the attempts.
#pragma once

#include <span>
#include <string_view>

#include <fmt/format.h>

#include "pages.hpp"
#include "pair.hpp"
#include "rdma/names.hpp"

namespace lesson14 {

/// Memory whose region allows windows, and the part that a window exposes.
struct Exposed {
    static constexpr std::size_t window_length = 4096;

    Pages pages;
    rdma::Mr mr;
    std::span<std::byte> window;  // the second page
    ibv_sge source{};             // what is written into it

    Exposed(const Host& host, std::size_t length) : pages(length, Backing::small) {
        pages.touch();
        const std::span<std::byte> memory = pages.bytes();
        mr.reset(CHECK_PTR(
            ibv_reg_mr(host.pd, memory.data(), memory.size(),
                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND)));
        window = memory.subspan(window_length, window_length);
        source = sge_of(memory.last(64), *mr);
    }
};

/// Logs the result of a request that must succeed, or that the device must refuse. Throws
/// util::Error on another result.
class Attempts {
  public:
    Attempts(runlog::Log& log, unsigned type) : log_(log), type_(type) {}

    void log(std::string_view what, ibv_wc_status status) const {
        log_.event("mw", {{"type", type_}, {"what", what}, {"status", rdma::name_of(status)}});
    }
    void succeeds(std::string_view what, ibv_wc_status status) const {
        log(what, status);
        if (status != IBV_WC_SUCCESS)
            throw util::Error(
                fmt::format("the device refused an operation that it must allow: {}.", what));
    }
    void is_refused(std::string_view what, ibv_wc_status status) const {
        log(what, status);
        if (status == IBV_WC_SUCCESS)
            throw util::Error(
                fmt::format("the device allowed an operation that it must refuse: {}.", what));
    }

  private:
    runlog::Log& log_;
    unsigned type_;
};

}  // namespace lesson14
