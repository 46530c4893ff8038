#include "xray/steps.hpp"

#include <algorithm>
#include <endian.h>
#include <utility>

#include <infiniband/verbs.h>

#include "rdma/names.hpp"
#include "util/number.hpp"
#include "wire/opcode.hpp"

namespace xray {
namespace {

namespace key = runlog::key;

constexpr std::uint32_t low_24_bits = 0xffffff;

// "148.206732", in nanoseconds.
std::optional<std::int64_t> time_of(std::string_view text) {
    constexpr std::size_t digits = 6;
    constexpr std::int64_t ns_per_us = 1000, us_per_s = 1'000'000;
    const std::size_t point = text.find('.');
    if (point == std::string_view::npos || text.size() - point - 1 != digits)
        return std::nullopt;
    const auto seconds = util::number_of<std::int64_t>(text.substr(0, point));
    const auto us = util::number_of<std::int64_t>(text.substr(point + 1));
    if (!seconds || !us)
        return std::nullopt;
    return (*seconds * us_per_s + *us) * ns_per_us;
}

// A word of a packet as the kernel read it: in the host's byte order.
std::uint32_t network_word(std::uint64_t read) {
    return be32toh(static_cast<std::uint32_t>(read)) & low_24_bits;
}

// Of a request of the kernel's own (enum ib_wr_opcode). Most are those of verbs.
std::string_view name_of_opcode(std::uint64_t opcode) {
    constexpr std::uint64_t read_with_invalidate = 0x0b, register_memory = 0x20;
    switch (opcode) {
        case read_with_invalidate:
            return "RDMA_READ_WITH_INV";
        case register_memory:
            return "REG_MR";
        default:
            return rdma::name_of(static_cast<ibv_wr_opcode>(opcode));
    }
}

bool is_task(std::string_view step) {
    return step == "requester" || step == "responder" || step == "completer";
}

}  // namespace

std::optional<TraceLine> TraceLine::of(std::string_view line) {
    const std::size_t open = line.find(" [");
    const std::size_t close = line.find("] ", open);
    if (close == std::string_view::npos)
        return std::nullopt;
    const auto cpu = util::number_of<std::uint32_t>(line.substr(open + 2, close - open - 2));
    // The flags, then the time up to the next colon.
    const std::size_t flags = line.find_first_not_of(' ', close + 2);
    const std::size_t after = line.find(' ', flags);
    const std::size_t begin = line.find_first_not_of(' ', after);
    const std::size_t end = line.find(": ", begin);
    if (!cpu || begin == std::string_view::npos || end == std::string_view::npos)
        return std::nullopt;
    const auto t_ns = time_of(line.substr(begin, end - begin));
    const std::size_t step_end = line.find(": (", end + 2);
    const std::size_t place_end = line.find(')', step_end);
    if (!t_ns || step_end == std::string_view::npos || place_end == std::string_view::npos)
        return std::nullopt;
    return TraceLine{*cpu, *t_ns, line.substr(end + 2, step_end - end - 2),
                     line.substr(place_end + 1)};
}

std::uint64_t TraceLine::lost(std::string_view line) {
    constexpr std::string_view before = "[LOST ";
    const std::size_t begin = line.find(before);
    if (begin == std::string_view::npos)
        return 0;
    const std::string_view rest = line.substr(begin + before.size());
    return util::number_of<std::uint64_t>(rest.substr(0, rest.find(' '))).value_or(0);
}

std::optional<std::uint64_t> TraceLine::number(std::string_view name) const {
    for (std::size_t at = arguments.find(name); at != std::string_view::npos;
         at = arguments.find(name, at + 1)) {
        const std::size_t value = at + name.size() + 1;
        if (at == 0 || arguments[at - 1] != ' ' || value > arguments.size() ||
            arguments[value - 1] != '=')
            continue;
        const std::string_view text =
            arguments.substr(value).substr(0, arguments.substr(value).find(' '));
        if (text.starts_with('-')) {
            const auto negative = util::number_of<std::int64_t>(text);
            return negative ? std::optional(static_cast<std::uint64_t>(*negative)) : std::nullopt;
        }
        return util::prefixed_number_of<std::uint64_t>(text);
    }
    return std::nullopt;
}

runlog::Event Steps::event(const TraceLine& line, std::int64_t offset_ns) const {
    runlog::Event event{line.t_ns + offset_ns, role_, "driver", {}};
    const auto add = [&](const auto& known, auto value) {
        event.fields.emplace_back(known, std::move(value));
    };
    add(key::step, std::string(line.step));
    const bool is_user = line.number("user").value_or(1) != 0;
    const bool is_of_kernel = !is_user && line.step == "complete";
    if (const auto qpn = line.number(is_of_kernel ? "kernel_qpn" : "qpn"))
        add(key::qpn, static_cast<std::uint32_t>(*qpn));
    if (const auto opcode = line.number("op")) {
        const wire::OpcodeInfo* known = wire::find_opcode(static_cast<std::uint8_t>(*opcode));
        add(key::opcode_name, known == nullptr ? "unknown" : std::string(known->name));
    }
    if (const auto word = line.number("dest"))
        add(key::dest_qpn, network_word(*word));
    if (const auto word = line.number("psn"))
        add(key::psn, network_word(*word));
    // The request of a program is unknown here.
    if (const auto wr_id = line.number("wr"); wr_id && (line.step == "complete" || !is_user))
        add(key::wr_id, *wr_id);
    if (const auto opcode = line.number("opcode"); opcode && !is_user)
        add(key::opcode, std::string(name_of_opcode(*opcode)));
    if (const auto status = line.number("status"))
        add(key::status, std::string(rdma::name_of(static_cast<ibv_wc_status>(*status))));
    return event;
}

void Steps::write(std::optional<runlog::Event>& event) {
    if (!event)
        return;
    write_(*event);
    ++written_;
    event.reset();
}

void Steps::take(const TraceLine& line, std::int64_t offset_ns) {
    Waiting& waiting = waiting_[line.cpu];
    if (line.step == "icrc") {
        if (waiting.packet)
            waiting.packet->fields.emplace_back(
                key::icrc, line.number("ret").value_or(0) == 0 ? "ok" : "wrong");
        write(waiting.packet);
        waiting.has_new_packet = true;
        return;
    }
    write(waiting.packet);
    std::optional<runlog::Event> now(event(line, offset_ns));
    if (line.step == "receive") {
        waiting.packet.swap(now);
        waiting.has_new_packet = false;
    } else if (is_task(line.step)) {
        waiting.task.swap(now);
        if (std::exchange(waiting.has_new_packet, false) && line.step != "requester")
            write(waiting.task);
    } else {
        if (line.step == "transmit" || line.step == "complete" || line.step == "error")
            write(waiting.task);
        write(now);
    }
    if (!is_task(line.step))
        waiting.task.reset();
}

void Steps::finish() {
    for (auto& [cpu, waiting] : waiting_)
        write(waiting.packet);
}

}  // namespace xray
