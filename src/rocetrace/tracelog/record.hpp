// The records that a traced process writes into its rings (ring.hpp) and rocetrace reads: a fixed
// layout for the calls that move data, and events with named fields for all others.
//
// All numbers are in host byte order: both ends are on the same host. The offset and the size of a
// record are multiples of eight bytes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runlog/event_table.hpp"

namespace tracelog {

using runlog::Category;
using runlog::Type;

enum class Kind : std::uint16_t {
    skip = 1,  // unused bytes up to the end of the ring
    thread,    // the records after it are from this thread
    post_send,
    post_recv,
    wc,
    event,
    begun,  // written by the reader: the fields of a call that has not returned, as in an event
};

struct Header {
    std::uint32_t size;  // bytes, including the header
    Kind kind;
    std::uint16_t flags;
    std::int64_t t_ns;  // CLOCK_REALTIME, nanoseconds since 1970
};

// A skip record may consist of only these 8 bytes of its header.
constexpr std::uint32_t skip_size = 8;

struct Thread {
    Header header;
    std::uint32_t tid;
    char name[20];  // null-terminated
};

/// An entry of a scatter/gather list, as ibv_sge.
struct Sge {
    std::uint64_t addr;
    std::uint32_t length;
    std::uint32_t lkey;
};

/// The first entries of a request's scatter/gather list. They follow the other fields of its
/// record, which has only those that the request has.
struct SgeList {
    static constexpr std::uint32_t most = 4;
    static constexpr unsigned count_shift = 8;  // the number of all entries is in the flags

    static constexpr std::uint32_t count(const Header& header) {
        return header.flags >> count_shift;
    }
    static constexpr std::uint32_t recorded(const Header& header) {
        return std::min(count(header), most);
    }
    void add(Header& header, const Sge& sge) {
        constexpr std::uint32_t most_counted = 255;
        const std::uint32_t index = count(header);
        if (index < most)
            entries[index] = sge;
        if (index < most_counted)
            header.flags = static_cast<std::uint16_t>(header.flags + (1U << count_shift));
    }

    Sge entries[most];
};

/// A send work request that was accepted. Flags: PostSend::Flag, and the number of its
/// scatter/gather entries.
struct PostSend {
    enum Flag : std::uint16_t {
        has_psns = 1,
        is_ud = 2,
        is_xrc = 4,
        is_signaled = 8,
        is_long = 16,     // has the fields of atomics, UD and XRC
        unfinished = 32,  // the process ended before the post returned
    };
    Header header;
    std::uint64_t wr_id;
    std::uint64_t remote_va;  // UD: dest_qpn in the high 32 bits, q_key in the low ones
    std::uint32_t qpn;
    std::uint32_t len;  // bytes
    std::uint32_t psn_first;
    std::uint32_t psn_last;
    std::uint32_t rkey;
    std::uint32_t imm;         // host byte order; SEND_WITH_INV and LOCAL_INV: the rkey
    std::uint32_t request;     // its number on its queue pair, from 0
    std::uint16_t opcode;      // ibv_wr_opcode
    std::uint16_t send_flags;  // ibv_send_flags
    // Only with is_long.
    std::uint64_t compare_add;  // UD: the address handle's address
    std::uint64_t swap;
    std::uint32_t srqn;
    std::uint32_t reserved;
    SgeList sges;

    static constexpr std::uint32_t short_size = 64;
    static constexpr std::uint32_t long_size = 88;

    /// Without the scatter/gather list.
    std::uint32_t fixed_size() const {
        return (header.flags & is_long) != 0 ? long_size : short_size;
    }
};

/// A receive work request that was accepted.
struct PostRecv {
    // is_srq: `queue` is the handle of a shared receive queue. unfinished: as in PostSend.
    enum Flag : std::uint16_t { is_srq = 1, unfinished = 32 };
    Header header;
    std::uint64_t wr_id;
    std::uint32_t queue;  // QPN
    std::uint32_t len;    // bytes
    SgeList sges;

    static std::uint32_t fixed_size() { return 32; }
};

struct Wc {
    enum Flag : std::uint16_t { has_request = 1, is_recv = 2, has_byte_len = 4 };
    Header header;
    std::uint64_t wr_id;
    std::uint32_t qpn;
    std::uint32_t byte_len;
    std::uint32_t imm;  // host byte order
    std::uint32_t vendor_err;
    std::uint32_t request;   // the number of the work request on its queue pair, from 0
    std::uint8_t opcode;     // ibv_wc_opcode
    std::uint8_t status;     // ibv_wc_status
    std::uint16_t wc_flags;  // ibv_wc_flags
};

static_assert(sizeof(Header) == 16 && sizeof(Thread) == 40 && sizeof(PostSend) == 152 &&
              sizeof(PostRecv) == 96 && sizeof(Wc) == 48);

}  // namespace tracelog
