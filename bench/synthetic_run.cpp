#include "bench/synthetic_run.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

#include <fmt/format.h>

#include "bench/message.hpp"
#include "bench/syndrome.hpp"
#include "capture/pcapng_writer.hpp"
#include "runlog/event.hpp"
#include "wire/encode.hpp"

namespace bench {
namespace {

constexpr wire::Ipv4Address server_address{{192, 0, 2, 1}};
constexpr wire::Ipv4Address client_address{{192, 0, 2, 2}};
constexpr std::uint32_t server_qpn = 0x11;
constexpr std::uint32_t client_qpn = 0x12;
constexpr std::uint32_t rkey = 0x20025;
constexpr std::uint64_t remote_va = 0x7f0000000000;

struct Request {
    std::uint64_t wr_id;
    bool is_read;
    std::size_t length;
    wire::Psn first;

    std::uint32_t packets() const { return packets_of(length); }
};

class Maker {
  public:
    Maker(const std::string& directory, const RunShape& shape)
        : shape_(shape),
          random_(shape.seed),
          capture_(capture::Sink::create(directory + "/wire.pcapng"), {}),
          server_log_(directory + "/server.jsonl"),
          client_log_(directory + "/client.jsonl") {
        capture_.add_interface({.name = "eth0", .description = {}, .filter = {}});
    }

    void make() {
        set_up();
        while (captured_ < shape_.packets)
            exchange(1 + random(4));
        capture_.close();
    }

  private:
    void set_up() {
        log("server", "ready", {{"address", "192.0.2.1"}, {"port", 18515U}});
        const auto set_up = [&](const char* role, const char* gid, std::uint32_t qpn,
                                std::uint32_t peer) {
            log(role, "device", {{"device", "rxe0"}, {"port", 1U}, {"gid", gid}});
            log(role, "qp", {{"qpn", qpn}, {"type", "RC"}});
            log(role, "qp_state",
                {{"qpn", qpn}, {"state", "RTS"}, {"dest_qpn", peer}, {"path_mtu", path_mtu}});
        };
        set_up("server", "::ffff:192.0.2.1", server_qpn, client_qpn);
        set_up("client", "::ffff:192.0.2.2", client_qpn, server_qpn);
    }

    // Posts requests, then exchanges packets, then polls completions.
    void exchange(unsigned requests) {
        std::vector<Request> posted;
        for (unsigned i = 0; i < requests; ++i)
            posted.push_back(post());
        if (requests_ == posted.size() && shape_.lost_first != 0)
            lose(posted, shape_.lost_first);
        for (const Request& request : posted)
            request.is_read ? read(request) : write(request);
        for (const Request& request : posted) {
            pass(2'000, 20'000);
            log("client", "wc",
                {{"qpn", client_qpn},
                 {"wr_id", request.wr_id},
                 {"status", "SUCCESS"},
                 {"opcode", request.is_read ? "RDMA_READ" : "RDMA_WRITE"},
                 {"byte_len", request.length}});
        }
    }

    Request post() {
        pass(2'000, 20'000);
        // Half of them are small.
        const std::size_t most = random(2) == 0 ? path_mtu : 32 * path_mtu;
        const Request request{shape_.wr_ids == 0 ? requests_ + 1 : requests_ % shape_.wr_ids,
                              random(4) == 0, 1 + random(static_cast<unsigned>(most)), next_};
        const std::uint32_t last = request.packets() - 1;
        runlog::Fields fields{{"qpn", client_qpn},
                              {"wr_id", request.wr_id},
                              {"opcode", request.is_read ? "RDMA_READ" : "RDMA_WRITE"},
                              {"len", request.length},
                              {"remote_va", remote_va},
                              {"rkey", rkey}};
        if (shape_.hides_psns) {
            const wire::Psn offset = next_ - start.value();
            fields.emplace_back("psn_offset_first", offset.value());
            fields.emplace_back("psn_offset_last", (offset + last).value());
        } else {
            fields.emplace_back("psn_first", next_.value());
            fields.emplace_back("psn_last", (next_ + last).value());
        }
        log("client", "post_send", std::move(fields));
        ++requests_;
        next_ += request.packets();
        return request;
    }

    // The server accepts nothing after a lost packet.
    void lose(const std::vector<Request>& flight, unsigned lost) {
        for (const Request& request : flight)
            for (std::uint32_t i = 0; i < (request.is_read ? 1 : request.packets()); ++i) {
                if (lost > 0)
                    --lost;
                else if (request.is_read)
                    emit(read_request(request, 0));
                else
                    send(request, i);
            }
        answer(0x11, start, psn_error_syndrome, {});
    }

    // One packet in a thousand does not reach the server: it sends a NAK at the next one, and all
    // packets from the lost one on are retransmitted.
    void write(const Request& request) {
        const std::uint32_t packets = request.packets();
        const std::uint32_t lost = random(1000) < packets ? random(packets) : packets;
        for (std::uint32_t i = 0; i < packets; ++i)
            if (i != lost)
                send(request, i);
        if (lost + 1 < packets)
            answer(0x11, request.first + lost, psn_error_syndrome, {});
        for (std::uint32_t i = lost; i < packets; ++i)
            send(request, i);
        ++msn_;
        answer(0x11, request.first + (packets - 1), ack_syndrome, {});
    }

    void send(const Request& request, std::uint32_t index) {
        const std::size_t offset = index * path_mtu;
        wire::Packet packet = headers(
            true, opcode_at(offset, request.length, 0x06, 0x07, 0x08, 0x0a), request.first + index);
        packet.payload = payload_bytes(std::min(path_mtu, request.length - offset));
        packet.bth->a = index + 1 == request.packets();
        if (index == 0)
            packet.reth = reth(request.length, 0);
        emit(packet);
    }

    // A packet of a response may also be lost, after the capture.
    void read(const Request& request) {
        const std::uint32_t packets = request.packets();
        ask(request, 0);
        if (random(1000) < packets)
            ask(request, random(packets));
    }

    void ask(const Request& request, std::uint32_t from) {
        const std::size_t length = request.length - from * path_mtu;
        emit(read_request(request, from));
        ++msn_;
        for (std::size_t offset = 0; offset < length; offset += path_mtu)
            answer(opcode_at(offset, length, 0x0d, 0x0e, 0x0f, 0x10),
                   request.first + (from + static_cast<std::uint32_t>(offset / path_mtu)),
                   ack_syndrome, payload_bytes(std::min(path_mtu, length - offset)));
    }

    static wire::Packet read_request(const Request& request, std::uint32_t from) {
        wire::Packet packet = headers(true, 0x0c, request.first + from);
        packet.reth = reth(request.length - from * path_mtu, from * path_mtu);
        return packet;
    }

    void answer(std::uint8_t opcode, wire::Psn psn, std::uint8_t syndrome, util::Bytes payload) {
        wire::Packet packet = headers(false, opcode, psn);
        packet.aeth = wire::Aeth{.syndrome = syndrome, .msn = msn_ & wire::Psn::mask};
        packet.payload = payload;
        emit(packet);
    }

    static wire::Reth reth(std::size_t length, std::size_t offset) {
        return {
            .va = remote_va + offset, .rkey = rkey, .dmalen = static_cast<std::uint32_t>(length)};
    }

    static wire::Packet headers(bool to_server, std::uint8_t opcode, wire::Psn psn) {
        wire::MacAddress from{{0x02, 0, 0, 0, 0, 2}};
        wire::MacAddress to{{0x02, 0, 0, 0, 0, 1}};
        if (!to_server)
            std::swap(from, to);
        wire::Packet packet;
        packet.ethernet = wire::Ethernet{.dst = to, .src = from, .type = 0};
        packet.ipv4 = wire::Ipv4{.df = true,
                                 .ttl = 64,
                                 .src = to_server ? client_address : server_address,
                                 .dst = to_server ? server_address : client_address};
        packet.udp = wire::Udp{.src_port = 49152};
        packet.bth = wire::Bth{.opcode = opcode,
                               .p_key = 0xffff,
                               .dest_qpn = to_server ? server_qpn : client_qpn,
                               .psn = psn};
        return packet;
    }

    void emit(const wire::Packet& packet) {
        pass(200, 2'000);
        ++captured_;
        const auto bytes = wire::encode(packet);
        capture_.packet(0, {.time = now_,
                            .bytes = bytes,
                            .original_length = static_cast<std::uint32_t>(bytes.size())});
    }

    void log(const char* role, const char* name, runlog::Fields fields) {
        const bool is_client = role == std::string_view("client");
        const auto time = now_ + (is_client ? shape_.client_ahead : std::chrono::nanoseconds());
        (is_client ? client_log_ : server_log_)
            << runlog::to_json({time.count(), role, name, std::move(fields)}) << '\n';
    }

    unsigned random(unsigned below) { return static_cast<unsigned>(random_() % below); }
    void pass(unsigned least_ns, unsigned most_ns) {
        now_ += std::chrono::nanoseconds(least_ns + random(most_ns - least_ns));
    }

    static constexpr wire::Psn start{0xfff000};  // wraps soon

    RunShape shape_;
    std::mt19937 random_;
    std::chrono::nanoseconds now_ = std::chrono::seconds(1'767'225'600);
    capture::PcapngWriter capture_;
    std::ofstream server_log_, client_log_;
    std::uint64_t captured_ = 0;
    std::uint64_t requests_ = 0;
    wire::Psn next_ = start;
    std::uint32_t msn_ = 0;
};

}  // namespace

void make_synthetic_run(const std::string& directory, const RunShape& shape) {
    std::filesystem::create_directories(directory);
    Maker(directory, shape).make();
    const auto seconds = std::chrono::duration<double>(shape.measured_ahead).count();
    std::ofstream(directory + "/run.json") << fmt::format(
        R"({{"step":"made","hosts":{{"server":{{"address":"192.0.2.1","interface":"eth0"}},)"
        R"("client":{{"address":"192.0.2.2","interface":"eth0"}}}},)"
        R"("clock":{{"server":{{"offset_s":0.0}},"client":{{"offset_s":{:.9f}}}}},"ended":"yes"}})",
        seconds);
}

}  // namespace bench
