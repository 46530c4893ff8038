// Lesson 08, hardened, the server: one thread polls the completions of all clients and tracks their states.
#pragma once

#include <array>
#include <map>
#include <span>

#include <fmt/format.h>

#include "rdma/names.hpp"
#include "served_client.hpp"
#include "util/check.hpp"
#include "util/error.hpp"

namespace lesson08 {

constexpr std::chrono::seconds drain_time{5};

class Clients {
    std::map<std::string, SharedDevice> devices_;  // by local address; must outlive the clients

  public:
    Clients(Hub& hub, Statistics& statistics, runlog::Log& log, std::chrono::seconds idle_time)
        : hub_(hub), statistics_(statistics), log_(log), idle_time_(idle_time) {}

    std::map<Id, ServedClient> all;

    void add(Id id) {
        ServedClient& client = all[id];
        client.id = id;
        client.number = ++numbers_;
        client.peer = hub_.socket(id).peer;
        client.times.tcp = net::round_trip(hub_.socket(id));
        client.times.tls = hub_.handshake_time(id);
    }

    /// Returns what the clients connected to this local `address` share. Throws util::Error if no
    /// device has it.
    const SharedDevice& device_of(const util::Address& address) {
        const auto [it, is_new] = devices_.try_emplace(address.host(), address);
        if (is_new)
            hub_.watch(it->second.channel->fd,
                       [this, channel = it->second.channel.get()] { on_completions(channel); });
        return it->second;
    }

    // 1. Each event identifies the client whose completion queue has entries.
    void on_completions(ibv_comp_channel* channel) {
        for (int turns = 0; turns < 64; ++turns) {
            ibv_cq* cq = nullptr;
            void* owner = nullptr;
            if (ibv_get_cq_event(channel, &cq, &owner) != 0)
                return;  // no more events
            ibv_ack_cq_events(cq, 1);
            CHECK_RC(ibv_req_notify_cq(cq, 0));
            take_completions(*static_cast<ServedClient*>(owner));
        }
    }

    // 2. Poll at most one queue's worth, then serve the next client: one client's SENDs do not
    // delay the others.
    void take_completions(ServedClient& client) {
        std::array<ibv_wc, PrivateSet::receives> wcs{};
        const int found = ibv_poll_cq(client.set->cq.get(), wcs.size(), wcs.data());
        if (found < 0)
            throw util::Error("ibv_poll_cq failed: the completion queue is broken.");
        for (const ibv_wc& wc : std::span(wcs).first(static_cast<std::size_t>(found)))
            take(client, wc);
        if (client.state == State::Draining && client.set->posted == 0)
            release(client);
    }

    // 3. A queue pair in ERR flushes its posted receives. After the last completion the device no
    // longer uses this client's objects, and they can be destroyed.
    void drain(ServedClient& client) {
        client.state = State::Draining;
        client.set->drain();
        hub_.set_deadline(client.id, util::deadline_in(drain_time));
    }

    void on_drained_late(ServedClient& client) {
        const Id id = client.id;
        take_completions(client);  // the event may not have arrived yet
        if (!all.contains(id))
            return;
        log_.note(fmt::format("QP {:#08x} has not flushed all its receives: it is destroyed anyway",
                              client.set->qp->qp_num));
        release(client);
    }

    void expect_more(const ServedClient& client) {
        hub_.set_deadline(client.id, util::deadline_in(idle_time_));
    }

    void forget(ServedClient& client) {
        log(client, client.is_lost ? "is gone" : "has left");
        if (client.is_connected)
            statistics_.left();
        hub_.set_deadline(client.id, std::nullopt);
        all.erase(client.id);
    }

    void log(const ServedClient& client, std::string_view what) {
        if (client.is_in_log())
            log_.event("client", client.describe(what));
    }

  private:
    void take(ServedClient& client, const ibv_wc& wc) {
        --client.set->posted;
        if (wc.status == IBV_WC_SUCCESS && wc.byte_len == Report::size) {
            client.sends.add(1, Report::size);
            statistics_.add(Report::parse(std::span(client.set->inbox)
                                              .subspan(wc.wr_id * Report::size)
                                              .first<Report::size>()));
            if (client.state == State::Draining)
                return;
            client.set->post_receive(wc.wr_id);
            if (client.state == State::Serving)
                expect_more(client);
        } else if (client.state != State::Draining) {
            ++statistics_.errors;
            // byte_len is invalid after an error (ibv_poll_cq(3)).
            hub_.lose(client.id, Loss::Failed,
                      wc.status == IBV_WC_SUCCESS
                          ? fmt::format("a SEND of {} bytes is not a report.", wc.byte_len)
                          : fmt::format("a receive completed with {}.", rdma::name_of(wc.status)));
        }
    }

    void release(ServedClient& client) {
        client.set.reset();
        if (!client.is_lost) {
            hub_.send(client.id, net::serialize_header(net::MessageType::Done));
            hub_.close(client.id);
        }
        forget(client);
    }

    Hub& hub_;
    Statistics& statistics_;
    runlog::Log& log_;
    std::chrono::seconds idle_time_;
    std::uint64_t numbers_ = 0;
};

}  // namespace lesson08
