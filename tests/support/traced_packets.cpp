#include "support/traced_packets.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace support {
namespace {

using runlog::Event;

constexpr std::uint32_t psn_bits = 0xffffff;

std::string other(const std::string& host) {
    return host == "server" ? "client" : "server";
}

// Returns the address as tshark prints it: without the prefix of a mapped IPv4 address.
std::string address_of(std::string_view gid) {
    constexpr std::string_view mapped = "::ffff:";
    return std::string(gid.starts_with(mapped) ? gid.substr(mapped.size()) : gid);
}

// Maps the addresses in the GIDs of devices to their hosts.
std::map<std::string, std::string> hosts_by_address(const LabRun& run) {
    std::map<std::string, std::string> hosts{{server_ip, "server"},
                                             {client_ip, "client"},
                                             {server_ip6, "server"},
                                             {client_ip6, "client"}};
    for (const auto& [host, log] :
         {std::pair{"server", &run.server}, std::pair{"client", &run.client}})
        for (const Event& device : LabRun::all(*log, "device"))
            if (!device.text("gid").empty())
                hosts.emplace(address_of(device.text("gid")), host);
    return hosts;
}

// Reads a log from its first event on, because queue pair numbers are reused.
class PostReader {
  public:
    PostReader(Prediction& prediction, std::string host, std::map<std::string, std::string> hosts)
        : prediction_(prediction), host_(std::move(host)), hosts_(std::move(hosts)) {}

    void read(const std::vector<Event>& log) {
        for (const Event& event : log) {
            if (event.name == "ah")
                destinations_[event.number("address").value()] = address_of(event.text("dest_gid"));
            const auto qpn = event.number("qpn");
            if (!qpn)
                continue;
            QueuePair& pair = pairs_[static_cast<std::uint32_t>(*qpn)];
            if (event.name == "qp")
                pair = {std::string(event.text("type")), 0, {}};
            else if (event.name == "qp_state")
                pair.dest_qpn =
                    static_cast<std::uint32_t>(event.number("dest_qpn").value_or(pair.dest_qpn));
            else if (event.name == "post_send" && pair.type == "UD" && is_to_itself(event))
                ++prediction_.inside[host_];
            else if (event.name == "post_send" && event.number("psn_first"))
                post(pair, static_cast<std::uint32_t>(*qpn), event);
            else if (event.name == "wc" && event.text("queue") == "send" &&
                     event.text("status") != "SUCCESS")
                fail(pair, event);
        }
    }

  private:
    struct QueuePair {
        std::string type;
        std::uint32_t dest_qpn = 0;
        std::map<std::uint64_t, std::vector<PacketName>> requests;  // by number
    };

    bool is_to_itself(const Event& post) const {
        const auto destination = destinations_.find(post.number("ah").value());
        const auto host =
            destination == destinations_.end() ? hosts_.end() : hosts_.find(destination->second);
        return host != hosts_.end() && host->second == host_;
    }

    void post(QueuePair& pair, std::uint32_t qpn, const Event& event) {
        const auto first = static_cast<std::uint32_t>(event.number("psn_first").value());
        const auto last = static_cast<std::uint32_t>(event.number("psn_last").value());
        const bool is_ud = pair.type == "UD";
        const bool is_read = event.text("opcode") == "RDMA_READ";
        PacketName sent{host_, pair.dest_qpn, is_ud ? qpn : 0, first};
        if (is_ud)
            sent.dest_qpn = static_cast<std::uint32_t>(event.number("dest_qpn").value());
        PacketName received{other(host_), qpn, 0, first};
        for (const std::uint32_t end = (last + 1) & psn_bits; sent.psn != end;
             sent.psn = received.psn = (sent.psn + 1) & psn_bits) {
            if (!is_read || sent.psn == first) {
                prediction_.requests.emplace(sent, runlog::to_json(event));
                pair.requests[event.number("request").value()].push_back(sent);
                ++prediction_.psns;
            }
            if (is_read)
                prediction_.read_responses.insert(received);
            if (pair.type == "RC")
                prediction_.acknowledgements.insert(received);
        }
    }

    void fail(const QueuePair& pair, const Event& event) {
        const auto request = pair.requests.find(event.number("request").value_or(UINT64_MAX));
        if (request == pair.requests.end())
            return;
        prediction_.failed.insert(request->second.begin(), request->second.end());
        prediction_.psns -= request->second.size();
    }

    Prediction& prediction_;
    std::string host_;
    std::map<std::string, std::string> hosts_;           // by address
    std::map<std::uint64_t, std::string> destinations_;  // by address handle
    std::map<std::uint32_t, QueuePair> pairs_;
};

constexpr bool is_read_response(unsigned operation) {
    return operation >= 0x0d && operation <= 0x10;
}

constexpr bool is_acknowledgement(unsigned operation) {
    return operation == 0x11 || operation == 0x12;
}

// Reports an error for each of `those` that is not among `these`, and returns their number.
template <typename Those, typename These>
std::size_t expect_among(const Those& those, const These& these, const char* what) {
    std::size_t missing = 0;
    for (const auto& [name, detail] : those)
        if (!these.contains(name)) {
            ++missing;
            ADD_FAILURE() << what << ": " << name.text() << " (" << detail << ")";
        }
    return missing;
}

std::int64_t counted(const LabRun& run, const std::string& host, const char* name) {
    const auto& counters = run.info["hosts"][host]["counters"];
    std::int64_t sum = 0;
    for (const auto& [port, after] : counters["after"].items())
        sum += after[name].get<std::int64_t>() - counters["before"][port][name].get<std::int64_t>();
    return sum;
}

}  // namespace

std::string PacketName::text() const {
    return fmt::format("from {} to QP {:#x}{}, PSN {:#x}", host, dest_qpn,
                       source_qpn == 0 ? "" : fmt::format(" from QP {:#x}", source_qpn), psn);
}

Prediction prediction_of(const LabRun& run) {
    Prediction prediction;
    const auto hosts = hosts_by_address(run);
    PostReader(prediction, "server", hosts).read(run.server);
    PostReader(prediction, "client", hosts).read(run.client);
    return prediction;
}

Traffic traffic_of(const LabRun& run) {
    Traffic traffic;
    const auto hosts = hosts_by_address(run);
    for (const TsharkPacket& packet : tshark_packets(run.file("wire.pcapng"))) {
        const auto known = hosts.find(packet.source);
        const std::string host = known == hosts.end() ? packet.source : known->second;
        ++traffic.packets;
        ++traffic.sent_by[host];
        if (packet.dest_qpn <= 1)
            continue;
        ++traffic.between_queue_pairs;
        const bool is_ud = packet.opcode >> 5U == 3;
        const unsigned operation = is_ud ? 0 : packet.opcode & 0x1fU;
        const PacketName name{host, packet.dest_qpn, packet.source_qpn, packet.psn};
        if (is_read_response(operation)) {
            ++traffic.read_responses[name];
        } else if (is_acknowledgement(operation)) {
            ++traffic.acknowledgements[name];
        } else {
            ++traffic.requests[name];
            ++traffic.request_packets;
        }
    }
    return traffic;
}

std::size_t expect_wire_as_predicted(const Prediction& prediction, const Traffic& traffic) {
    std::map<PacketName, std::string> expected;
    for (const auto& request : prediction.requests)
        if (!prediction.failed.contains(request.first))
            expected.insert(request);
    std::map<PacketName, const char*> responses;
    for (const PacketName& response : prediction.read_responses)
        responses.emplace(response, "of a READ");
    EXPECT_FALSE(expected.empty());
    const std::size_t mismatches =
        expect_among(expected, traffic.requests, "not on the wire") +
        expect_among(responses, traffic.read_responses, "not on the wire") +
        expect_among(traffic.requests, prediction.requests, "a request without a post") +
        expect_among(traffic.read_responses, prediction.read_responses,
                     "a response without a post") +
        expect_among(traffic.acknowledgements, prediction.acknowledgements,
                     "an ACK without a post");
    if (traffic.sent_nothing_twice() && prediction.failed.empty()) {
        EXPECT_EQ(traffic.request_packets, prediction.psns);
    }
    return mismatches;
}

void expect_devices_count_the_same(const LabRun& run, const Prediction& prediction,
                                   const Traffic& traffic, std::int64_t uncounted) {
    const auto of = [](const std::map<std::string, std::int64_t>& numbers,
                       const std::string& host) {
        const auto known = numbers.find(host);
        return known == numbers.end() ? 0 : known->second;
    };
    for (const auto& [host, sent] : traffic.sent_by)
        EXPECT_TRUE(host == "server" || host == "client") << host << " is neither of the two";
    for (const std::string host : {"server", "client"}) {
        const std::int64_t inside = of(prediction.inside, host);
        const std::int64_t sent = of(traffic.sent_by, host) + inside;
        const std::int64_t received = of(traffic.sent_by, other(host)) + inside;
        EXPECT_EQ(counted(run, host, "sent_pkts"), sent) << host;
        EXPECT_LE(counted(run, host, "rcvd_pkts"), received) << host;
        EXPECT_GE(counted(run, host, "rcvd_pkts"), received - uncounted) << host;
    }
}

}  // namespace support
