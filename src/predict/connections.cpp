#include "predict/connections.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace predict {
namespace {

// The smallest path MTU: a READ takes at most so many PSNs.
constexpr std::uint32_t least_path_mtu = 256;

std::uint32_t psns_of(const Packet& packet, std::uint32_t path_mtu) {
    if (packet.kind != Kind::Read || packet.length == 0)
        return 1;
    return (packet.length - 1) / path_mtu + 1;
}

class Connector {
  public:
    explicit Connector(std::vector<Packet>& packets) {
        for (std::size_t i = 0; i < packets.size(); ++i)
            if (!packets[i].is_response)
                add_request(packets[i], i);
        for (std::size_t i = 0; i < packets.size(); ++i)
            if (packets[i].is_response)
                add_response(packets[i], i);
        for (const Packet& packet : packets)
            if (packet.connection != Packet::no_connection && packet.fills_path_mtu) {
                std::uint32_t& path_mtu = found_[packet.connection].path_mtu;
                path_mtu = std::max(path_mtu, packet.length);
            }
    }

    std::vector<Connection> take() { return std::move(found_); }

  private:
    using Key = std::tuple<std::string, std::string, std::uint32_t>;
    static Key key_of(const Packet& packet) {
        return {packet.source, packet.destination, packet.dest_qpn};
    }
    struct Sent {
        std::size_t begin = 0;  // its first packet
        wire::Psn behind;       // the last PSN in use, at most
        bool is_answered = false;
    };

    void add_request(Packet& packet, std::size_t number) {
        const auto [entry, is_new] = requests_.emplace(key_of(packet), found_.size());
        if (is_new) {
            found_.push_back({packet.source, packet.destination, packet.dest_qpn, packet.psn, 0});
            sent_.push_back({number, packet.psn, false});
        }
        packet.connection = entry->second;
        Connection& connection = found_[entry->second];
        if (packet.psn.is_before(connection.first_psn))
            connection.first_psn = packet.psn;
        const wire::Psn behind = packet.psn + psns_of(packet, least_path_mtu);
        if (behind.is_after(sent_[entry->second].behind))
            sent_[entry->second].behind = behind;
    }

    void add_response(Packet& packet, std::size_t number) {
        const auto known = responses_.find(key_of(packet));
        if (known != responses_.end()) {
            packet.connection = known->second;
        } else if (const auto index = answered_by(packet, number)) {
            responses_.emplace(key_of(packet), *index);
            sent_[*index].is_answered = true;
            packet.connection = *index;
        }
    }

    // A BTH names only the receiver's queue pair: the newest connection that has sent such a PSN
    // and whose answers are not known yet.
    std::optional<std::size_t> answered_by(const Packet& packet, std::size_t number) const {
        for (std::size_t index = found_.size(); index-- > 0;) {
            const Connection& connection = found_[index];
            const Sent& sent = sent_[index];
            if (!sent.is_answered && sent.begin < number &&
                connection.requester == packet.destination &&
                connection.responder == packet.source &&
                !packet.psn.is_before(connection.first_psn) && packet.psn.is_before(sent.behind))
                return index;
        }
        return std::nullopt;
    }

    std::vector<Connection> found_;
    std::vector<Sent> sent_;  // of each
    std::map<Key, std::size_t> requests_;
    std::map<Key, std::size_t> responses_;
};

}  // namespace

std::vector<Connection> connect(std::vector<Packet>& packets) {
    std::vector<Connection> connections = Connector(packets).take();
    for (Packet& packet : packets) {
        if (packet.connection == Packet::no_connection)
            continue;
        const Connection& connection = connections[packet.connection];
        packet.offset = distance(connection.first_psn, packet.psn);
        packet.psns = connection.path_mtu == 0 ? 1 : psns_of(packet, connection.path_mtu);
    }
    return connections;
}

}  // namespace predict
