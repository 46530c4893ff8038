// make_capture PACKETS FILE [KIND]: a pcap file of synthetic traffic, for the benchmarks; "-" is
// standard output. KIND: a number of connections (64), or traffic of hostile.hpp instead.
#include <array>
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>

#include <pcap/pcap.h>

#include "bench/hostile.hpp"
#include "bench/traffic.hpp"

namespace {

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t made = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), made);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    return is_number ? std::optional(made) : std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
    const bool has_kind = argc == 4;
    const auto packets = argc == 3 || has_kind ? number(argv[1]) : std::nullopt;
    const auto kind = has_kind ? bench::hostile(argv[3]) : std::nullopt;
    const auto connections = has_kind ? number(argv[3]) : std::optional<std::uint64_t>(64);
    if (!packets || (!kind && !connections)) {
        std::fputs(
            "usage: make_capture PACKETS FILE "
            "[CONNECTIONS|naks|descending|random|queue-pairs|reads|acks|missing|damaged|unasked]\n",
            stderr);
        return 2;
    }
    constexpr int snaplen = 262144;
    const std::unique_ptr<pcap_t, void (*)(pcap_t*)> format(
        pcap_open_dead_with_tstamp_precision(DLT_EN10MB, snaplen, PCAP_TSTAMP_PRECISION_NANO),
        pcap_close);
    const std::unique_ptr<pcap_dumper_t, void (*)(pcap_dumper_t*)> file(
        pcap_dump_open(format.get(), argv[2]), pcap_dump_close);
    if (!file) {
        std::fprintf(stderr, "make_capture: %s.\n", pcap_geterr(format.get()));
        return 1;
    }
    bench::Traffic traffic(static_cast<unsigned>(connections.value_or(1)));
    bench::HostileTraffic hostile(kind.value_or(bench::Hostile::Naks));
    for (std::uint64_t i = 0; i < *packets; ++i) {
        const auto frame = kind ? hostile.next() : traffic.next();
        pcap_pkthdr header{};
        header.ts.tv_sec = static_cast<time_t>(frame.time.count() / 1'000'000'000);
        header.ts.tv_usec = static_cast<suseconds_t>(frame.time.count() % 1'000'000'000);
        header.len = header.caplen = static_cast<bpf_u_int32>(frame.bytes.size());
        pcap_dump(reinterpret_cast<u_char*>(file.get()), &header,
                  reinterpret_cast<const u_char*>(frame.bytes.data()));
    }
    if (pcap_dump_flush(file.get()) != 0) {
        std::perror("make_capture");
        return 1;
    }
    return 0;
}
