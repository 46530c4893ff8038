// What a program has once, for all that it does in a run; and what its two ends say to each other
// over the TCP connection before a part of the step and behind it. In network byte order, a
// client's Ask:
//
//     offset  0   4 bytes   "RWLT"
//             4   1         version, 1
//             5   1         what: Task
//             6   2         0
//             8   4         messages that will come
//            12   4         bytes of each
//            16   4         Q_Key that the server's queue pairs are to have
//            20  16         GID of a multicast group
//
// and a server's Report: 4 bytes of messages that came, 4 of packets, 4 of a number of the part's.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "exchange/channel.hpp"
#include "runlog/log.hpp"
#include "util/cursor.hpp"
#include "util/error.hpp"
#include "verbs/completion.hpp"
#include "verbs/counters.hpp"
#include "verbs/describe.hpp"
#include "verbs/device.hpp"
#include "verbs/names.hpp"

namespace step10 {

struct Side {
    exchange::Channel& channel;
    verbs::DevicePort device;
    verbs::Pd pd;
    std::uint32_t first_psn;
    runlog::Log& log;
    util::StopSignal& stop;
    std::chrono::milliseconds time;  // for whatever is waited for

    ibv_context* context() const { return device.context.get(); }
    util::Deadline deadline() const { return util::deadline_in(time); }
    exchange::Patience patience() const { return {stop, deadline()}; }
    void meet() const { exchange::meet(channel, patience()); }
    /// However long the peer takes: its end of the connection ends the wait.
    void meet_at_last() const { exchange::meet(channel, {stop, std::nullopt}); }
    /// The largest packet's payload that the port can have, in bytes.
    unsigned mtu() const {
        return verbs::bytes_of(verbs::query_port(context(), device.gid.port).active_mtu);
    }
};

/// RoCE packets that the device has sent or received since this was made; nullopt where it does not
/// count them by the names that rxe has for them.
class PacketCount {
  public:
    PacketCount(const Side& side, const char* counter) : side_(side), counter_(counter) {
        before_ = now();
    }
    std::optional<std::uint64_t> value() const {
        const auto after = now();
        return before_ && after ? std::optional(*after - *before_) : std::nullopt;
    }

  private:
    std::optional<std::uint64_t> now() const {
        const auto all = verbs::read_counters(ibv_get_device_name(side_.context()->device),
                                              side_.device.gid.port);
        const auto entry = all.find(counter_);
        return entry == all.end() ? std::nullopt : std::optional(entry->second);
    }

    const Side& side_;
    const char* counter_;
    std::optional<std::uint64_t> before_;
};

enum class Task : std::uint8_t {
    ReceiveRc = 1,  ///< numbered messages, over a transport each
    ReceiveUc,
    ReceiveUd,
    Datagrams,    ///< what only UD has: several receivers, GRH, Q_Key
    Multicast,    ///< two queue pairs in one group
    SharedQueue,  ///< three RC queue pairs on one receive queue
    SharedXrc,    ///< two XRC queue pairs on one
    Done,
};

struct Ask {
    static constexpr std::size_t size = 36;

    Task task = Task::Done;
    std::uint32_t messages = 0;
    std::uint32_t length = 0;
    std::uint32_t q_key = 0;
    ibv_gid group{};
};

constexpr std::uint32_t most_messages = 1000;
constexpr std::uint32_t most_bytes = 65'536;

inline void send(const Side& side, const Ask& ask) {
    std::array<std::byte, Ask::size> bytes{};
    const std::span<std::byte, Ask::size> out(bytes);
    util::put_be32<0>(out, 0x52574c54);
    util::put_be8<4>(out, 1);
    util::put_be8<5>(out, static_cast<std::uint8_t>(ask.task));
    util::put_be32<8>(out, ask.messages);
    util::put_be32<12>(out, ask.length);
    util::put_be32<16>(out, ask.q_key);
    std::memcpy(out.subspan<20>().data(), ask.group.raw, sizeof ask.group.raw);
    side.channel.send(bytes, side.patience());
}

/// Waits for as long as the client takes. Throws util::Error where it is gone, or asks for nothing
/// that this server does.
inline Ask receive_ask(const Side& side) {
    std::array<std::byte, Ask::size> bytes{};
    side.channel.receive(bytes, {side.stop, std::nullopt});
    const util::FixedBytes<Ask::size> in(bytes);
    Ask ask{static_cast<Task>(util::be8<5>(in)),
            util::be32<8>(in),
            util::be32<12>(in),
            util::be32<16>(in),
            {}};
    std::memcpy(ask.group.raw, in.subspan<20>().data(), sizeof ask.group.raw);
    if (util::be32<0>(in) != 0x52574c54 || util::be8<4>(in) != 1 || ask.task < Task::ReceiveRc ||
        ask.task > Task::Done || ask.messages > most_messages || ask.length > most_bytes)
        throw util::Error("the client asks for nothing that this server does. Is it step 10's?");
    return ask;
}

struct Report {
    static constexpr std::size_t size = 12;
    static constexpr std::uint32_t not_counted = 0xffffffff;

    std::uint32_t arrived = 0;
    std::uint32_t packets = not_counted;
    std::uint32_t number = 0;
};

inline void send(const Side& side, const Report& report) {
    std::array<std::byte, Report::size> bytes{};
    const std::span<std::byte, Report::size> out(bytes);
    util::put_be32<0>(out, report.arrived);
    util::put_be32<4>(out, report.packets);
    util::put_be32<8>(out, report.number);
    side.channel.send(bytes, side.patience());
}

inline Report receive_report(const Side& side) {
    std::array<std::byte, Report::size> bytes{};
    side.channel.receive(bytes, side.patience());
    const util::FixedBytes<Report::size> in(bytes);
    return {util::be32<0>(in), util::be32<4>(in), util::be32<8>(in)};
}

}  // namespace step10
