// The requests of one call that posts, until the provider has answered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "rocetrace/interpose/queue_pair.hpp"
#include "rocetrace/interpose/sink.hpp"
#include "rocetrace/tracelog/wr_kind.hpp"

namespace interpose {

/// A record with what both interfaces know when a request begins; the caller adds the rest.
inline void begin_record(tracelog::PostSend& record, const TracedQueuePair& pair,
                         std::uint64_t wr_id, ibv_wr_opcode opcode, unsigned send_flags) {
    using tracelog::PostSend;
    record.header = {0, tracelog::Kind::post_send, 0, 0};
    record.wr_id = wr_id;
    record.remote_va = 0;
    record.qpn = pair.qpn;
    record.len = record.rkey = record.imm = 0;
    record.opcode = static_cast<std::uint16_t>(std::min<std::uint32_t>(opcode, UINT16_MAX));
    record.send_flags = static_cast<std::uint16_t>(send_flags);
    if (pair.signals_all || (send_flags & IBV_SEND_SIGNALED) != 0)
        record.header.flags |= PostSend::is_signaled;
    if (pair.type == IBV_QPT_UD)
        record.header.flags |= PostSend::is_ud;
}

/// The beginning of the event "failed" of a call that posts.
inline EventWriter<"failed"> refusal(const TracedQueuePair& pair, const char* call, int error) {
    EventWriter<"failed"> event = failure(call, error);
    event.add(key::qpn, pair.qpn).add(key::state, pair.state);
    return event;
}

template <typename Record>
void add_list(EventWriter<"failed">& event, const Record& record) {
    using tracelog::SgeList;
    event.add(key::len, record.len);
    const std::uint32_t recorded = SgeList::recorded(record.header);
    if (recorded != 0)
        event.add(key::sges, std::span(record.sges.entries, recorded));
    if (const std::uint32_t all = SgeList::count(record.header); all > recorded)
        event.add(key::more_sges, all - recorded);
}

/// Adds the fields of the request that was refused.
inline void add_fields(EventWriter<"failed">& event, const tracelog::PostRecv& record) {
    event.add(key::wr_id, record.wr_id);
    add_list(event, record);
}
inline void add_fields(EventWriter<"failed">& event, const tracelog::PostSend& record) {
    event.add(key::wr_id, record.wr_id).add(key::opcode, record.opcode);
    if (tracelog::is_one_sided(record.opcode) || tracelog::is_atomic(record.opcode))
        event.add(key::remote_va, record.remote_va).add(key::rkey, record.rkey);
    if (record.send_flags != 0)
        event.add(key::send_flags, record.send_flags);
    add_list(event, record);
}

/// Before the post returns, a completion may arrive and the program may reuse the memory of its
/// requests. So their records are written before the provider gets them, and published when it has
/// accepted them; rocetrace reads the others only if the process ends inside the post. The queue
/// pair's lock must be held for as long as the object exists.
class Posting {
  public:
    Posting(TracedQueuePair& pair, ThreadSink& thread, tracelog::Category category)
        : pair_(pair),
          thread_(thread),
          wants_(wants(category)),
          writes_(wants_ && thread.has_ring),
          t_ns_(std::max(thread.clock.read(), pair.last_ns + 1)),
          begin_(thread.ring.end()),
          next_psn_(pair.next_psn) {
        pair.last_ns = t_ns_;
    }

    void add(tracelog::PostSend& record) {
        using tracelog::PostSend;
        record.request =
            pair_.sends.stage(record.wr_id, (record.header.flags & PostSend::is_signaled) != 0);
        if (pair_.take_psns(static_cast<ibv_wr_opcode>(record.opcode), record.len, record.psn_first,
                            record.psn_last))
            record.header.flags |= PostSend::has_psns;
        write(record);
    }
    void add(tracelog::PostRecv& record) {
        pair_.receives.stage(record.wr_id, true);
        write(record);
    }
    /// For the case that the process ends inside the post.
    void announce() {
        if (writes_)
            thread_.ring.announce();
    }
    /// The provider has accepted all that were added.
    void accept() {
        pair_.sends.accept();
        pair_.receives.accept();
        if (writes_)
            thread_.ring.publish();
        lose(thread_, dropped_);
    }
    /// It has not, or not all: those that it has accepted must be added again.
    void take_back() {
        pair_.sends.take_back();
        pair_.receives.take_back();
        pair_.next_psn = next_psn_;
        dropped_ = 0;
        if (writes_)
            thread_.ring.rewind(begin_);
    }

  private:
    template <typename Record>
    void write(Record& record) {
        record.header.t_ns = t_ns_;
        if (wants_ && !(writes_ && thread_.ring.put_post(record)))
            ++dropped_;
    }

    TracedQueuePair& pair_;
    ThreadSink& thread_;
    bool wants_;
    bool writes_;
    std::int64_t t_ns_;
    std::uint64_t begin_;
    std::uint64_t dropped_ = 0;
    std::uint32_t next_psn_;
};

}  // namespace interpose
