#include "rdma/cm_events.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "util/check.hpp"
#include "util/error.hpp"

namespace rdma {
namespace {

// The text that the rejecting program sent; empty if there is none, or if it is not text. The
// private data is padded with zeros.
std::string refusal_of(const rdma_cm_event& event) {
    const auto& answer = event.param.conn;
    std::string_view text(static_cast<const char*>(answer.private_data), answer.private_data_len);
    text = text.substr(0, text.find('\0'));
    if (text.ends_with('.'))
        text.remove_suffix(1);
    const bool is_text = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
    return is_text ? std::string(text) : "";
}

// Returns the call that generates `wanted`, for error messages.
std::string_view verb_of(rdma_cm_event_type wanted) {
    switch (wanted) {
        case RDMA_CM_EVENT_ADDR_RESOLVED:
            return "rdma_resolve_addr";
        case RDMA_CM_EVENT_ROUTE_RESOLVED:
            return "rdma_resolve_route";
        case RDMA_CM_EVENT_ESTABLISHED:
            return "rdma_connect";
        case RDMA_CM_EVENT_DISCONNECTED:
            return "rdma_disconnect";
        default:
            return "rdma_get_cm_event";
    }
}

constexpr std::string_view is_it_reachable =
    "Check that the address is right and that the host is up (ping), and that the route to it "
    "leaves through an RDMA device (00_hello/devices).";
constexpr std::string_view does_it_listen =
    "Does that host have an RDMA device on that address (00_hello/devices), and does its firewall "
    "let "
    "UDP 4791 through?";

std::string_view hint_of(const rdma_cm_event& event) {
    constexpr int nothing_listens = 8;
    switch (event.event) {
        case RDMA_CM_EVENT_ADDR_ERROR:
            // librdmacm's own error, after the kernel has resolved the address, when it opens the
            // device.
            if (event.status == -1)
                return "This user may not be allowed to open the RDMA device: ls -l "
                       "/dev/infiniband shows who is.";
            return is_it_reachable;
        case RDMA_CM_EVENT_REJECTED:
            if (event.status == nothing_listens)
                return "Start the server there first, with the same --port.";
            return refusal_of(event).empty() ? "The server's log has the reason." : "";
        case RDMA_CM_EVENT_UNREACHABLE:
            return does_it_listen;
        default:
            return "See both sides' logs.";
    }
}

}  // namespace

std::string reject_text(int reason) {
    switch (reason) {
        case 4:
            return "it timed out waiting for the connection to complete";
        case 8:
            return "no program listens on this port";
        case 10:
            return "its end is a stale connection";
        case 28:
            return "the program refused it";
        default:
            return fmt::format("reject reason {}", reason);
    }
}

CmEvent expect(CmEvent event, rdma_cm_event_type wanted, const util::Address& peer,
               util::StopSignal& stop) {
    if (event && event->event == wanted)
        return event;
    const auto verb = verb_of(wanted);
    if (stop.requested())
        throw util::Error(fmt::format("stopped by a signal during {} with {}.", verb, peer.text()));
    if (!event)
        throw util::Error(
            fmt::format("{} did not respond in time ({}). {}", peer.text(), verb,
                        wanted == RDMA_CM_EVENT_ADDR_RESOLVED ? is_it_reachable : does_it_listen));
    const auto hint = hint_of(*event);
    throw util::Error(fmt::format("{} with {} failed: {}.{}{}", verb, peer.text(),
                                  reason_of(*event), hint.empty() ? "" : " ", hint));
}

CmEvent next_event(rdma_event_channel* channel, util::StopSignal& stop, util::Deadline deadline) {
    if (util::wait_readable(channel->fd, stop, deadline) != util::Ready::input)
        return nullptr;
    rdma_cm_event* event = nullptr;
    CHECK_ERRNO(rdma_get_cm_event(channel, &event));
    return CmEvent{event};
}

CmEvent expect_event(rdma_event_channel* channel, rdma_cm_event_type wanted,
                     const util::Address& peer, util::StopSignal& stop, util::Deadline deadline) {
    return expect(next_event(channel, stop, deadline), wanted, peer, stop);
}

CmEvent resolve_address(rdma_cm_id* id, util::Address* source, util::Address& peer,
                        util::StopSignal& stop, std::chrono::milliseconds time) {
    constexpr std::chrono::milliseconds attempt{1000};
    constexpr std::chrono::milliseconds grace{500};  // for the kernel to report the timeout
    while (true) {
        const auto part = std::min(time, attempt);
        time -= part;
        util::check_errno(rdma_resolve_addr(id, source != nullptr ? source->get() : nullptr,
                                            peer.get(), static_cast<int>(part.count())),
                          "rdma_resolve_addr(" + peer.host() + ")");
        CmEvent event = next_event(id->channel, stop, util::deadline_in(part + grace));
        const bool is_late = event && event->event == RDMA_CM_EVENT_ADDR_ERROR &&
                             event->status == -ETIMEDOUT && time.count() > 0;
        if (!is_late)
            return expect(std::move(event), RDMA_CM_EVENT_ADDR_RESOLVED, peer, stop);
    }
}

void refuse(rdma_cm_id* id, std::string_view sentence) {
    constexpr std::size_t most = 148;  // of a REJ (rdma_reject(3): IBTA volume 1, 12.6.7)
    sentence = sentence.substr(0, most);
    CHECK_ERRNO(rdma_reject(id, sentence.data(), static_cast<std::uint8_t>(sentence.size())));
}

std::string name_of(rdma_cm_event_type type) {
    constexpr std::string_view prefix = "RDMA_CM_EVENT_";
    std::string_view name = rdma_event_str(type);
    if (name.starts_with(prefix))
        name.remove_prefix(prefix.size());
    return std::string(name);
}

std::string reason_of(const rdma_cm_event& event) {
    if (event.event == RDMA_CM_EVENT_REJECTED) {
        const std::string refusal = refusal_of(event);
        return reject_text(event.status) + (refusal.empty() ? "" : ": " + refusal);
    }
    // The other events carry a negative error number (rdma_get_cm_event(3)).
    if (event.status < 0)
        return fmt::format("{} ({})", std::strerror(-event.status), name_of(event.event));
    return fmt::format("{}, status {}", name_of(event.event), event.status);
}

}  // namespace rdma
