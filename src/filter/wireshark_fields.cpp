// Fields that have only a Wireshark name. Wireshark has separate names for each message of the
// connection manager: infiniband.cm.req.localqpn and infiniband.cm.rep.localqpn are both
// cm.localqpn.
#include <array>
#include <deque>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "filter/field_tables.hpp"
#include "filter/upper_getter.hpp"

namespace filter {
namespace {

using wire::AethKind;
using wire::CmReq;
using wire::Packet;
using enum Kind;

// Wireshark has the parts of the syndrome as numbers, with one field per type.
Value syndrome_type(const View& view) {
    return view.packet.aeth ? to_value(static_cast<std::uint8_t>(view.packet.aeth->kind()))
                            : Value();
}
template <AethKind Type>
Value syndrome_code(const View& view) {
    const auto& aeth = view.packet.aeth;
    return aeth && aeth->kind() == Type ? to_value(aeth->code()) : Value();
}

template <typename Message>
bool is_message(const View& view) {
    return cm_message<Message>(view) != nullptr;
}

// In IPv4 packets, Wireshark shows a path's GID as the IPv4 address in its last bytes.
template <std::size_t Offset>
Value ipv4_of_gid(const View& view) {
    const bool is_there = cm_message<CmReq>(view) != nullptr && view.packet.ipv4;
    return is_there ? Value(wire::Ipv4Address::at<Offset>(*view.packet.cm->data)) : Value();
}

constexpr auto numbers = std::to_array<Field>({
    {"aeth.syndrome.opcode", Decimal, "0 ACK, 1 RNR NAK, 3 NAK", syndrome_type},
    {"aeth.syndrome.credit_count", Decimal, "of an ACK", syndrome_code<AethKind::Ack>},
    {"aeth.syndrome.timer", Decimal, "of an RNR NAK", syndrome_code<AethKind::RnrNak>},
    {"aeth.syndrome.reserved_value", Decimal, "of another", syndrome_code<AethKind::Reserved>},
    {"aeth.syndrome.error_code", Decimal, "of a NAK", syndrome_code<AethKind::Nak>},
    {"cm.req.prim_localgid_ipv4", Kind::Ipv4, "primary path", ipv4_of_gid<68>},
    {"cm.req.prim_remotegid_ipv4", Kind::Ipv4, "primary path", ipv4_of_gid<84>},
});

bool has_service_tag(const View& view) {
    return view.packet.ethernet && view.packet.ethernet->type == wire::ether_type::service_vlan;
}
template <unsigned Version>
bool has_ip_cm_version(const View& view) {
    const auto* request = cm_message<CmReq>(view);
    return request != nullptr && request->ip_cm && request->ip_cm->ip_version == Version;
}
bool has_ip_cm_header(const View& view) {
    return has_ip_cm_version<4>(view) || has_ip_cm_version<6>(view);
}
bool has_no_ip_cm_header(const View& view) {
    return is_message<CmReq>(view) && !has_ip_cm_header(view);
}

template <typename Kept>
bool carries(const View& view) {
    return part<Kept>(view) != nullptr;
}
bool carries_fabrics_command(const View& view) {
    const auto* command = part<upper::NvmeCommand>(view);
    return command != nullptr && command->fctype;
}

struct Alias {
    std::string_view name;
    std::string_view field;
    bool (*is_of)(const View&);
};
constexpr auto aliases = std::to_array<Alias>({
    {"ieee8021ad.priority", "vlan.priority", has_service_tag},
    {"ieee8021ad.dei", "vlan.dei", has_service_tag},
    {"ieee8021ad.id", "vlan.id", has_service_tag},
    {"cm.req", "cm.localcommid", is_message<CmReq>},
    {"cm.rep", "cm.localcommid", is_message<wire::CmRep>},
    {"cm.req.serviceid.dport", "cm.port", is_message<CmReq>},
    {"cm.req.remoteqpneecn", "cm.remoteqpn", is_message<wire::CmDreq>},
    {"cm.req.ip_cm", "cm.ip_cm", is_message<CmReq>},
    {"cm.req.private", "cm.private", has_no_ip_cm_header},
    {"cm.req.ip_cm.private", "cm.private", has_ip_cm_header},
    {"cm.req.ip_cm.sip4", "cm.ip_cm.sip", has_ip_cm_version<4>},
    {"cm.req.ip_cm.dip4", "cm.ip_cm.dip", has_ip_cm_version<4>},
    {"cm.req.ip_cm.sip6", "cm.ip_cm.sip", has_ip_cm_version<6>},
    {"cm.req.ip_cm.dip6", "cm.ip_cm.dip", has_ip_cm_version<6>},
    {"nvme.fabrics.cmd.cid", "nvme.cmd.cid", carries_fabrics_command},
    {"nvme-rdma.cm.req.recfmt", "nvme.cm.recfmt", carries<upper::NvmeCmRequest>},
    {"nvme-rdma.cm.rsp.recfmt", "nvme.cm.recfmt", carries<upper::NvmeCmReply>},
    {"nvme-rdma.cm.rej.recfmt", "nvme.cm.recfmt", carries<upper::NvmeCmReject>},
});

// Wireshark has "_" in the names of path fields instead of ".".
std::string wireshark_name(std::string_view message, std::string_view name) {
    constexpr std::string_view prefix = "cm.";
    std::string rest(name.substr(prefix.size()));
    if (rest.starts_with("prim.") || rest.starts_with("alt."))
        rest[rest.find('.')] = '_';
    return fmt::format("cm.{}.{}", message, rest);
}

class Table {
  public:
    Table() : fields_(numbers.begin(), numbers.end()) {
        for (const Alias& alias : aliases)
            add(std::string(alias.name), *find_field(alias.field), alias.is_of);
        add_message<CmReq>("req");
        add_message<wire::CmRep>("rep");
        add_message<wire::CmRtu>("rtu");
        add_message<wire::CmRej>("rej");
        add_message<wire::CmDreq>("dreq");
        add_message<wire::CmDrep>("drsp");
    }
    std::span<const Field> fields() const { return fields_; }

  private:
    // A message with all optional parts set shows which fields it has.
    template <typename Message>
    void add_message(std::string_view name) {
        Message message;
        if constexpr (requires { message.ip_cm; }) {
            message.ip_service.emplace();
            message.ip_cm.emplace();
        }
        Packet packet;
        static constexpr std::array<std::byte, wire::Mad::data_size> zeros{};
        packet.cm = wire::Cm{{}, message, util::FixedBytes<zeros.size()>(zeros)};
        std::string scratch;
        const View view{0, {}, packet, {}, 0, scratch};
        for (const Field& field : cm_fields())
            if (field.kind != Present && is_there(field.get(view)))
                add(wireshark_name(name, field.name), field, is_message<Message>);
    }

    // If a name occurs twice, the first one counts.
    void add(std::string name, Field field, bool (*is_of)(const View&)) {
        field.name = names_.emplace_back(std::move(name));
        field.is_of = is_of;
        fields_.push_back(field);
    }

    std::deque<std::string> names_;
    std::vector<Field> fields_;
};

}  // namespace

std::span<const Field> wireshark_fields() {
    static const Table table;
    return table.fields();
}

}  // namespace filter
