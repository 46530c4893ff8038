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
    RemoteAccess,
    // the program's own calls
    ReceiverNotReady,
    ReceiveTooSmall,
    LocalProtection,
    LocalLength,
    SendQueueFull,
    CqOverrun,
    ReadDepth,
    // the link
    Loss,
    Reordering,
    Corruption,
    Congestion,
    NeedlessRetransmissions,
    // the capture
    OneSidedCapture,
};

/// "wrong-rkey": a name that stays the same.
std::string_view name(Code code);
/// What to try next, one or two sentences.
std::string_view advice(Code code);

enum class Certainty : std::uint8_t {
    Possible,  ///< the data fit, and they fit something else as well
    Likely,    ///< the data fit, and nothing else that is known fits as well
    Certain,   ///< the data exclude everything else that is known
};

/// "possible", "likely", "certain".
std::string_view name(Certainty certainty);

/// A packet, a line of a run log, or a value. Exactly one of `frame` and `role` is set.
struct Evidence {
    std::uint64_t frame = 0;  ///< number in the capture, from 1; 0: it is no packet
    std::string role;         ///< whose log
    std::int64_t t_ns = 0;    ///< nanoseconds since 1970: of a packet the capture's clock, of a log
                              ///< its host's; 0: a value that holds for the whole log
    std::string text;
};

struct Cause {
    Code code{};
    Certainty certainty{};
    std::string text;  ///< one sentence
    std::vector<Evidence> evidence;
    /// The direction whose requests it is about, as a person calls it: "client → server, QP
    /// 0x000012". Empty where no queue pair is known.
    std::string where;
    /// The connection failed for it. The others made it slower, or limit what can be known.
    bool is_fatal = false;
    std::int64_t cost_ns = 0;  ///< time that was lost, as far as it can be told

    /// At most a handful of each kind: the first ones tell most.
    void add(Evidence evidence_of_it) { evidence.push_back(std::move(evidence_of_it)); }
};

struct Explanation {
    /// Something failed: a request completed with an error, the peer refused one, a connection was
    /// not made, or a requester gave up.
    bool has_failed = false;
    /// What shows that, where no cause is known: the first few signs.
    std::vector<Evidence> signs;
    /// The most probable one first.
    std::vector<Cause> causes;
    std::uint64_t packets = 0;      ///< of the capture, RoCE only
    std::uint64_t connections = 0;  ///< of reliable transports, as far as packets show them
};

}  // namespace explain
