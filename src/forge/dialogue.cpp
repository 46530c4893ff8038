#include "forge/dialogue.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "util/error.hpp"

namespace forge {
namespace {

constexpr std::uint32_t magic = 0x52574c46;  // "RWLF"
constexpr std::uint8_t version = 1;
constexpr std::uint8_t report_type = 0x80;
constexpr std::uint64_t no_counter = UINT64_MAX;

template <std::size_t N>
void check(util::FixedBytes<N> bytes) {
    if (util::be32<0>(bytes) != magic || util::be8<4>(bytes) != version)
        throw util::Error(
            "the peer does not speak this step's version of the dialogue: build both programs from "
            "one source.");
}

}  // namespace

std::array<std::byte, request_size> serialize(const Request& request) {
    std::array<std::byte, request_size> bytes{};
    const std::span<std::byte, request_size> out(bytes);
    util::put_be32<0>(out, magic);
    util::put_be8<4>(out, version);
    util::put_be8<5>(out, static_cast<std::uint8_t>(request.ask));
    util::put_be64<8>(out, request.received);
    return bytes;
}

Request parse_request(util::FixedBytes<request_size> bytes) {
    check(bytes);
    const unsigned ask = util::be8<5>(bytes);
    if (ask < static_cast<unsigned>(Ask::Report) || ask > static_cast<unsigned>(Ask::Done))
        throw util::Error(fmt::format("the client asks for something unknown, number {}.", ask));
    return {.ask = static_cast<Ask>(ask), .received = util::be64<8>(bytes)};
}

std::array<std::byte, report_size> serialize(const Report& report) {
    std::array<std::byte, report_size> bytes{};
    const std::span<std::byte, report_size> out(bytes);
    util::put_be32<0>(out, magic);
    util::put_be8<4>(out, version);
    util::put_be8<5>(out, report_type);
    util::put_be8<6>(out, report.state);
    util::put_be8<7>(out, report.completion);
    util::put_be32<8>(out, report.rq_psn);
    util::put_be32<12>(out, report.memory_crc);
    util::put_be32<16>(out, report.read_crc);
    std::ranges::copy(report.begins, out.subspan<24, Report::shown>().begin());
    util::put_be64<48>(out, report.received.value_or(no_counter));
    util::put_be64<56>(out, report.sent.value_or(no_counter));
    util::put_be64<64>(out, report.duplicate.value_or(no_counter));
    util::put_be64<72>(out, report.out_of_sequence.value_or(no_counter));
    return bytes;
}

Report parse_report(util::FixedBytes<report_size> bytes) {
    check(bytes);
    if (util::be8<5>(bytes) != report_type)
        throw util::Error("the server sent something else where its report was expected.");
    const auto counter = [](std::uint64_t value) {
        return value == no_counter ? std::optional<std::uint64_t>() : value;
    };
    Report report{.state = util::be8<6>(bytes),
                  .completion = util::be8<7>(bytes),
                  .rq_psn = util::be32<8>(bytes),
                  .memory_crc = util::be32<12>(bytes),
                  .read_crc = util::be32<16>(bytes),
                  .received = counter(util::be64<48>(bytes)),
                  .sent = counter(util::be64<56>(bytes)),
                  .duplicate = counter(util::be64<64>(bytes)),
                  .out_of_sequence = counter(util::be64<72>(bytes))};
    std::ranges::copy(bytes.subspan<24, Report::shown>(), report.begins.begin());
    return report;
}

}  // namespace forge
