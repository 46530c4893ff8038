#include "wire/header_span.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>

#include "wire/each_header.hpp"
#include "wire/tcp.hpp"

namespace wire {
namespace {

// In the order of the bits of HeaderMask.
constexpr std::array<std::string_view, header_sizes.size()> names{
    "rdeth",     "dceth", "deth",         "xrceth", "feth", "reth",
    "atomiceth", "aeth",  "atomicacketh", "immdt",  "ieth", "reserved"};

// Goes the way of the decoder again (decode.cpp, decode_transport.cpp), which left behind what it
// found but not where.
class Walker {
  public:
    Walker(const Packet& packet, util::Bytes frame) : packet_(packet), frame_(frame) {}

    std::vector<HeaderSpan> spans() {
        link();
        network();
        if (packet_.udp)
            udp(*packet_.udp);
        transport();
        tcp();
        add("rest", captured_end() - std::min(at_, captured_end()));
        at_ = captured_end();
        end_ = frame_.size();
        add("trailer", end_ - at_);
        return std::move(spans_);
    }

  private:
    void link() {
        if (packet_.ethernet)
            add("eth", Ethernet::size);
        if (packet_.sll)
            add("sll", packet_.sll->version == 2 ? LinuxCooked::size2 : LinuxCooked::size);
        for (std::size_t tag = 0; tag < packet_.vlans.count; ++tag)
            add("vlan", Vlan::size);
    }

    void network() {
        if (packet_.ipv4)
            ipv4(*packet_.ipv4);
        else if (packet_.ipv6)
            ipv6(*packet_.ipv6);
        else if (packet_.grh)
            grh(*packet_.grh);
    }

    void ipv4(const Ipv4& ip) {
        if (!is_network_header_valid())
            return add("ip", Ipv4::size);
        // Where it is less, a segment that the NIC has yet to cut up.
        if (ip.total_length >= ip.header_length)
            end_ = at_ + ip.total_length;
        add("ip", ip.header_length);
    }

    void ipv6(const Ipv6& ip) {
        if (!is_network_header_valid())
            return add("ipv6", Ipv6::size);
        // 0: a jumbogram's length is in an option (RFC 2675).
        if (ip.payload_length != 0)
            end_ = at_ + Ipv6::size + ip.payload_length;
        add("ipv6", Ipv6::size + extension_headers(ip.next_header, at_ + Ipv6::size));
    }

    // Bytes of those that were decoded, from `begin` on (RFC 8200, section 4).
    std::size_t extension_headers(std::uint8_t next, std::size_t begin) const {
        constexpr std::size_t unit = 8;
        std::size_t at = begin;
        while (true) {
            const bool is_options =
                next == ip_protocol::hop_by_hop || next == ip_protocol::destination_options;
            if ((!is_options && next != ip_protocol::fragment) || at + unit > captured_end())
                break;
            const auto header = frame_.subspan(at).first<unit>();
            at += unit + (is_options ? util::be8<1>(header) * unit : 0);
            // Behind the header of a later fragment are no more headers.
            if (!is_options && util::be16<2>(header) >> 3 != 0)
                break;
            next = util::be8<0>(header);
        }
        return at - begin;
    }

    void grh(const Grh& grh) {
        if (is_network_header_valid())
            end_ = at_ + Grh::size + grh.paylen;
        add("grh", Grh::size);
    }

    // Those where the decoder goes no further than that header, and does not believe its length.
    bool is_network_header_valid() const {
        return !packet_.malformed || (packet_.malformed->fault != Fault::IpVersion &&
                                      packet_.malformed->fault != Fault::IpHeaderLength &&
                                      packet_.malformed->fault != Fault::GrhNextHeader);
    }

    bool is_end_known() const {
        return !packet_.malformed || packet_.malformed->fault != Fault::FirstFragment;
    }

    void udp(const Udp& udp) {
        if (!packet_.not_roce && udp.length >= Udp::size && is_end_known())
            end_ = std::min(end_, at_ + udp.length);
        add("udp", Udp::size);
    }

    void transport() {
        if (!packet_.bth)
            return;
        add("bth", Bth::size);
        for_each_extension_header(packet_,
                                  [&](HeaderMask bit, std::string_view, const auto& header) {
                                      if (header)
                                          extension(bit);
                                      return true;
                                  });
        if (packet_.opcode != nullptr && packet_.opcode->has(header::cnp_reserved))
            extension(header::cnp_reserved);
        if (!packet_.icrc)
            return;
        if (!is_end_known())
            return payload(packet_.payload.size());
        payload(packet_.payload_length);
        add("pad", end_ - icrc_size - at_);
        add("icrc", icrc_size);
    }

    void extension(HeaderMask bit) {
        const auto index = static_cast<std::size_t>(std::countr_zero(bit));
        add(names[index], header_sizes[index]);
    }

    void payload(std::size_t length) {
        const std::size_t end = at_ + length;
        if (packet_.mad)
            add("mad", Mad::size);
        if (packet_.cm)
            add("cm", Mad::data_size);
        add("payload", end - at_);
    }

    void tcp() {
        const auto segment = tcp_segment(packet_, frame_);
        if (!segment)
            return;
        add("tcp", std::max(segment->header_length, TcpSegment::size));
        if (segment->header_length >= TcpSegment::size)
            add("data", segment->payload_length);
    }

    // `length`: on the wire.
    void add(std::string_view name, std::size_t length) {
        const std::size_t end = std::min(at_ + length, captured_end());
        if (at_ < end)
            spans_.push_back({name, at_, end - at_});
        at_ += length;
    }

    std::size_t captured_end() const { return std::min(end_, frame_.size()); }

    const Packet& packet_;
    util::Bytes frame_;
    std::vector<HeaderSpan> spans_;
    // On the wire, of which the capture may have less: where the next header begins, and where the
    // packet ends.
    std::size_t at_ = 0;
    std::size_t end_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace

std::vector<HeaderSpan> header_spans(const Packet& packet, util::Bytes frame) {
    return Walker(packet, frame).spans();
}

}  // namespace wire
