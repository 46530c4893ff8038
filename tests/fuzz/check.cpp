#include "fuzz/check.hpp"

#include <algorithm>

#include "filter/json.hpp"
#include "filter/where.hpp"
#include "upper/message.hpp"
#include "util/json.hpp"
#include "wire/packet_invariants.hpp"
#include "wire/roce_flows.hpp"
#include "wire/text/line.hpp"

namespace fuzz {
namespace {

std::string all_fields() {
    std::string names;
    for (const filter::Field& field : filter::fields())
        names.append(names.empty() ? "" : ",").append(field.name);
    return names;
}

std::vector<filter::Where> filters() {
    std::vector<filter::Where> all;
    for (const auto* filter :
         {"ip.addr == 192.0.2.0/24 or ipv6.addr == 2001:db8::/32 or cm.ip_cm.sip == 10.0.0.0/8",
          "bth.psn in 0xfffff0..0x10 and not (aeth.type == NAK or reth.va >= 0x1000)",
          "bth.opcode_name contains WRITE or malformed contains length or cm.private contains 00",
          "eth.addr != 02:00:00:00:00:01 and time > -1.5 and aeth.timer_ms in 0.01..5",
          "not_roce contains TCP or truncated or icrc.status in {good, bad} or tcp.port == 80"})
        all.push_back(filter::Where::parse(filter));
    return all;
}

void check_text(const filter::View& view) {
    std::string upper_text;
    upper::append_text(upper_text, *view.upper);
    for (const bool colour : {false, true}) {
        std::string line;
        wire::Listing(util::TextStyle(colour))
            .append(line, view.number, view.time, view.packet, view.frame, upper_text);
        require(std::ranges::count(line, '\n') == 1 && line.ends_with('\n'),
                "a packet's line is one line: " + line);
    }
}

void check_rows(const filter::View& view) {
    static const filter::Row tsv(all_fields(), filter::Row::Format::Tsv);
    static const filter::Row csv(all_fields(), filter::Row::Format::Csv);
    std::string row;
    tsv.append(row, view);
    const auto tabs = static_cast<std::size_t>(std::ranges::count(row, '\t'));
    require(tabs + 1 == filter::fields().size() && std::ranges::count(row, '\n') == 1,
            "a row has a column a field: " + row);
    csv.append(row, view);
}

void check_json(const filter::View& view) {
    std::string text;
    filter::append_json(text, view);
    require(text.starts_with('{') && util::Json::accept(text),
            "a packet is a JSON object: " + text);
    require(text.find("\"t_ns\":" + std::to_string(view.time.count()) + ",") != std::string::npos,
            "with its time: " + text);
    require(text.find("\"\":") == std::string::npos, "each field has a name: " + text);
}

// The result of decoding must not depend on whether the ICRC is computed.
void check_without_icrc(const wire::Packet& packet, util::Bytes frame, wire::LinkType link,
                        std::size_t length) {
    const auto skipped = wire::decode(frame, link, length, wire::IcrcCheck::Skip);
    require(wire_test::broken_invariant(skipped, frame).empty(),
            "without its ICRC: " + std::string(wire_test::broken_invariant(skipped, frame)));
    require(skipped.is_complete() == packet.is_complete() &&
                skipped.icrc.has_value() == packet.icrc.has_value() &&
                skipped.malformed.has_value() == packet.malformed.has_value() &&
                skipped.payload_length == packet.payload_length,
            "a packet is the same without its ICRC computed");
}

// A packet of an unknown flow is as decoded, one to another UDP port, or a reply from port 4791.
void check_flow(const wire::Packet& packet, util::Bytes frame, wire::LinkType link,
                std::size_t length) {
    static wire::RoceFlows flows, skipping;
    const auto decided = flows.decode(frame, link, length);
    require(wire_test::broken_invariant(decided, frame).empty(), "a packet of a flow");
    require(decided.bth == packet.bth || decided.not_roce == wire::NotRoce::OtherUdpPort ||
                (decided.udp && decided.udp->src_port == wire::roce_v2_port),
            "a flow does not change a packet");
    require(flows.left_out_text().empty() == (flows.left_out() == 0), "what is left out is told");
    const auto skipped = skipping.decode(frame, link, length, wire::IcrcCheck::Skip);
    require(skipped.is_roce() == decided.is_roce(),
            "whether a packet is RoCE does not depend on the ICRC's computation");
}

// Returns an empty message, and the packet's messages of all services.
std::vector<upper::Message> messages_of(const wire::Packet& packet) {
    std::vector<upper::Message> messages(1);
    for (const upper::Channel& channel : upper::channels()) {
        messages.push_back(upper::parse(channel, packet.payload, packet.payload_length));
        if (packet.cm)
            messages.push_back(upper::parse(channel.service, *packet.cm));
    }
    const auto is_none = [](const upper::Message& message) {
        return message.as<std::monostate>() != nullptr;
    };
    messages.erase(std::remove_if(messages.begin() + 1, messages.end(), is_none), messages.end());
    return messages;
}

}  // namespace

void look_at(util::Bytes frame, wire::LinkType link, std::size_t length,
             std::chrono::nanoseconds time) {
    const wire::Packet packet = wire::decode(frame, link, length);
    const auto broken = wire_test::broken_invariant(packet, frame);
    require(broken.empty(), std::string(broken));
    check_without_icrc(packet, frame, link, length);
    check_flow(packet, frame, link, length);

    std::string scratch;
    filter::View view{1, time, packet, frame, length, scratch};
    const auto messages = messages_of(packet);
    for (const upper::Message& message : messages) {
        view.upper = &message;
        check_text(view);
    }
    // Rows and JSON take much longer than the text: the frame's last byte selects one message.
    const auto last = frame.empty() ? std::size_t{0} : std::to_integer<std::size_t>(frame.back());
    view.upper = &messages[last % messages.size()];
    check_rows(view);
    check_json(view);
    static const std::vector<filter::Where> all = filters();
    for (const filter::Where& filter : all)
        static_cast<void>(filter.matches(view));
}

}  // namespace fuzz
