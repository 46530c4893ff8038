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

// In the order of HeaderMask's bits.
constexpr std::array<std::string_view, header_sizes.size()> names{
    "rdeth",     "dceth", "deth",         "xrceth", "feth", "reth",
    "atomiceth", "aeth",  "atomicacketh", "immdt",  "ieth", "reserved"};

// Repeats the decoder's steps (decode_link.cpp, decode_ip.cpp, decode_transport.cpp), which do not
// record the positions of headers.
class Walker {
  public:
    Walker(const Packet& packet, util::Bytes frame) : packet_(packet), frame_(frame) {}

    std::vector<HeaderSpan> spans() {
        link();
        if (packet_.mac_control)
            mac_control(*packet_.mac_control);
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
        if (packet_.outer)
            add("outer", packet_.outer->size);
        if (packet_.sll && !packet_.outer)
            add("sll", packet_.sll->version == 2 ? LinuxCooked::size2 : LinuxCooked::size);
        if (!packet_.outer || packet_.outer->carries_ethernet) {
            if (packet_.ethernet)
                add("eth", Ethernet::size);
            for (std::size_t tag = 0; tag < packet_.vlans.count; ++tag)
                add("vlan", Vlan::size);
            add("vlan", packet_.vlans.skipped * Vlan::size);
        }
        if (packet_.network_at > at_)
            add("llc", packet_.network_at - at_);
    }

    void mac_control(const MacControl& control) {
        add("macc", MacControl::opcode_size);
        if (control.is_pause())
            add("pause", MacControl::pause_size);
        if (control.is_pfc())
            add("pfc", MacControl::pfc_size);
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
        if (packet_.network_end == 0)
            return add("ip", Ipv4::size);
        // If it is less, this is a segment that the NIC has yet to split (TSO).
        if (ip.total_length >= ip.header_length)
            end_ = at_ + ip.total_length;
        add("ip", packet_.network_end - at_);
    }

    void ipv6(const Ipv6& ip) {
        if (packet_.network_end == 0)
            return add("ipv6", Ipv6::size);
        // 0: a jumbogram's length is in an option (RFC 2675).
        if (ip.payload_length != 0)
            end_ = at_ + Ipv6::size + ip.payload_length;
        add("ipv6", packet_.network_end - at_);
    }

    void grh(const Grh& grh) {
        if (is_grh_valid())
            end_ = at_ + Grh::size + grh.paylen;
        add("grh", Grh::size);
    }

    // After these two faults the decoder stops and does not use the length.
    bool is_grh_valid() const {
        return !packet_.malformed || (packet_.malformed->fault != Fault::IpVersion &&
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

    // `length`: bytes on the wire.
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
    // On the wire (the capture may have fewer bytes): the start of the next header, and the end of
    // the packet.
    std::size_t at_ = 0;
    std::size_t end_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace

std::vector<HeaderSpan> header_spans(const Packet& packet, util::Bytes frame) {
    return Walker(packet, frame).spans();
}

}  // namespace wire
