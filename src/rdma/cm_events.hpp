// Waits for connection events, and describes each in a sentence.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rdma/cm_handles.hpp"
#include "util/address.hpp"
#include "util/stop_signal.hpp"

namespace rdma {

/// Returns the next event; null if a stop was requested or the deadline passed.
CmEvent next_event(rdma_event_channel* channel, util::StopSignal& stop, util::Deadline deadline);

/// Returns `event` if it is `wanted`. Throws util::Error if it is another one, or null (timeout, or
/// a stop was requested); see expect_event() for the message.
CmEvent expect(CmEvent event, rdma_cm_event_type wanted, const util::Address& peer,
               util::StopSignal& stop);

/// Waits for `wanted`. Throws util::Error if another event comes first, the deadline passes or a
/// stop is requested. The message says what was being done with `peer`, what happened instead, and
/// what to try.
CmEvent expect_event(rdma_event_channel* channel, rdma_cm_event_type wanted,
                     const util::Address& peer, util::StopSignal& stop, util::Deadline deadline);

/// Repeats rdma_resolve_addr each second until `time` has passed: a neighbour reply that arrives
/// between two kernel checks of its table is otherwise noticed only at the next call. `source` may
/// be null. Throws as expect_event() does, and std::system_error.
CmEvent resolve_address(rdma_cm_id* id, util::Address* source, util::Address& peer,
                        util::StopSignal& stop, std::chrono::milliseconds time);

/// The event's name without RDMA_CM_EVENT_, "CONNECT_REQUEST".
std::string name_of(rdma_cm_event_type type);

/// Returns the meaning of the reason in a ConnectReject, which the event `REJECTED` has as its
/// status (IBTA volume 1, 12.6.7.2). Reasons without a sentence are shown as a number.
std::string reject_text(int reason);

/// Rejects a connection with a text, of which the first 148 bytes are sent. Throws
/// std::system_error.
void refuse(rdma_cm_id* id, std::string_view sentence);

/// Why a connection failed: "nothing listens there", or the number of an unknown reason. If the
/// program rejected it with a text, that text.
std::string reason_of(const rdma_cm_event& event);

}  // namespace rdma
