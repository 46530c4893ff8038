// Encapsulations, and MAC control frames.
#include <array>
#include <string>

#include "filter/field_tables.hpp"
#include "filter/getter.hpp"

namespace filter {
namespace {

using wire::MacControl;
using wire::OuterKind;
using wire::OuterLayer;
using wire::Packet;
using enum Kind;

Value depth(const View& view) {
    const auto& outer = view.packet.outer;
    return outer ? Value(std::uint64_t{outer->count}) : Value();
}

// Joins several values of a field as tshark does.
Value kinds(const View& view) {
    if (!view.packet.outer)
        return {};
    view.scratch.clear();
    for (const OuterLayer& layer : *view.packet.outer)
        view.scratch.append(view.scratch.empty() ? "" : ",").append(name(layer.kind));
    return std::string_view(view.scratch);
}

// Address of the outermost layer that has one.
template <auto Address>
Value address(const View& view) {
    if (view.packet.outer)
        for (const OuterLayer& layer : *view.packet.outer) {
            const wire::IpAddress address = (layer.*Address)();
            if (const auto* ipv4 = std::get_if<wire::Ipv4Address>(&address))
                return *ipv4;
            if (const auto* ipv6 = std::get_if<wire::Ipv6Address>(&address))
                return *ipv6;
        }
    return {};
}

// Returns the innermost layer of this kind.
const OuterLayer* layer_of(const View& view, OuterKind kind) {
    const OuterLayer* found = nullptr;
    if (view.packet.outer)
        for (const OuterLayer& layer : *view.packet.outer)
            if (layer.kind == kind)
                found = &layer;
    return found;
}

template <OuterKind Kind>
Value has_layer(const View& view) {
    return layer_of(view, Kind) != nullptr ? Value(true) : Value();
}
template <OuterKind Kind>
Value id(const View& view) {
    const OuterLayer* layer = layer_of(view, Kind);
    return layer != nullptr && layer->has_id() ? to_value(layer->id) : Value();
}
template <OuterKind Kind, auto Member>
Value of_layer(const View& view) {
    const OuterLayer* layer = layer_of(view, Kind);
    return layer != nullptr ? to_value(layer->*Member) : Value();
}
Value erspan_vlan(const View& view) {
    const OuterLayer* layer = layer_of(view, OuterKind::Erspan);
    return layer != nullptr && layer->has_id() ? to_value(layer->extra) : Value();
}

template <bool (MacControl::*Is)() const>
Value has_control(const View& view) {
    const auto& control = view.packet.mac_control;
    return control && ((*control).*Is)() ? Value(true) : Value();
}
Value enable_vector(const View& view) {
    const auto& control = view.packet.mac_control;
    return control && control->is_pfc() ? to_value(control->class_enable) : Value();
}
template <std::size_t Priority>
Value pfc_quanta(const View& view) {
    const auto& control = view.packet.mac_control;
    return control && control->is_pfc() ? to_value(control->quanta[Priority]) : Value();
}
Value pause_quanta(const View& view) {
    const auto& control = view.packet.mac_control;
    return control && control->is_pause() ? to_value(control->quanta[0]) : Value();
}

constexpr auto outer_table = std::to_array<Field>({
    {"outer", Present, "the packet is encapsulated", has<&Packet::outer>},
    {"outer.depth", Decimal, "number of encapsulations", depth},
    {"outer.kind", Text, "vxlan, gre, erspan, ...; of several \"erspan,vxlan\", outermost first",
     kinds},
    {"outer.src", Ip, "source of the outermost IP header", address<&OuterLayer::src>},
    {"outer.dst", Ip, "destination of the outermost IP header", address<&OuterLayer::dst>},
    {"vxlan", Present, "VXLAN header", has_layer<OuterKind::Vxlan>},
    {"vxlan.vni", Decimal, "virtual network identifier", id<OuterKind::Vxlan>},
    {"geneve", Present, "GENEVE header", has_layer<OuterKind::Geneve>},
    {"geneve.vni", Decimal, "virtual network identifier", id<OuterKind::Geneve>},
    {"geneve.proto_type", Hex4, "protocol inside; 0x6558: Ethernet",
     of_layer<OuterKind::Geneve, &OuterLayer::extra>},
    {"gre", Present, "GRE header other than NVGRE and ERSPAN", has_layer<OuterKind::Gre>},
    {"gre.proto", Hex4, "protocol inside; 0x6558: Ethernet",
     of_layer<OuterKind::Gre, &OuterLayer::extra>},
    {"gre.key", Hex8, "key", id<OuterKind::Gre>},
    {"nvgre", Present, "NVGRE header", has_layer<OuterKind::Nvgre>},
    {"nvgre.vsid", Decimal, "virtual subnet ID: the first 24 bits of the GRE key",
     id<OuterKind::Nvgre>},
    {"erspan", Present, "ERSPAN header", has_layer<OuterKind::Erspan>},
    {"erspan.type", Decimal, "1 to 3", of_layer<OuterKind::Erspan, &OuterLayer::detail>},
    {"erspan.spanid", Decimal, "session", id<OuterKind::Erspan>},
    {"erspan.vlan", Decimal, "VLAN of the mirrored frame", erspan_vlan},
    {"mpls", Present, "MPLS labels", has_layer<OuterKind::Mpls>},
    {"mpls.label", Decimal, "the innermost label", id<OuterKind::Mpls>},
    {"mpls.labels", Decimal, "number of labels", of_layer<OuterKind::Mpls, &OuterLayer::detail>},
    {"gtp", Present, "GTP-U header", has_layer<OuterKind::Gtp>},
    {"gtp.teid", Hex8, "tunnel endpoint identifier", id<OuterKind::Gtp>},
    {"pppoe", Present, "PPPoE session header", has_layer<OuterKind::Pppoe>},
    {"pppoe.session_id", Hex4, "session", id<OuterKind::Pppoe>},
    {"macc", Present, "MAC control frame", has<&Packet::mac_control>},
    {"macc.opcode", Hex4, "1 is PAUSE, 0x101 is PFC",
     in<&Packet::mac_control, &MacControl::opcode>},
    {"pfc", Present, "priority-based flow control", has_control<&MacControl::is_pfc>},
    {"pfc.enbv", Hex4, "bit N: priority N has quanta", enable_vector,
     in_wireshark("macc.cbfc.enbv")},
    {"pfc.c0", Decimal, "pause time of priority 0 in quanta; 0: resume", pfc_quanta<0>,
     in_wireshark("macc.cbfc.pause_time.c0")},
    {"pfc.c1", Decimal, "pause time of priority 1 in quanta", pfc_quanta<1>,
     in_wireshark("macc.cbfc.pause_time.c1")},
    {"pfc.c2", Decimal, "pause time of priority 2 in quanta", pfc_quanta<2>,
     in_wireshark("macc.cbfc.pause_time.c2")},
    {"pfc.c3", Decimal, "pause time of priority 3 in quanta", pfc_quanta<3>,
     in_wireshark("macc.cbfc.pause_time.c3")},
    {"pfc.c4", Decimal, "pause time of priority 4 in quanta", pfc_quanta<4>,
     in_wireshark("macc.cbfc.pause_time.c4")},
    {"pfc.c5", Decimal, "pause time of priority 5 in quanta", pfc_quanta<5>,
     in_wireshark("macc.cbfc.pause_time.c5")},
    {"pfc.c6", Decimal, "pause time of priority 6 in quanta", pfc_quanta<6>,
     in_wireshark("macc.cbfc.pause_time.c6")},
    {"pfc.c7", Decimal, "pause time of priority 7 in quanta", pfc_quanta<7>,
     in_wireshark("macc.cbfc.pause_time.c7")},
    {"pause", Present, "PAUSE of the whole link", has_control<&MacControl::is_pause>},
    {"pause.pause_time", Decimal, "pause time in quanta; 0: resume", pause_quanta,
     in_wireshark("macc.pause_time")},
});

}  // namespace

std::span<const Field> outer_fields() {
    return outer_table;
}

}  // namespace filter
