// Writes the binary seeds of tests/fuzz/corpus from the tests' sample frames: `make fuzz-seeds`.
// The filters, run logs and run.json in it are written by hand; gzip and other programs made the
// compressed captures.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "capture/link_type.hpp"
#include "capture/pcapng_writer.hpp"
#include "net/endpoint.hpp"
#include "wire/cm_data.hpp"
#include "wire/encapsulations.hpp"
#include "wire/infiniband_frames.hpp"
#include "wire/sample_set.hpp"

namespace {

using Octets = std::vector<std::byte>;
using wire_test::from_hex;
using wire_test::SampleFrame;

const std::filesystem::path corpus = "tests/fuzz/corpus";

Octets operator+(Octets head, util::Bytes tail) {
    head.insert(head.end(), tail.begin(), tail.end());
    return head;
}

std::filesystem::path path_of(const std::string& target, const std::string& name) {
    std::filesystem::create_directories(corpus / target);
    return corpus / target / name;
}

void write(const std::string& target, const std::string& name, util::Bytes bytes) {
    std::ofstream(path_of(target, name), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

// Returns each opcode over one of the networks, and each message with one of the link headers, in
// turn.
std::vector<SampleFrame> chosen() {
    const auto all = wire_test::sample_set();
    const std::size_t opcodes = wire::opcodes().size();
    std::vector<SampleFrame> some;
    for (std::size_t i = 0; i < opcodes; ++i)
        some.push_back(all[3 * i + i % 3]);
    for (std::size_t i = 0; 3 * opcodes + 4 * i < all.size(); ++i)
        some.push_back(all[3 * opcodes + 4 * i + i % 4]);
    return some;
}

SampleFrame ethernet(std::string_view type_and_rest) {
    return {wire::LinkType::Ethernet,
            from_hex("020000000001 020000000002") + from_hex(type_and_rest)};
}

std::vector<SampleFrame> others() {
    return {
        ethernet("0806 0001 0800 0604 0001"),
        ethernet("88cc 0207"),
        ethernet("0800 45000034 00010000 40060000 c0000202 c0000201"
                 "b26e 4853 00000001 00000002 5018 0100 00000000 0102030405060708 090a0b0c"),
        ethernet("0800 4500001c 00010000 40110000 c0000202 c0000201 b26e 0035 0008 0000"),
        ethernet("0800 4500001c 00010000 40010000 c0000202 c0000201 0800 0000 0000 0000"),
        ethernet("0800 4500001c 00012000 40110000 c0000202 c0000201 b26e 12b7 0008 0000"),
        ethernet("0800 4500001c 00010010 40110000 c0000202 c0000201 b26e 12b7 0008 0000"),
        ethernet("86dd 60000000 0010 00 40 20010db8000000000000000000000002"
                 "20010db8000000000000000000000001 1100010400000000 b26e 0035 0008 0000"),
    };
}

void write_packets() {
    const auto add = [](const SampleFrame& frame, const std::string& name, std::string_view cut) {
        Octets head{static_cast<std::byte>(frame.link)};
        write("packet", name, head + from_hex(cut) + frame.bytes);
    };
    int number = 0;
    for (const auto& frame : chosen())
        add(frame, fmt::format("sample_{:02}", number++), "0000");
    for (const auto& frame : others())
        add(frame, fmt::format("other_{:02}", number++), "0000");
    const auto inner = wire::encode(
        wire_test::sample_packet(*wire::find_opcode(0x0a), wire_test::Network::Ipv4, 5));
    for (const auto& encapsulation : wire_test::encapsulations())
        add({wire::LinkType::Ethernet, encapsulation.wrap(inner)}, fmt::format("in_{}", number++),
            "0000");
    add(ethernet("8808 0001 ffff"), "pause", "0000");
    add(ethernet("8808 0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000"), "pfc", "0000");
    using wire::LinkType;
    for (const bool has_grh : {false, true})
        add({LinkType::Infiniband, wire_test::native_sample(*wire::find_opcode(0x0a), has_grh, 5)},
            fmt::format("infiniband_{}", has_grh ? "global" : "local"), "0000");
    add({LinkType::Infiniband,
         wire_test::native_mad(
             {.mgmt_class = wire::mgmt_class::subnet_management_directed, .attribute_id = 0x11}, {},
             wire::smi_qpn)},
        "infiniband_smp", "0000");
    add({LinkType::Infiniband, from_hex("0000 0005 0003 0006 00001123 0000")}, "infiniband_raw",
        "0000");
    const auto native = wire_test::native_sample(*wire::find_opcode(0x0c), false);
    add({LinkType::Erf, wire_test::erf_record(0x95, native, from_hex("0300000000000002"))}, "erf",
        "0000");
    add({LinkType::Erf, wire_test::erf_record(2, inner, from_hex("0000"))}, "erf_ethernet", "0000");
    auto cut = chosen()[6];
    cut.bytes.resize(70);
    add(cut, "cut", "0040");
}

void write_messages() {
    for (unsigned attribute = 0x10; attribute <= 0x1b; ++attribute)
        write(
            "cm", fmt::format("message_{:02x}", attribute),
            Octets{std::byte{0}, static_cast<std::byte>(attribute)} + wire_test::CmData().bytes());
    for (const auto* version : {"40", "60"}) {
        wire_test::CmData request;
        request.put(8, "0000000001061234").put(140, "00").put(141, version);
        write("cm", fmt::format("request_ip{}", version), from_hex("0010") + request.bytes());
        wire_test::CmData resolution;
        resolution.put(8, "0000000001111234").put(16, "00").put(17, version);
        write("cm", fmt::format("resolution_ip{}", version), from_hex("0017") + resolution.bytes());
    }
}

// A pcap file: https://www.tcpdump.org/manpages/pcap-savefile.5.html
class PcapFile {
  public:
    PcapFile(std::endian order, std::uint32_t magic, wire::LinkType link) : order_(order) {
        add(magic, 4).add(2, 2).add(4, 2).add(0, 4).add(0, 4).add(0x40000, 4);
        add(capture::linktype_number(link), 4);
    }
    void packet(util::Bytes bytes, std::size_t length) {
        add(1, 4).add(999'999, 4).add(bytes.size(), 4).add(length, 4);
        file_ = std::move(file_) + bytes;
    }
    util::Bytes bytes() const { return file_; }

  private:
    PcapFile& add(std::size_t value, std::size_t width) {
        for (std::size_t i = 0; i < width; ++i)
            file_.push_back(static_cast<std::byte>(
                value >> 8 * (order_ == std::endian::big ? width - 1 - i : i)));
        return *this;
    }

    std::endian order_;
    Octets file_;
};

void write_pcaps() {
    constexpr std::uint32_t microseconds = 0xa1b2c3d4;
    constexpr std::uint32_t nanoseconds = 0xa1b23c4d;
    const auto frames = chosen();
    const auto write_pcap = [&](const std::string& name, PcapFile file) {
        file.packet(frames[6].bytes, frames[6].bytes.size());
        file.packet(util::Bytes(frames[9].bytes).first(60), frames[9].bytes.size());
        file.packet({}, 60);
        write("capture_file", name, file.bytes());
    };
    using wire::LinkType;
    write_pcap("little.pcap", {std::endian::little, microseconds, LinkType::Ethernet});
    write_pcap("big.pcap", {std::endian::big, microseconds, LinkType::Ethernet});
    write_pcap("nano.pcap", {std::endian::little, nanoseconds, LinkType::Ethernet});
    write_pcap("raw.pcap", {std::endian::little, nanoseconds, LinkType::RawIp});
    write_pcap("sll.pcap", {std::endian::little, nanoseconds, LinkType::LinuxCooked});
    write_pcap("sll2.pcap", {std::endian::little, nanoseconds, LinkType::LinuxCooked2});
}

Octets contents(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

// Writes the same file for both readers. Two bytes before that of the tail determine its initial
// size.
void write_pcapngs() {
    const auto path = path_of("capture_file", "roce.pcapng");
    capture::PcapngWriter out(capture::Sink::create(path),
                              {.hardware = "", .os = "", .application = "rocecap", .comment = "c"});
    const auto interface = out.add_interface({.link_type = wire::LinkType::Ethernet,
                                              .name = "eth0",
                                              .description = "",
                                              .filter = "udp port 4791"});
    out.add_tls_secrets("CLIENT_RANDOM 00 11\n");
    const auto frames = chosen();
    for (const std::size_t index : {std::size_t{6}, std::size_t{9}, frames.size() - 11})
        out.packet(interface,
                   {.time = capture::Time(1'700'000'000'123'456'789),
                    .bytes = frames[index].bytes,
                    .original_length = static_cast<std::uint32_t>(frames[index].bytes.size())},
                   "a comment");
    capture::PcapngStatistics statistics;
    statistics.passed_filter = 3;
    out.statistics(interface, statistics);
    out.close();
    const Octets file = contents(path);
    write("pcapng_tail", "whole", from_hex("0000") + file);
    write("pcapng_tail", "in_a_block", from_hex("0100") + file);
}

// A pcapng file with features of other programs: older blocks, both byte orders, different
// interfaces.
class PcapngFile {
  public:
    PcapngFile& in_order(std::endian order) {
        order_ = order;
        return *this;
    }
    PcapngFile& add(std::size_t value, std::size_t width) {
        for (std::size_t i = 0; i < width; ++i)
            file_.push_back(static_cast<std::byte>(
                value >> 8 * (order_ == std::endian::big ? width - 1 - i : i)));
        return *this;
    }
    PcapngFile& add(util::Bytes bytes) {
        file_ = std::move(file_) + bytes;
        file_.resize((file_.size() + 3) / 4 * 4);
        return *this;
    }
    template <typename Body>
    PcapngFile& block(std::uint32_t type, Body body) {
        PcapngFile inner;
        body(inner.in_order(order_));
        const std::size_t length = inner.file_.size() + 12;
        add(type, 4).add(length, 4);
        file_ = std::move(file_) + inner.file_;
        return add(length, 4);
    }
    PcapngFile& section() {
        return block(0x0a0d0d0a, [](PcapngFile& b) {
            b.add(0x1a2b3c4d, 4).add(1, 2).add(0, 2).add(~std::size_t{0}, 8);
        });
    }
    PcapngFile& interface(unsigned link, unsigned snap, unsigned resolution) {
        return block(1, [&](PcapngFile& b) {
            b.add(link, 2).add(0, 2).add(snap, 4).add(9, 2).add(1, 2).add(resolution, 1).add(0, 3);
            b.add(14, 2).add(8, 2).add(3600, 8).add(0, 4);
        });
    }
    util::Bytes bytes() const { return file_; }

  private:
    std::endian order_ = std::endian::little;
    Octets file_;
};

void write_foreign_pcapngs() {
    const auto frames = chosen();
    const auto add_packets = [&](PcapngFile& file) {
        const util::Bytes frame = frames[6].bytes;
        file.block(6, [&](PcapngFile& b) {
            b.add(0, 4).add(0x60000, 4).add(7, 4).add(frame.size(), 4).add(frame.size(), 4);
            b.add(frame).add(1, 2).add(3, 2).add(0x616263, 4).add(1, 2).add(1, 2).add(0x64, 4);
        });
        file.block(2, [&](PcapngFile& b) {
            b.add(1, 2).add(9, 2).add(0, 4).add(7, 4).add(frame.size(), 4).add(1500, 4).add(frame);
        });
        file.block(3, [&](PcapngFile& b) { b.add(1500, 4).add(frame.first(64)); });
    };
    PcapngFile file;
    for (const auto order : {std::endian::big, std::endian::little}) {
        file.in_order(order).section();
        file.interface(capture::linktype_ethernet, 64, 9).interface(capture::linktype_raw, 0, 0x94);
        add_packets(file);
    }
    write("capture_file", "foreign.pcapng", file.bytes());
    write("pcapng_tail", "foreign", from_hex("0050") + file.bytes());
}

// Writes one input for each kind of rule, with up to three frames after it.
void write_emulator() {
    const auto frames = chosen();
    int number = 0;
    for (const std::string_view rules :
         {"drop the 2nd packet from server", "duplicate 2 times after 3ms every 2nd packet",
          "delay 20ms 50% of packets seed 3", "reorder by 1 packets 1 to 2",
          "corrupt byte 5 with good icrc packets\nmark frames",
          "set bth.psn to 0xabcdef with bad icrc packets where bth",
          "cut for 2ms at the 2nd frame # and so on", "limit to 10Mbit/s queue 1 packets"}) {
        Octets bytes = std::vector(std::as_bytes(std::span(rules)).begin(),
                                   std::as_bytes(std::span(rules)).end());
        bytes.push_back(std::byte{0});
        for (int i = 0; i < 3; ++i) {
            const auto& frame = frames[static_cast<std::size_t>(3 * number + i) % frames.size()];
            if (frame.link != wire::LinkType::Ethernet)
                continue;
            bytes = bytes + from_hex(fmt::format("{:08x}", frame.bytes.size())) + frame.bytes;
        }
        write("emulator", fmt::format("rule_{}", number++), bytes);
    }
}

void write_exchange() {
    net::Endpoint endpoint{
        .qpn = 17, .psn = 0xabcdef, .path_mtu = 4096, .va = 4096, .length = 64, .rkey = 5};
    const auto message = net::serialize(endpoint);
    const Octets whole(message.begin(), message.end());
    const Octets ready = Octets{} + net::serialize_header(net::MessageType::Ready);
    const Octets done = Octets{} + net::serialize_header(net::MessageType::Done);
    write("exchange", "endpoint", whole);
    write("exchange", "all", whole + ready + done);
    write("exchange", "refused", net::serialize_refusal("the server already serves 2."));
}

}  // namespace

int main() {
    try {
        write_packets();
        write_messages();
        write_pcaps();
        write_pcapngs();
        write_foreign_pcapngs();
        write_emulator();
        write_exchange();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "fuzz_seeds: %s\n", error.what());
        return 1;
    }
    return 0;
}
