// The extension headers after a BTH. Sections are of IBTA volume 1.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "util/cursor.hpp"
#include "wire/layout.hpp"

namespace wire {

/// In UD and RD requests: the sending queue pair, and the Q_Key (9.3.2).
struct Deth {
    static constexpr std::size_t size = 8;

    std::uint32_t q_key = 0;
    std::uint32_t src_qpn = 0;  ///< 24 bits

    using Fields = Layout<Header::Deth, At<&Deth::q_key, 0, 32>, At<&Deth::src_qpn, 40, 24>>;
    friend bool operator==(const Deth&, const Deth&) = default;
};

/// In every RD packet: the end-to-end context (9.3.1).
struct Rdeth {
    static constexpr std::size_t size = 4;

    std::uint32_t eecnxt = 0;  ///< 24 bits

    using Fields = Layout<Header::Rdeth, At<&Rdeth::eecnxt, 8, 24>>;
    friend bool operator==(const Rdeth&, const Rdeth&) = default;
};

/// In every packet of Mellanox's dynamically connected transport, requests and responses. The
/// layout is not published: it holds the DC key (64 bits) and the sender's queue pair number.
/// Observed first bytes: 0x10 and 0x11.
struct Dceth {
    static constexpr std::size_t size = 20;

    std::array<std::byte, size> bytes{};  ///< as on the wire

    using Fields = Layout<Header::Dceth, At<&Dceth::bytes, 0, 160>>;
    friend bool operator==(const Dceth&, const Dceth&) = default;
};

/// In XRC requests: the shared receive queue that the message is for (annex A14).
struct Xrceth {
    static constexpr std::size_t size = 4;

    std::uint32_t xrcsrq = 0;  ///< 24 bits

    using Fields = Layout<Header::Xrceth, At<&Xrceth::xrcsrq, 8, 24>>;
    friend bool operator==(const Xrceth&, const Xrceth&) = default;
};

/// FLUSH Extended Transport Header (annex A19; bits as in Linux rxe_hdr.h).
struct Feth {
    static constexpr std::size_t size = 4;

    static constexpr std::uint8_t global_visibility = 1;
    static constexpr std::uint8_t persistence = 2;

    std::uint8_t plt = 0;  ///< 4 bits, placement type: global_visibility and persistence
    std::uint8_t sel = 0;  ///< 2 bits, selectivity: 0 the range of the RETH, 1 the whole region

    /// "memory range", "whole memory region" or "reserved".
    std::string_view sel_name() const;

    using Fields = Layout<Header::Feth, At<&Feth::sel, 26, 2>, At<&Feth::plt, 28, 4>>;
    friend bool operator==(const Feth&, const Feth&) = default;
};

/// Address of a WRITE or READ request (IBTA volume 1, 9.3.3).
struct Reth {
    static constexpr std::size_t size = 16;

    std::uint64_t va = 0;  ///< virtual address in the responder's memory region
    std::uint32_t rkey = 0;
    std::uint32_t dmalen = 0;  ///< bytes of the whole message, not of this packet

    using Fields = Layout<Header::Reth, At<&Reth::va, 0, 64>, At<&Reth::rkey, 64, 32>,
                          At<&Reth::dmalen, 96, 32>>;
    friend bool operator==(const Reth&, const Reth&) = default;
};

/// In the request of an atomic operation (9.3.4).
struct AtomicEth {
    static constexpr std::size_t size = 28;

    std::uint64_t va = 0;
    std::uint32_t rkey = 0;
    std::uint64_t swapdt = 0;  ///< the value to swap in or to add
    std::uint64_t cmpdt = 0;   ///< the value to compare with; unused in a FetchAdd

    using Fields =
        Layout<Header::AtomicEth, At<&AtomicEth::va, 0, 64>, At<&AtomicEth::rkey, 64, 32>,
               At<&AtomicEth::swapdt, 96, 64>, At<&AtomicEth::cmpdt, 160, 64>>;
    friend bool operator==(const AtomicEth&, const AtomicEth&) = default;
};

/// In the response to an atomic operation (9.5.3).
struct AtomicAckEth {
    static constexpr std::size_t size = 8;

    std::uint64_t origremdt = 0;  ///< the remote value before the operation

    using Fields = Layout<Header::AtomicAckEth, At<&AtomicAckEth::origremdt, 0, 64>>;
    friend bool operator==(const AtomicAckEth&, const AtomicAckEth&) = default;
};

/// Immediate data, in the last packet of a message (9.3.6).
struct ImmDt {
    static constexpr std::size_t size = 4;

    /// Host byte order, from big-endian bytes. ibv_wc.imm_data keeps the wire's order:
    /// ntohl(imm_data) is this value.
    std::uint32_t value = 0;

    using Fields = Layout<Header::ImmDt, At<&ImmDt::value, 0, 32>>;
    friend bool operator==(const ImmDt&, const ImmDt&) = default;
};

/// The rkey that a SEND with Invalidate invalidates (9.3.7).
struct Ieth {
    static constexpr std::size_t size = 4;

    std::uint32_t rkey = 0;

    using Fields = Layout<Header::Ieth, At<&Ieth::rkey, 0, 32>>;
    friend bool operator==(const Ieth&, const Ieth&) = default;
};

/// Bits 6:5 of an AETH's syndrome.
enum class AethKind : std::uint8_t { Ack = 0, RnrNak = 1, Reserved = 2, Nak = 3 };

/// "ACK", "RNR NAK", "reserved", "NAK".
std::string_view name(AethKind kind);

/// ACK Extended Transport Header (9.3.5 and 9.7.5.2).
struct Aeth {
    static constexpr std::size_t size = 4;

    std::uint8_t syndrome = 0;
    std::uint32_t msn = 0;  ///< 24 bits: messages the responder has completed

    AethKind kind() const { return static_cast<AethKind>(syndrome >> 5 & 3U); }
    /// Bits 4:0: credit code, RNR timer code or NAK code, by kind().
    std::uint8_t code() const { return syndrome & 0x1fU; }

    /// Number of work requests that the responder can still accept. nullopt if this is not an ACK
    /// or if the code is 31 (no end-to-end flow control).
    std::optional<std::uint32_t> credits() const;
    /// Time in milliseconds that the requester waits before it retries; nullopt if this is not an
    /// RNR NAK.
    std::optional<double> rnr_timer_ms() const;
    /// "Remote Access Error"; "Reserved" for codes the specification does not name; nullopt if this
    /// is not a NAK.
    std::optional<std::string_view> nak_name() const;
    /// "ACK, 12 credits", "RNR NAK, wait 0.64 ms", "NAK: Remote Access Error".
    std::string text() const;

    using Fields = Layout<Header::Aeth, At<&Aeth::syndrome, 0, 8>, At<&Aeth::msn, 8, 24>>;
    friend bool operator==(const Aeth&, const Aeth&) = default;
};

}  // namespace wire
