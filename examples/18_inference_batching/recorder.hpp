// What a program has done, with its times, written to the log a little later: writing a line takes
// as long as many a post.
#pragma once

#include <exception>
#include <optional>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "runlog/log.hpp"
#include "util/printable.hpp"
#include "util/stop_signal.hpp"
#include "verbs/describe.hpp"

namespace step18 {

/// While something is kept, nothing else may be written to the log.
class Recorder {
  public:
    explicit Recorder(runlog::Log& log) : log_(log) {}
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;
    Recorder(Recorder&&) = delete;
    Recorder& operator=(Recorder&&) = delete;
    // What is thrown ends the program; what was until then is written all the same.
    ~Recorder() {
        try {
            write();
        } catch (const std::exception& error) {
            util::print_error(fmt::format("{}\n", error.what()));
        }
    }

    /// Requests of one piece, or of none. The queue pair lives until write().
    void post_send(const ibv_qp& qp, const ibv_send_wr& wr, std::optional<verbs::PsnRange> psns) {
        keep(Send{&qp, wr, wr.num_sge > 0 ? *wr.sg_list : ibv_sge{}, psns});
    }
    void post_recv(const ibv_qp& qp, const ibv_recv_wr& wr) { keep(Receive{&qp, wr}); }
    void completed(const ibv_wc& wc) { keep(wc); }
    void event(std::string_view name, runlog::Fields fields) {
        keep(Named{std::string(name), std::move(fields)});
    }

    bool is_empty() const { return kept_.empty(); }

    /// Whoever follows the run waits 300 ms for an event before a packet.
    void write_old() {
        constexpr std::int64_t old_ns = 150'000'000;
        if (!kept_.empty() && runlog::now_ns() - kept_.front().t_ns > old_ns)
            write();
    }

    void write() {
        for (Kept& kept : kept_)
            std::visit([&](auto& what) { write(kept.t_ns, what); }, kept.what);
        kept_.clear();
    }

  private:
    struct Send {
        const ibv_qp* qp;
        ibv_send_wr wr;
        ibv_sge piece;
        std::optional<verbs::PsnRange> psns;
    };
    struct Receive {
        const ibv_qp* qp;
        ibv_recv_wr wr;
    };
    struct Named {
        std::string name;
        runlog::Fields fields;
    };
    struct Kept {
        std::int64_t t_ns;
        std::variant<Send, Receive, ibv_wc, Named> what;
    };

    template <typename What>
    void keep(What&& what) {
        kept_.push_back({runlog::now_ns(), std::forward<What>(what)});
    }

    void write(std::int64_t t_ns, Send& sent) {
        sent.wr.sg_list = &sent.piece;
        log_.event_at(t_ns, "post_send", verbs::describe(*sent.qp, sent.wr, sent.psns));
    }
    void write(std::int64_t t_ns, Receive& posted) {
        log_.event_at(t_ns, "post_recv", verbs::describe(*posted.qp, posted.wr));
    }
    void write(std::int64_t t_ns, ibv_wc& wc) { log_.event_at(t_ns, "wc", verbs::describe(wc)); }
    void write(std::int64_t t_ns, Named& named) {
        log_.event_at(t_ns, named.name, std::move(named.fields));
    }

    runlog::Log& log_;
    std::vector<Kept> kept_;
};

}  // namespace step18
