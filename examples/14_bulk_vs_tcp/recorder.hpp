// Posts and completions with their times, written to the log a little later: a line takes longer
// than a post. Of a transfer of very many requests only the count.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "examples/common/rc_link.hpp"
#include "verbs/describe.hpp"

namespace step14 {

class Recorder {
  public:
    Recorder(common::RcLink& link, runlog::Log& log, std::uint64_t requests)
        : link_(link), log_(log), is_on_(requests <= most) {
        if (!is_on_)
            log_.note(fmt::format("{} WRITEs: too many to write each of them down", requests));
    }

    void post(ibv_send_wr& wr) {
        if (is_on_)
            kept_.push_back({runlog::now_ns(), wr, *wr.sg_list});
        link_.post_unlogged(wr);
    }

    void completed(const ibv_wc& wc) {
        if (!is_on_)
            return;
        kept_.push_back({runlog::now_ns(), wc, {}});
        // Whoever follows the run waits 300 ms for an event before a packet.
        constexpr std::int64_t old_ns = 150'000'000;
        if (kept_.back().t_ns - kept_.front().t_ns > old_ns)
            write();
    }

    void write() {
        for (Kept& kept : kept_)
            if (auto* wr = std::get_if<ibv_send_wr>(&kept.what)) {
                wr->sg_list = &kept.piece;
                log_.event_at(kept.t_ns, "post_send", link_.describe(*wr));
            } else {
                log_.event_at(kept.t_ns, "wc", verbs::describe(std::get<ibv_wc>(kept.what)));
            }
        kept_.clear();
    }

  private:
    struct Kept {
        std::int64_t t_ns;
        std::variant<ibv_send_wr, ibv_wc> what;
        ibv_sge piece;
    };
    static constexpr std::uint64_t most = 4096;

    common::RcLink& link_;
    runlog::Log& log_;
    bool is_on_;
    std::vector<Kept> kept_;
};

}  // namespace step14
