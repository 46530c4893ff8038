// Why a connection failed or was slow: causes with their evidence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace explain {

enum class Code : std::uint8_t {
    // set-up
    CmRejected,
    CmNoAnswer,
    WrongPsn,
    PathMtuMismatch,
    WrongQpn,
    PeerNotReady,
    WrongGid,
    WrongPKey,
    WrongQKey,
    // silence
    PeerGone,
    PathBroken,
    AcksLost,
    LargePacketsLost,
    TimeoutTooShort,
    // memory access
    WrongRkey,
    OutOfBounds,
    MissingAccessRight,
    Deregistered,
    OtherPd,
    Misaligned,
    RemoteAccess,
    // the program's own calls
    ReceiverNotReady,
    ReceiveTooSmall,
    LocalProtection,
    LocalLength,
    SendQueueFull,
    CqOverrun,
    NotPolled,
    LateRank,
    ReadDepth,
    BufferReused,
    CallFailed,
    // the link
    Loss,
    Reordering,
    Corruption,
    WrongIcrc,
    Congestion,
    OnePath,
    NeedlessRetransmissions,
    // the devices
    Deviation,
    // the capture
    OneSidedCapture,
    CutCapture,
    IncompleteCapture,
    Last = IncompleteCapture,
};

/// Returns a stable name: "wrong-rkey".
std::string_view name(Code code);
/// Returns what to try next, in one or two sentences.
std::string_view advice(Code code);

enum class Certainty : std::uint8_t {
    Possible,  ///< the data fit this cause, and others as well
    Likely,    ///< the data fit no other known cause as well
    Certain,   ///< the data exclude all other known causes
};

/// "possible", "likely", "certain".
std::string_view name(Certainty certainty);

/// A packet, a line of a run log, or a value. Exactly one of `frame` and `role` is set.
struct Evidence {
    std::uint64_t frame = 0;  ///< number in the capture, from 1; 0: not a packet
    std::string role;         ///< the role that wrote the log
    std::int64_t t_ns = 0;    ///< nanoseconds since 1970, by the capture's clock for packets and
                              ///< the host's for logs; 0: a value that holds for the whole log
    std::string text;
};

/// Another cause that the data exclude.
struct Excluded {
    Code code{};
    std::string because;  ///< the data against it, in words
};

struct Cause {
    Code code{};
    Certainty certainty{};
    std::string text;  ///< one sentence
    std::vector<Evidence> evidence;
    /// The direction of the requests concerned, in words: "client → server, QP 0x000012". Empty if
    /// no queue pair is known.
    std::string where;
    /// The connection failed because of it. Other causes only slowed it down or limit the analysis.
    bool is_fatal = false;
    std::int64_t cost_ns = 0;  ///< time lost, as far as known
    /// What to try, with the values of this run; empty: the advice of the code.
    std::string try_this;
    /// What it could have been instead. See consider().
    std::vector<Excluded> excluded;
    std::vector<Code> open;

    /// At most a handful of each kind: the first ones are the most informative.
    void add(Evidence evidence_of_it) { evidence.push_back(std::move(evidence_of_it)); }
    /// Adds an alternative, and the data that exclude it. An alternative without such data leaves the
    /// cause uncertain.
    void consider(Code alternative, std::optional<std::string> because);
    std::string_view advice() const {
        return try_this.empty() ? explain::advice(code) : std::string_view(try_this);
    }
};

/// A role whose clock differs from the capture's by more than usual.
struct ClockOffset {
    std::string role;
    std::int64_t offset_ns = 0;  ///< to be added to its times to get the capture's
};

/// A role whose log is of another run: it was written before the capture or after it, and none of its
/// packets is in the capture.
struct OtherRun {
    std::string role;
    std::int64_t ahead_ns = 0;  ///< from the log to the capture; negative: the log is the later one
};

/// Requests of a direction that were retransmitted without a cause in Explanation::causes.
struct Retransmissions {
    std::string where = {};          ///< as Cause::where
    std::uint64_t packets = 0;       ///< that were sent again
    std::int64_t cost_ns = 0;        ///< from each first copy to the next one
    std::vector<Evidence> evidence;  ///< of the one that cost most
    /// They cost nothing: timers ran on that earlier requests had started, as Soft-RoCE's do. `evidence` begins
    /// with such a request.
    bool is_by_running_timers = false;
};

/// A request that was sent at least three times without a response to the end, of a connection that no fatal
/// cause in Explanation::causes is about.
struct Unanswered {
    std::string where;  ///< as Cause::where
    Evidence last;      ///< its last copy
};

struct Explanation {
    /// Something failed: a request completed with an error, the peer refused one, a connection was
    /// not established, or a requester gave up.
    bool has_failed = false;
    /// The first few signs of the failure, for the case that no cause is known.
    std::vector<Evidence> signs;
    /// The most probable one first.
    std::vector<Cause> causes;
    std::vector<Unanswered> unanswered;
    /// The one that cost most first.
    std::vector<Retransmissions> retransmissions;
    bool is_of_both_ends = false;      ///< the capture is of both ends of the path
    std::vector<ClockOffset> clocks;   ///< by role; the evidence has the times of the logs
    std::vector<OtherRun> other_runs;  ///< then the causes are not those of the capture
    std::uint64_t packets = 0;         ///< of the capture, RoCE only
    std::uint64_t connections = 0;     ///< of reliable transports, as far as visible in packets
};

}  // namespace explain
