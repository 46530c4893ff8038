// Model of the requester of a reliable connection (IBTA volume 1, 9.7.3 and 9.7.6): each request is
// the next one, or a retransmission that has a cause.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "trace/conformance/finding.hpp"
#include "trace/conformance/half_connection.hpp"
#include "trace/conformance/sequence.hpp"

namespace conformance {

/// Why a requester goes back.
enum class GoBack : std::uint8_t { None, Nak, ImpliedNak, RnrNak, Timeout };

/// "NAK", "implied NAK", "RNR NAK", "timeout"; "nothing".
std::string_view name(GoBack cause);

/// Consecutive retransmissions.
struct Resend {
    GoBack cause = GoBack::None;
    std::optional<ObservedPacket> asked_by;  ///< the response that caused it, if any
    ObservedPacket first;                    ///< the first retransmitted packet
    wire::Psn last_psn;                      ///< highest PSN used by the retransmitted packets
    std::uint64_t packets = 0;
    std::int64_t silence_ns = 0;  ///< since the last request before it
    /// The response that acknowledged `last_psn`.
    std::optional<ObservedPacket> ended_by;
};

class Requester {
  public:
    Requester(const HalfConnectionFacts& facts, HalfFindings& findings, Keep keep,
              const Shared& shared);

    /// Returns whether it is a copy: captured before, and sent once.
    bool sent(const ObservedPacket& request);
    void arrived(const ObservedPacket& response);
    void finish(std::int64_t end_ns);
    /// Forgets the retransmissions that began before this frame, but not the last one.
    void forget_before(std::uint64_t frame);

    /// PSN of the first request; nullopt: none was sent.
    std::optional<wire::Psn> first_psn() const { return first_psn_; }
    /// With Keep::Window, the newest.
    const std::vector<Resend>& resends() const { return resends_; }
    std::uint64_t repeated_packets() const { return repeated_packets_; }
    /// Packets that were captured a second time, but were sent once: copies of the path.
    std::uint64_t copied_packets() const { return copied_packets_; }
    /// Retransmissions by the timer.
    std::uint64_t timeouts() const { return timeouts_; }
    /// Retransmissions that no RNR NAK caused.
    std::uint64_t retries() const { return retries_; }
    /// NAKs with a PSN that acknowledged something new.
    std::uint64_t naks_that_acknowledged() const { return naks_that_acknowledged_; }
    /// Number of retransmissions that were not acknowledged before it stopped.
    std::optional<std::uint64_t> gave_up_after() const { return gave_up_after_; }

  private:
    struct Sent {  // one request packet; sorted by PSN
        ExtendedPsn place = 0;
        std::uint32_t psns = 1;
        std::uint32_t rkey = 0;
        std::uint32_t dmalen = 0;
        std::uint64_t va = 0;
        std::uint64_t form = 0;
        std::uint64_t digest = 0;
        std::uint64_t frame = 0;
        std::int64_t last_ns = 0;
        bool wants_data = false;
        bool is_cut = false;
        bool has_wrong_icrc = false;

        /// Takes over what a retransmission must keep.
        void learn(const ObservedPacket& request) {
            rkey = request.rkey;
            dmalen = request.dmalen;
            va = request.va;
            form = request.form;
            digest = request.digest;
            frame = request.frame;
            is_cut = request.is_cut;
            has_wrong_icrc = request.has_wrong_icrc;
        }
    };
    struct Asked {  // a response that demands go-back-N
        ExtendedPsn place = 0;
        ObservedPacket response;
        /// It arrived just after that PSN was retransmitted, or it was acted on already.
        bool may_be_late = false;
        /// Number of equal responses: each may make the requester go back.
        unsigned copies = 1;
    };
    struct Advance {
        ExtendedPsn acknowledged = 0;
        std::int64_t t_ns = 0;
    };

    // Maximum time until a host acts on an arrival or on its timer.
    static constexpr std::int64_t lag_ns = 50'000'000;

    void begin(const ObservedPacket& request);
    bool is_far(ExtendedPsn place) const;
    bool goes_on_far(const ObservedPacket& request);
    void restart(wire::Psn first);
    void new_request(const ObservedPacket& request, ExtendedPsn place);
    void again(const ObservedPacket& request, ExtendedPsn place);
    void forget();
    void forget_resends(std::size_t count);
    // requester_resend.cpp
    bool is_asked_for(ExtendedPsn place) const;
    void drop_stale(std::int64_t now_ns);
    void go_back(const ObservedPacket& request, ExtendedPsn place);
    GoBack asked_back(const ObservedPacket& request, ExtendedPsn place, Resend& resend);
    void count_timeout(const ObservedPacket& request, ExtendedPsn place);
    GoBack without_asking(const ObservedPacket& request, ExtendedPsn place);
    void compare(const ObservedPacket& request, ExtendedPsn place);
    // requester.cpp
    static void ask(std::optional<Asked>& asked, const Asked& now);
    void acknowledge(ExtendedPsn next, const ObservedPacket& response);
    void advance(ExtendedPsn next, const ObservedPacket& response);
    ExtendedPsn acknowledged_at(std::int64_t t_ns) const;
    std::vector<Sent>::const_iterator first_open() const;
    Sent* holder_of(ExtendedPsn place);
    Finding& report(Code code, const ObservedPacket& at, std::string text,
                    std::vector<std::uint64_t> because = {});

    HalfConnectionFacts facts_;
    HalfFindings& findings_;
    Keep keep_;
    const Shared& shared_;
    std::optional<wire::Psn> first_psn_;
    std::optional<wire::Psn> far_;  // of the newest request outside the sequence
    Sequence sequence_;
    ExtendedPsn next_ = 0;          // of the next new request
    ExtendedPsn cursor_ = 0;        // of the next packet during a resend; else next_
    ExtendedPsn acknowledged_ = 0;  // all PSNs before it
    std::vector<Sent> sent_;
    std::deque<Advance> advances_;
    std::optional<Asked> nak_, rnr_, implied_;
    std::optional<Asked> earlier_nak_;  // the one before nak_
    std::vector<Resend> resends_;
    std::size_t ended_ = 0;  // number of finished resends_
    std::int64_t last_sent_ns_ = 0;
    std::uint64_t timeouts_in_a_row_ = 0;
    // Without any response in between.
    std::uint64_t silent_timeouts_ = 0;
    std::int64_t last_timeout_ns_ = 0;
    std::uint64_t timeouts_ = 0;
    std::uint64_t repeated_packets_ = 0;
    std::uint64_t copied_packets_ = 0;
    flow::NewestPackets newest_;
    std::uint64_t retries_ = 0;
    std::uint64_t naks_that_acknowledged_ = 0;
    std::optional<std::uint64_t> gave_up_after_;
};

}  // namespace conformance
