// Posts and completions of a measurement. To write one down takes longer than what is measured: so
// they are kept with their times, and go to the log when the measurement is over. Until then
// nothing else may.
#pragma once

#include <exception>
#include <type_traits>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "link.hpp"
#include "util/printable.hpp"

namespace step12 {

class Recorder {
  public:
    /// `room`: for so many posts and completions nothing is allocated.
    Recorder(Link& link, std::size_t room) : link_(link) { kept_.reserve(room); }
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;
    Recorder(Recorder&&) = delete;
    Recorder& operator=(Recorder&&) = delete;
    // What ends a measurement early is thrown; what was until then is written all the same.
    ~Recorder() {
        try {
            write();
        } catch (const std::exception& error) {
            util::print_error(fmt::format("{}\n", error.what()));
        }
    }

    /// Requests have one piece. Throws as Link::post_send() and post_recv() do.
    void post_send(ibv_send_wr& wr) {
        keep(runlog::now_ns(), wr);
        link_.post_unlogged(wr);
    }
    void post_recv(ibv_recv_wr& wr) {
        keep(runlog::now_ns(), wr);
        link_.post_unlogged(wr);
    }

    /// What ibv_post_send has taken of a list: all of it, or what stands before `refused`.
    void posted(std::int64_t t_ns, const ibv_send_wr* list, const ibv_send_wr* refused) {
        for (; list != refused; list = list->next)
            keep(t_ns, *list);
    }

    void completed(const ibv_wc& wc) { kept_.push_back({runlog::now_ns(), wc, {}}); }

    /// Of what takes long: whoever follows the run waits 300 ms for an event before a packet.
    void write_old() {
        constexpr std::int64_t old_ns = 150'000'000;
        if (!kept_.empty() && runlog::now_ns() - kept_.front().t_ns > old_ns)
            write();
    }

    void write() {
        for (Kept& kept : kept_)
            std::visit(
                [&](auto& what) {
                    using What = std::remove_cvref_t<decltype(what)>;
                    if constexpr (std::is_same_v<What, ibv_wc>) {
                        link_.log().event_at(kept.t_ns, "wc", verbs::describe(what));
                    } else {
                        what.sg_list = &kept.piece;
                        link_.log().event_at(
                            kept.t_ns,
                            std::is_same_v<What, ibv_send_wr> ? "post_send" : "post_recv",
                            link_.describe(what));
                    }
                },
                kept.what);
        kept_.clear();
    }

  private:
    struct Kept {
        std::int64_t t_ns;
        std::variant<ibv_send_wr, ibv_recv_wr, ibv_wc> what;
        ibv_sge piece;
    };

    template <typename Wr>
    void keep(std::int64_t t_ns, const Wr& wr) {
        kept_.push_back({t_ns, wr, *wr.sg_list});
    }

    Link& link_;
    std::vector<Kept> kept_;
};

}  // namespace step12
