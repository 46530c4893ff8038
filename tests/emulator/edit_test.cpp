#include "emulator/edit.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "emulator/frames.hpp"
#include "wire/encapsulations.hpp"
#include "wire/ip.hpp"
#include "wire/sample_set.hpp"

namespace {

using namespace emulator;
using namespace emulator_test;
using wire_test::Network;

// Applies a rule's action to a frame as it arrived.
std::string edit(const auto& action, Bytes& frame) {
    LocatedFrame located{frame, trail_of(frame)};
    std::string done = emulator::apply(action, located);
    frame = std::move(located.bytes);
    return done;
}

wire::IcrcStatus icrc_of(util::Bytes frame) {
    return decoded(frame).icrc->status;
}

bool ip_checksum_is_good(util::Bytes frame) {
    return wire::internet_checksum(wire::ones_sum(frame.subspan(14, 20))) == 0;
}

bool udp_checksum_is_good(util::Bytes frame, bool is_v4) {
    const util::Bytes ip = frame.subspan(14);
    const util::Bytes udp = ip.subspan(is_v4 ? 20 : 40);
    const util::Bytes addresses = is_v4 ? ip.subspan(12, 8) : ip.subspan(8, 32);
    return wire::internet_checksum(wire::ones_sum(addresses) + wire::ip_protocol::udp + udp.size() +
                                   wire::ones_sum(udp)) == 0;
}

TEST(Edit, set_writes_one_field_and_all_that_follows_from_it) {
    for (const Network network : {Network::Ipv4, Network::Ipv6}) {
        Bytes frame = roce_frame(0x123456, write_first, network);
        const auto before = decoded(frame);
        EXPECT_EQ(edit(Set{find_writable("bth.psn"), 0xabcdef}, frame),
                  "bth.psn: 0x123456 → 0xabcdef");
        const auto after = decoded(frame);
        EXPECT_EQ(after.bth->psn.value(), 0xabcdefU);
        EXPECT_EQ(after.bth->dest_qpn, before.bth->dest_qpn);
        EXPECT_EQ(after.bth->a, before.bth->a);
        EXPECT_EQ(*after.reth, *before.reth);
        EXPECT_EQ(after.icrc->status, wire::IcrcStatus::Good);
        EXPECT_TRUE(udp_checksum_is_good(frame, network == Network::Ipv4));
    }
}

TEST(Edit, set_reaches_each_field_that_it_offers_and_no_bit_beside_it) {
    // Together, packets with these opcodes contain all the headers.
    std::set<std::string_view> reached;
    for (const int opcode :
         {0x06, 0x0d, 0x11, 0x12, 0x13, 0x14, 0x09, 0x17, 0x1c, 0x44, 0x64, 0xa4})
        for (const Network network : {Network::Ipv4, Network::Ipv6})
            for (const filter::Field* field : writable_fields()) {
                const Bytes original = roce_frame(5, static_cast<std::uint8_t>(opcode), network);
                Bytes ones = original;
                Bytes zeros = original;
                const bool is_there =
                    !edit(Set{field, field->get.place.most(), wire::IcrcAfter::Left}, ones).empty();
                EXPECT_EQ(edit(Set{field, 0, wire::IcrcAfter::Left}, zeros).empty(), !is_there);
                if (!is_there) {
                    EXPECT_EQ(ones, original);
                    continue;
                }
                std::size_t differing = 0;
                for (std::size_t i = 0; i < ones.size(); ++i) {
                    const bool is_checksum = (network == Network::Ipv4 && (i == 24 || i == 25)) ||
                                             i == (network == Network::Ipv4 ? 40U : 60U) ||
                                             i == (network == Network::Ipv4 ? 41U : 61U);
                    if (!is_checksum)
                        differing += static_cast<std::size_t>(
                            std::popcount(std::to_integer<unsigned>(ones[i] ^ zeros[i])));
                }
                EXPECT_EQ(differing, field->get.place.width) << field->name;
                reached.insert(field->name);
            }
    EXPECT_EQ(reached.size(), writable_fields().size());
    for (const char* name : {"bth.opcode", "ieth", "ip.ttl", "ipv6.hlim"})
        EXPECT_TRUE(reached.contains(name)) << name;
}

// The test above does not detect overlapping fields: it only counts the bits that change.
TEST(Edit, the_fields_of_a_header_do_not_overlap_and_end_with_it) {
    using wire::Header;
    const std::map<Header, std::size_t> sizes{{Header::Ipv4, wire::Ipv4::size},
                                              {Header::Ipv6, wire::Ipv6::size},
                                              {Header::Bth, wire::Bth::size},
                                              {Header::Rdeth, wire::Rdeth::size},
                                              {Header::Xrceth, wire::Xrceth::size},
                                              {Header::Feth, wire::Feth::size},
                                              {Header::Deth, wire::Deth::size},
                                              {Header::Reth, wire::Reth::size},
                                              {Header::AtomicEth, wire::AtomicEth::size},
                                              {Header::Aeth, wire::Aeth::size},
                                              {Header::AtomicAckEth, wire::AtomicAckEth::size},
                                              {Header::ImmDt, wire::ImmDt::size},
                                              {Header::Ieth, wire::Ieth::size}};
    std::map<Header, std::size_t> ends;  // end of the preceding field, in bits
    auto fields = writable_fields();
    std::ranges::sort(fields, {}, [](const filter::Field* field) { return field->get.place.bit; });
    for (const filter::Field* field : fields) {
        const auto [header, bit, width] = field->get.place;
        EXPECT_GE(bit, ends[header]) << field->name;
        ends[header] = std::size_t{bit} + width;
        EXPECT_LE(ends[header], 8 * sizes.at(header)) << field->name;
    }
}

TEST(Edit, set_can_leave_the_icrc_wrong) {
    Bytes frame = roce_frame(1);
    EXPECT_FALSE(edit(Set{find_writable("bth.psn"), 2, wire::IcrcAfter::Left}, frame).empty());
    EXPECT_EQ(icrc_of(frame), wire::IcrcStatus::Bad);
    EXPECT_TRUE(udp_checksum_is_good(frame, true));
}

TEST(Edit, set_leaves_a_packet_without_the_field_as_it_is) {
    Bytes frame = roce_frame(1, acknowledge);
    const Bytes original = frame;
    EXPECT_EQ(edit(Set{find_writable("reth.va"), 0}, frame), "");
    EXPECT_EQ(frame, original);
}

TEST(Edit, corrupt_inverts_one_byte_that_the_icrc_finds) {
    Bytes frame = roce_frame(1);
    const Bytes original = frame;
    EXPECT_NE(edit(Corrupt{}, frame), "");
    EXPECT_EQ(frame[frame.size() - 5], ~original[frame.size() - 5]) << "the last before the ICRC";
    EXPECT_EQ(icrc_of(frame), wire::IcrcStatus::Bad);
    EXPECT_TRUE(udp_checksum_is_good(frame, true)) << "UDP would find it before RoCE does";

    frame = original;
    EXPECT_NE(edit(Corrupt{12, wire::IcrcAfter::Good}, frame), "");
    EXPECT_EQ(frame[14 + 20 + 8 + 12], ~original[14 + 20 + 8 + 12]) << "the first behind the BTH";
    EXPECT_EQ(icrc_of(frame), wire::IcrcStatus::Good);
}

TEST(Edit, corrupt_reaches_the_icrc_and_not_beyond) {
    Bytes frame = roce_frame(1, acknowledge);
    const Bytes original = frame;
    const std::uint32_t size = 12 + 4;  // BTH and AETH
    EXPECT_NE(edit(Corrupt{size + 3, wire::IcrcAfter::Left}, frame), "");
    EXPECT_EQ(icrc_of(frame), wire::IcrcStatus::Bad);
    frame = original;
    EXPECT_EQ(edit(Corrupt{size + 4, wire::IcrcAfter::Left}, frame), "");
    EXPECT_EQ(frame, original);
}

TEST(Edit, mark_says_congestion_and_breaks_nothing) {
    for (const Network network : {Network::Ipv4, Network::Ipv6}) {
        Bytes frame = roce_frame(1, write_middle, network);
        EXPECT_NE(edit(Mark{}, frame), "");
        const auto packet = decoded(frame);
        EXPECT_EQ(network == Network::Ipv4 ? packet.ipv4->ecn() : packet.ipv6->ecn(), 3);
        EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Good);
        EXPECT_TRUE(network != Network::Ipv4 || ip_checksum_is_good(frame));
    }
    Bytes arp = arp_frame();
    EXPECT_EQ(edit(Mark{}, arp), "");
}

TEST(Edit, writes_no_icrc_where_the_new_opcode_leaves_no_room_for_one) {
    Bytes frame = roce_frame(1, acknowledge);  // no room for the RETH of a WRITE
    const Bytes original = frame;
    EXPECT_EQ(edit(Set{find_writable("bth.opcode"), write_first}, frame), "bth.opcode: 0x11 → 0x6");
    EXPECT_TRUE(std::equal(frame.end() - 4, frame.end(), original.end() - 4)) << "the ICRC";
    EXPECT_TRUE(udp_checksum_is_good(frame, true));
    EXPECT_EQ(edit(Set{find_writable("aeth.msn"), 7}, frame), "") << "it has no AETH any more";
}

TEST(Edit, finds_the_headers_of_the_new_opcode) {
    LocatedFrame frame{.bytes = roce_frame(1, write_middle)};
    frame.trail = trail_of(frame.bytes);
    emulator::apply(Set{find_writable("bth.opcode"), write_first}, frame);
    EXPECT_NE(emulator::apply(Set{find_writable("reth.r_key"), 0x01020304}, frame), "");
    const auto packet = decoded(frame.bytes);
    EXPECT_EQ(packet.reth->rkey, 0x01020304U);
    EXPECT_EQ(packet.icrc->status, wire::IcrcStatus::Good);
}

// A frame is decoded again only if an edit moves its headers.
TEST(Edit, any_edits_in_a_row_are_as_if_the_frame_was_decoded_before_each) {
    std::mt19937 random(3);  // NOLINT(cert-msc51-cpp): the same edits in every run
    const auto some_opcode = [&] {
        const auto all = wire_test::all_opcodes();
        return random() % 2 == 0 ? random() % 256 : all[random() % all.size()].value;
    };
    const auto fields = writable_fields();
    const auto some_edit = [&]() -> Action {
        const auto icrc = random() % 2 == 0 ? wire::IcrcAfter::Good : wire::IcrcAfter::Left;
        if (random() % 8 == 0)
            return Mark{};
        if (random() % 4 == 0)
            return Set{find_writable("bth.opcode"), some_opcode(), icrc};
        if (random() % 2 == 0)
            return Corrupt{random() % (random() % 2 == 0 ? 20 : 200), icrc};
        const filter::Field* field = fields[random() % fields.size()];
        return Set{field, random() & field->get.place.most(), icrc};
    };
    std::vector<Bytes> frames;
    for (const auto& [link, bytes] : wire_test::sample_set())
        if (link == wire::LinkType::Ethernet)
            frames.push_back(bytes);
    for (const auto& encapsulation : wire_test::encapsulations())
        frames.push_back(encapsulation.wrap(roce_frame(2, write_first)));
    for (const Bytes& original : frames) {
        LocatedFrame frame{original, trail_of(original)};
        for (int i = 0; i < 40; ++i) {
            const Action action = some_edit();
            LocatedFrame again{frame.bytes, trail_of(frame.bytes)};
            const auto apply = [&](LocatedFrame& one) {
                return std::visit(
                    [&](const auto& edit) -> std::string {
                        if constexpr (requires { emulator::apply(edit, one); })
                            return emulator::apply(edit, one);
                        return {};
                    },
                    action);
            };
            EXPECT_EQ(apply(frame), apply(again));
            ASSERT_EQ(frame.bytes, again.bytes);
        }
        EXPECT_EQ(decoded(frame.bytes).is_roce(), decoded(original).is_roce());
    }
}

}  // namespace
