#include "trace/simulate/model.hpp"

#include <algorithm>
#include <utility>

#include "trace/simulate/responder.hpp"
#include "wire/encode.hpp"

namespace simulate {
namespace {

constexpr std::uint8_t remote_access_error = 0x62;  // NAK, code 2
constexpr std::uint8_t no_credits = 0x1f;           // ACK, without end-to-end flow control
constexpr std::uint8_t acknowledge = 0x11;
constexpr std::uint8_t atomic_acknowledge = 0x12;
constexpr std::uint8_t read_first = 0x0d, read_middle = 0x0e, read_last = 0x0f, read_only = 0x10;

Response response_of(const wire::Packet& packet) {
    if (packet.bth->opcode != acknowledge)
        return Response::Data;
    switch (packet.aeth->kind()) {
        case wire::AethKind::Ack:
            return Response::Ack;
        case wire::AethKind::RnrNak:
            return Response::RnrNak;
        default:
            return packet.aeth->code() == 0 ? Response::SequenceNak : Response::FatalNak;
    }
}

}  // namespace

// A requester and its responder.
class Model::Half : public Requester::User, public Responder::User {
  public:
    Half(Model& model, const Traffic& traffic, emulator::Host requester)
        : model_(model),
          traffic_(traffic),
          host_(requester),
          requester_(model.events_, *this, model.is_.requester),
          responder_(model.events_, *this, {.ack = no_credits, .rnr = 0}, false) {
        for (const PostedMessage& message : traffic.messages)
            model.events_.at(message.posted_ns, [this, &message] {
                if (!requester_.has_failed())
                    requester_.post(message);
            });
    }

    void arrive(emulator::Host at, const wire::Packet& packet) {
        const bool is_response = packet.opcode->is_response();
        const wire::Bth& expected = *(is_response ? response() : request()).bth;
        constexpr unsigned partition = 0x7fff;  // without the bit of full membership
        if (packet.bth->dest_qpn != expected.dest_qpn ||
            ((packet.bth->p_key ^ expected.p_key) & partition) != 0 ||
            at != (is_response ? host_ : 1 - host_))
            return;
        // A PSN before the first one becomes larger than all places.
        const auto place =
            static_cast<std::uint32_t>(distance(traffic_.first_psn, packet.bth->psn));
        if (is_response)
            requester_.hear(place, response_of(packet),
                            static_cast<std::int64_t>(packet.aeth && packet.aeth->rnr_timer_ms()
                                                          ? *packet.aeth->rnr_timer_ms() * 1e6
                                                          : 0));
        else
            enter(place, packet);
    }

  private:
    const wire::Packet& request() const { return traffic_.requests.begin()->second.packet; }
    const wire::Packet& response() const { return traffic_.acknowledgement.front().packet; }

    wire::Packet request(const Message& message, std::uint32_t place) const {
        wire::Packet made = traffic_.requests.at(message.wants_data ? message.first : place).packet;
        const std::uint32_t done = (place - message.first) * traffic_.path_mtu;
        if (message.wants_data && done != 0) {
            made.bth->psn = traffic_.first_psn + place;
            made.reth->va += done;
            made.reth->dmalen -= done;
        }
        return made;
    }

    void enter(std::uint32_t place, const wire::Packet& packet) {
        Responder::Request entered{.place = place, .asks_for_ack = packet.bth->a};
        const auto after = std::ranges::upper_bound(traffic_.messages, place, {}, &Message::first);
        if (after != traffic_.messages.begin() && place < std::prev(after)->end()) {
            const Message& message = *std::prev(after);
            entered.message = message;
            const wire::Packet sent = request(message, place);
            if (const auto refused = traffic_.refusals.find(place);
                refused != traffic_.refusals.end())
                entered.refusal = refused->second;
            if (packet.reth != sent.reth || packet.atomic_eth != sent.atomic_eth)
                entered.refusal = remote_access_error;
        }
        responder_.enter(entered, model_.is_.execute_ns);
    }

    // Requester::User
    void send(const Message& message, std::uint32_t place) override {
        model_.send(host_, request(message, place));
    }
    void completed(std::size_t /*message*/) override {}
    void timed_out() override {}
    void failed(std::size_t message) override { model_.output_.failed(traffic_, message); }

    // Responder::User
    wire::Packet made(std::uint32_t place, std::uint8_t opcode) const {
        wire::Packet packet = response();
        packet.bth->opcode = opcode;
        packet.opcode = wire::find_opcode(opcode);
        packet.bth->psn = traffic_.first_psn + place;
        packet.payload = {};
        packet.aeth.reset();
        packet.atomic_ack_eth.reset();
        return packet;
    }
    void answer(std::uint32_t place, std::uint8_t syndrome, std::uint32_t msn) override {
        wire::Packet packet = made(place, acknowledge);
        packet.aeth = wire::Aeth{.syndrome = syndrome, .msn = msn};
        model_.send(1 - host_, packet);
    }
    void send_data(const Message& message, std::uint32_t begin, std::uint32_t place,
                   std::uint32_t msn) override {
        const auto captured = traffic_.data.find(place);
        const wire::Packet& asked = traffic_.requests.at(message.first).packet;
        const bool is_last = place + 1 == message.end();
        wire::Packet packet = made(place, asked.atomic_eth             ? atomic_acknowledge
                                          : begin + 1 == message.end() ? read_only
                                          : place == begin             ? read_first
                                          : is_last                    ? read_last
                                                                       : read_middle);
        if (packet.bth->opcode != read_middle)
            packet.aeth = wire::Aeth{.syndrome = no_credits, .msn = msn};
        if (asked.atomic_eth) {
            packet.atomic_ack_eth = wire::AtomicAckEth{};
            if (captured != traffic_.data.end() && captured->second.packet.atomic_ack_eth)
                packet.atomic_ack_eth = captured->second.packet.atomic_ack_eth;
        } else if (captured != traffic_.data.end()) {
            packet.payload = captured->second.packet.payload;
        } else {
            const std::uint32_t before = (place - message.first) * traffic_.path_mtu;
            zeros_.resize(is_last ? asked.reth->dmalen - before : traffic_.path_mtu);
            packet.payload = zeros_;
        }
        model_.send(1 - host_, packet);
    }
    bool is_ready() override { return true; }

    Model& model_;
    const Traffic& traffic_;
    emulator::Host host_;
    std::vector<std::byte> zeros_;  // data that were not captured
    Requester requester_;
    Responder responder_;
};

// What leaves the rules.
class Model::Link : public emulator::StageOutput {
  public:
    explicit Link(Model& model) : model_(model) {}

    std::uint64_t arrived(const emulator::ReceivedFrame& arrival, bool is_roce,
                          const std::vector<emulator::RuleEvent>& events) override {
        return model_.output_.arrived(arrival, is_roce, events);
    }
    void acted(const emulator::Sent& sent, const emulator::RuleEvent& event) override {
        model_.output_.acted(sent, event);
    }
    void leaves(emulator::Host from, std::optional<emulator::Host> to, util::Bytes bytes,
                bool /*is_roce*/) override {
        model_.output_.left(model_.time(), from, bytes);
        model_.events_.after(
            model_.is_.delay_ns,
            [this, to = to.value_or(1 - from), frame = std::vector(bytes.begin(), bytes.end())] {
                model_.arrive(to, frame);
            });
    }

  private:
    Model& model_;
};

Model::Model(const std::vector<Traffic>& traffic, const std::array<Host, 2>& hosts,
             std::vector<emulator::Rule> rules, const Settings& settings, Output& output)
    : is_(settings),
      output_(output),
      hosts_(hosts),
      stage_({hosts[0].name, hosts[1].name}),
      link_(std::make_unique<Link>(*this)) {
    for (emulator::Rule& rule : rules)
        stage_.add(std::move(rule));
    for (const Traffic& one : traffic)
        for (const emulator::Host requester : {0U, 1U})
            if (one.requester == hosts[requester].address &&
                one.responder == hosts[1 - requester].address)
                halves_.push_back(std::make_unique<Half>(*this, one, requester));
}

Model::~Model() = default;

bool Model::run() {
    constexpr std::uint64_t most_events = 10'000'000;
    return events_.run(most_events);
}

void Model::send(emulator::Host from, wire::Packet packet) {
    if (packet.ipv4)
        packet.ipv4->id = ++ip_ids_.at(from);
    const std::vector<std::byte> frame = wire::encode(packet);
    output_.captured(time(), from, frame);
    stage_.take({.time = time(), .from = from, .to = 1 - from, .bytes = frame},
                util::Clock::time_point(std::chrono::nanoseconds(events_.now())), *link_);
    release();
}

// Calls itself when the rules hold a frame until then.
void Model::release() {
    const std::int64_t now = events_.now();
    stage_.release(util::Clock::time_point(std::chrono::nanoseconds(now)), *link_);
    const util::Deadline next = stage_.next();
    if (!next)
        return;
    const std::int64_t at =
        std::max<std::int64_t>(now, std::chrono::nanoseconds(next->time_since_epoch()).count());
    if (release_at_ && *release_at_ <= at)
        return;
    release_at_ = at;
    events_.at(at, [this] {
        release_at_.reset();
        release();
    });
}

void Model::arrive(emulator::Host host, const std::vector<std::byte>& frame) {
    output_.captured(time(), host, frame);
    const wire::Packet packet = wire::decode(frame, wire::LinkType::Ethernet);
    if (!packet.is_complete() || packet.opcode == nullptr ||
        packet.icrc->status != wire::IcrcStatus::Good)
        return;
    for (const auto& half : halves_)
        half->arrive(host, packet);
}

}  // namespace simulate
