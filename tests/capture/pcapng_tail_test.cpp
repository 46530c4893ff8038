// Files that PcapngWriter does not write: other resolutions and blocks, and damaged ones.
#include "capture/pcapng_tail.hpp"

#include <array>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "capture/file_source.hpp"
#include "capture/pcapng_block.hpp"
#include "support/temp_path.hpp"
#include "util/error.hpp"

namespace {

using capture::PcapngBlock;
using capture::Time;

class PcapngTailTest : public testing::Test {
  protected:
    PcapngTailTest() { add_section(); }

    void empty() const { std::ofstream(path_, std::ios::trunc).flush(); }
    void add_section() { add(block(0x0a0d0d0a).u32(0x1a2b3c4d).u16(1).u16(0).u32(~0U).u32(~0U)); }

    PcapngBlock& block(std::uint32_t type) { return block_.start(type); }
    void add(PcapngBlock& made) const { add(made.finish()); }
    void add(util::Bytes bytes) const {
        std::ofstream file(path_, std::ios::binary | std::ios::app);
        file.write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
    }
    /// Adds the first 12 bytes of a section.
    void add_start(std::uint32_t length, std::uint32_t magic) const {
        const std::array words{0x0a0d0d0aU, length, magic};
        add(std::as_bytes(std::span(words)));
    }
    /// `resolution`: if_tsresol.
    void add_interface(std::optional<unsigned> resolution = std::nullopt, std::uint16_t link = 1) {
        block(1).u16(link).u16(0).u32(0);
        if (resolution) {
            const auto value = static_cast<std::byte>(*resolution);
            block_.option(2, "eth0").option(9, std::span(&value, 1));
        }
        add(block_);
    }
    void add_packet(std::uint64_t ticks, std::uint32_t captured = 4, std::uint32_t interface = 0) {
        add(block(6).u32(interface).timestamp(ticks).u32(captured).u32(captured).u32(0x01020304));
    }
    std::string why() const {
        try {
            capture::PcapngTail tail(path_);
            while (tail.next()) {
            }
        } catch (const util::Error& error) {
            return error.what();
        }
        return "nothing wrong";
    }
    std::string sentence(const std::string& what, std::size_t block) const {
        return fmt::format("'{}' is damaged: the block at byte {} {}.", path_, block, what);
    }

    support::TempPath temp_{"tail.pcapng"};
    std::string path_ = temp_.str();

  private:
    PcapngBlock block_;
};

TEST_F(PcapngTailTest, a_packet_names_its_interface_and_has_its_comment) {
    for (const char* name : {"before", "after"})
        add(block(1).u16(1).u16(0).u32(0).option(2, std::string_view(name)));
    add_interface();
    constexpr std::uint16_t comment = 1;
    const auto packet = [&](std::uint32_t interface) -> PcapngBlock& {
        // Three bytes, so that padding precedes the options.
        return block(6).u32(interface).timestamp(1).u32(3).u32(3).u32(0x01020304);
    };
    add(packet(1).option(2, std::string_view("flag")).option(comment, std::string_view("lost")));
    add(packet(0));
    add(packet(2));
    capture::PcapngTail tail(path_);
    auto frame = tail.next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->notes.interface_id, 1U);
    EXPECT_EQ(frame->notes.interface_name, "after");
    EXPECT_EQ(frame->notes.comment, "lost");
    EXPECT_EQ(frame->bytes.size(), 3U);
    frame = tail.next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->notes.interface_id, 0U);
    EXPECT_EQ(frame->notes.interface_name, "before");
    EXPECT_EQ(frame->notes.comment, "");
    frame = tail.next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->notes.interface_id, 2U);
    EXPECT_EQ(frame->notes.interface_name, "");
}

TEST_F(PcapngTailTest, times_are_exact_in_every_resolution) {
    constexpr unsigned binary = 0x80;
    struct Case {
        std::optional<unsigned> resolution;
        std::uint64_t ticks;
        Time time;
    };
    for (const auto& [resolution, ticks, time] :
         {Case{std::nullopt, 1'500'000, Time(1'500'000'000)}, Case{0, 3, Time(3'000'000'000)},
          Case{3, 1'234, Time(1'234'000'000)}, Case{9, 1'000'000'007, Time(1'000'000'007)},
          Case{12, 1'999'999'999'999, Time(1'999'999'999)},
          Case{18, 3'000'000'007'000'000'000, Time(3'000'000'007)},
          Case{19, 15'000'000'000'000'000'000U, Time(1'500'000'000)},
          // Ticks of these have no room in 64 bits: the default.
          Case{20, 1'500'000, Time(1'500'000'000)},
          Case{binary | 64U, 2'500'000, Time(2'500'000'000)},
          Case{binary | 1U, 3, Time(1'500'000'000)},
          Case{binary | 20U, (1U << 20U) + (1U << 18U), Time(1'250'000'000)},
          Case{binary | 35U, std::uint64_t{7} << 34U, Time(3'500'000'000)},
          Case{binary | 36U, std::uint64_t{3} << 35U, Time(1'500'000'000)},
          Case{binary | 35U, (std::uint64_t{1} << 35U) - 1, Time(999'999'999)},
          Case{binary | 63U, std::uint64_t{3} << 62U, Time(1'500'000'000)}}) {
        empty();
        add_section();
        add_interface(resolution);
        add_packet(ticks);
        const auto frame = capture::PcapngTail(path_).next();
        ASSERT_TRUE(frame);
        EXPECT_EQ(frame->time, time) << "resolution " << resolution.value_or(6) << ", " << ticks;
    }
}

TEST_F(PcapngTailTest, a_time_beyond_all_reason_is_the_latest_there_is) {
    add_interface(0);
    add_packet(UINT64_MAX);
    const auto latest = std::chrono::seconds(UINT32_MAX);
    EXPECT_EQ(capture::PcapngTail(path_).next()->time, latest);
    EXPECT_LE(capture::FileSource(path_).next()->time, latest);
}

TEST_F(PcapngTailTest, blocks_it_does_not_know_are_stepped_over) {
    add(block(0x0bad).u32(1).u32(2));
    add_interface();
    add(block(4).u32(0));
    add_packet(1);
    capture::PcapngTail tail(path_);
    EXPECT_TRUE(tail.next());
    EXPECT_FALSE(tail.next());
    EXPECT_EQ(tail.ending(), "");
}

TEST_F(PcapngTailTest, a_second_section_has_interfaces_of_its_own) {
    add_interface(9);
    add_packet(7);
    add_section();
    add_interface(6);
    add_packet(7);
    capture::PcapngTail tail(path_);
    EXPECT_EQ(tail.next()->time, Time(7));
    EXPECT_EQ(tail.next()->time, Time(7000));
}

TEST_F(PcapngTailTest, more_captured_than_was_sent_counts_as_sent) {
    add_interface();
    add(block(6).u32(0).timestamp(1).u32(4).u32(2).u32(0));
    EXPECT_EQ(capture::PcapngTail(path_).next()->original_length, 4U);
}

constexpr std::size_t section_size = 28;
constexpr std::size_t interface_size = 20;

TEST_F(PcapngTailTest, a_packet_that_does_not_fit_in_its_block_is_damage) {
    add_interface();
    add_packet(1);
    add_packet(1, 5);
    EXPECT_EQ(why(), sentence("has a packet of 5 bytes but room for 4",
                              section_size + interface_size + 36));
}

TEST_F(PcapngTailTest, a_packet_of_an_interface_that_was_not_described_is_damage) {
    add_packet(1);
    EXPECT_EQ(why(),
              sentence("has a packet of interface 0, but no interface is described before it",
                       section_size));
    empty();
    add_section();
    add_interface();
    add_packet(1, 4, 1);
    EXPECT_EQ(why(),
              sentence("has a packet of interface 1, but only 0 to 0 are described before it",
                       section_size + interface_size));
}

TEST_F(PcapngTailTest, a_packet_of_another_link_type_is_refused_and_the_interface_named) {
    add_interface(std::nullopt, 105);
    add_packet(1);
    EXPECT_EQ(why(), "'" + path_ +
                         "' holds packets of link type IEEE802_11 (105), which rocecap does not "
                         "decode: it decodes Ethernet, InfiniBand, ERF, raw IP and Linux cooked "
                         "captures.");
    empty();
    add_section();
    add_interface(std::nullopt, 105);
    add_interface();
    add_packet(1);
    EXPECT_EQ(why().rfind("interface 0 of '" + path_ + "' holds packets of link type", 0), 0U)
        << why();
    EXPECT_TRUE(why().ends_with("; --interface chooses another one.")) << why();
}

TEST_F(PcapngTailTest, a_length_that_cannot_be_is_damage_and_not_waited_for) {
    for (const std::uint32_t length : {0U, 8U, 13U, 0x01000004U, 0x7fffffffU, 0xfffffffcU}) {
        empty();
        add_start(length, 0x1a2b3c4d);
        EXPECT_EQ(why(), sentence(fmt::format("has an invalid length of {} bytes", length), 0));
    }
}

TEST_F(PcapngTailTest, both_lengths_of_a_block_are_the_same) {
    add_interface();
    const std::array block{5U, 16U, 0U, 20U};
    add(std::as_bytes(std::span(block)));
    EXPECT_EQ(why(), sentence("begins with a length of 16 bytes and ends with one of 20",
                              section_size + interface_size));
}

TEST_F(PcapngTailTest, a_block_that_is_too_short_for_its_type_is_damage) {
    for (const std::uint32_t type : {1U, 2U, 3U, 6U}) {
        empty();
        add_section();
        add(block(type));
        EXPECT_EQ(why(), sentence("is too short for its type", section_size)) << type;
    }
}

TEST_F(PcapngTailTest, options_that_claim_too_much_end_the_options) {
    add_interface();
    const auto packet = [&]() -> PcapngBlock& {
        return block(6).u32(0).timestamp(1).u32(4).u32(4).u32(0x01020304);
    };
    add(packet().u16(1).u16(0xffff).u32(0));
    add(packet().u16(1));
    capture::PcapngTail tail(path_);
    EXPECT_EQ(tail.next()->notes.comment, "");
    EXPECT_THROW(tail.next(), util::Error) << "a length that is no multiple of four";
}

TEST_F(PcapngTailTest, what_is_no_byte_order_is_said) {
    empty();
    add_start(28, 0x12345678);
    EXPECT_EQ(why(), sentence("begins a section without a valid byte-order magic", 0));
}

TEST_F(PcapngTailTest, a_version_of_the_future_is_said) {
    add(block(0x0a0d0d0a).u32(0x1a2b3c4d).u16(2).u16(0).u32(~0U).u32(~0U));
    EXPECT_EQ(why(), sentence("begins a section of version 2, but only version 1 is supported",
                              section_size));
}

TEST_F(PcapngTailTest, interfaces_without_end_do_not_fill_the_memory) {
    const std::string name(65'000, 'x');
    for (int i = 0; i < 300; ++i)
        add(block(1).u16(1).u16(0).u32(0).option(2, name));
    EXPECT_NE(
        why().find("describes an interface, but the interfaces before it already take 16 MiB"),
        std::string::npos)
        << why();
}

TEST_F(PcapngTailTest, several_comments_are_separated_by_commas_and_a_final_zero_is_left_out) {
    add(block(1).u16(1).u16(0).u32(0).option(2, std::string_view("eth0\0", 5)));
    add(block(6).u32(0).timestamp(1).u32(4).u32(4).u32(0).option(1, "one").option(2, "flag").option(
        1, "two"));
    capture::PcapngTail tail(path_);
    const auto frame = tail.next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->notes.comment, "one,two");
    EXPECT_EQ(frame->notes.interface_name, "eth0");
}

TEST_F(PcapngTailTest, a_file_that_is_not_there_is_said) {
    EXPECT_THROW(capture::PcapngTail("/nonexistent"), util::Error);
}

}  // namespace
