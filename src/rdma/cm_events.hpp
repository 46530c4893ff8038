// Waits for connection events, and explains each in a sentence.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rdma/cm_handles.hpp"
#include "util/address.hpp"
#include "util/stop_signal.hpp"

namespace rdma {

/// The next event; null when a stop was requested or the deadline passed.
CmEvent next_event(rdma_event_channel* channel, util::StopSignal& stop, util::Deadline deadline);

/// `event`, which should be `wanted`. Throws util::Error where it is another one, or none (null:
/// time ran out, or a stop is requested); the sentence is as of expect_event().
CmEvent expect(CmEvent event, rdma_cm_event_type wanted, const util::Address& peer,
               util::StopSignal& stop);

/// Waits for `wanted`. Throws util::Error when another event comes first, time runs out or a stop
/// is requested: the sentence says what was being done with `peer`, what came instead, and what to
/// try.
CmEvent expect_event(rdma_event_channel* channel, rdma_cm_event_type wanted,
                     const util::Address& peer, util::StopSignal& stop, util::Deadline deadline);

/// rdma_resolve_addr, asked again each second until `time` is over: a neighbour's answer that comes
/// while the kernel is between two looks at its table is otherwise found out only at the next call.
/// `source` may be null. Throws as expect_event() does, and std::system_error.
CmEvent resolve_address(rdma_cm_id* id, util::Address* source, util::Address& peer,
                        util::StopSignal& stop, std::chrono::milliseconds time);

/// The event's name without RDMA_CM_EVENT_, "CONNECT_REQUEST".
std::string name_of(rdma_cm_event_type type);

/// Refuses a connection with a sentence, of which the first 148 bytes arrive. Throws
/// std::system_error.
void refuse(rdma_cm_id* id, std::string_view sentence);

/// Why a connection was not made: "nothing listens there", or the number of the reason where it is
/// not a known one. Of a program that refused it with a sentence, that.
std::string reason_of(const rdma_cm_event& event);

}  // namespace rdma
