// Lesson 18, both sides: RoCE between two addresses in the kernel's ESP (RFC 4303, transport mode).
#pragma once

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <tuple>

#include <fmt/format.h>

#include "protocol.hpp"
#include "util/address.hpp"
#include "util/error.hpp"

namespace lesson18 {

/// Passes commands to ip(8) on its standard input: on a command line, every user of the host could
/// read the keys. Returns false if ip failed; it prints the error.
inline bool ip(const std::string& commands) {
    FILE* program = popen("ip -batch -", "w");
    if (program == nullptr)
        return false;
    const bool is_written = std::fputs(commands.c_str(), program) >= 0;
    return pclose(program) == 0 && is_written;
}

inline std::string hex(const std::array<std::byte, Sa::key_size>& key) {
    std::string text = "0x";
    for (const std::byte byte : key)
        text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    return text;
}

/// `hosts`: "src ADDRESS dst ADDRESS".
inline std::string add_state(const std::string& hosts, const Sa& sa) {
    return fmt::format(
        "xfrm state add {} proto esp spi {} mode transport aead rfc4106(gcm(aes)) {} 128 "
        "replay-window 32 limit time-hard 60\n",
        hosts, sa.spi, hex(sa.key));
}

inline std::string delete_state(const std::string& hosts, std::uint32_t spi) {
    return fmt::format("xfrm state delete {} proto esp spi {}\n", hosts, spi);
}

/// Makes the kernel load its ESP modules, which takes seconds in a guest that has just booted.
/// Throws util::Error if they are missing or the program lacks permission.
inline void prepare() {
    const Sa unused = Sa::random();
    for (const char* hosts : {"src 127.0.0.1 dst 127.0.0.1", "src ::1 dst ::1"})
        if (!ip(add_state(hosts, unused) + delete_state(hosts, unused.spi)))
            throw util::Error(
                "cannot set the IPsec state: see the message of ip (package iproute2) above. This "
                "lesson needs root. In the lab it has root: run lab/lab capture 18.");
}

/// During its lifetime, this host encrypts all UDP packets from `mine` to `peer` and drops
/// unencrypted ones from `peer`. If the program is killed, the kernel removes all this after a
/// minute.
class Esp {
  public:
    /// `in` protects packets from the peer, `out` packets to it. Throws util::Error.
    Esp(const util::Address& mine, const util::Address& peer, const Sa& in, const Sa& out)
        : mine_(mine.host()),
          peer_(peer.host()),
          to_peer_(fmt::format("src {} dst {}", mine.host(), peer.host())),
          to_me_(fmt::format("src {} dst {}", peer.host(), mine.host())),
          in_(in.spi),
          out_(out.spi) {
        // A state is a security association: an algorithm and a key. A policy selects the packets
        // that must use one: here all of UDP, protocol 17, which includes RoCE. It cannot select
        // ports, because Soft-RoCE specifies none in its route lookup.
        if (!ip(add_state(to_me_, in) + add_state(to_peer_, out) + policy(to_me_, "in") +
                policy(to_peer_, "out")))
            throw util::Error("cannot set the IPsec policy: see the message of ip above.");
    }
    ~Esp() {
        ip(fmt::format(
            "xfrm policy delete {0} proto 17 dir out\nxfrm policy delete {1} proto 17 dir "
            "in\n{2}{3}",
            to_peer_, to_me_, delete_state(to_peer_, out_), delete_state(to_me_, in_)));
    }
    /// Appends both keys to `file` in the format of Wireshark's ESP SA table. Anyone who has the
    /// file can decrypt the packets. Throws util::Error.
    void write_for_wireshark(const std::string& file, const Sa& in, const Sa& out) const {
        const mode_t before = umask(077);
        std::ofstream stream(file, std::ios::app);
        umask(before);
        for (const auto& [from, to, sa] :
             {std::tuple{peer_, mine_, in}, std::tuple{mine_, peer_, out}})
            stream
                << fmt::format(
                       R"("{}","{}","{}","{:#010x}","AES-GCM with 16 octet ICV [RFC4106]","{}","NULL","")",
                       mine_.find(':') != std::string::npos ? "IPv6" : "IPv4", from, to, sa.spi,
                       hex(sa.key))
                << '\n';
        if (!stream.flush())
            throw util::Error("cannot write " + file + ": " + std::strerror(errno) + ".");
    }

    Esp(const Esp&) = delete;
    Esp& operator=(const Esp&) = delete;
    Esp(Esp&&) = delete;
    Esp& operator=(Esp&&) = delete;

  private:
    static std::string policy(const std::string& hosts, const char* direction) {
        return fmt::format(
            "xfrm policy update {0} proto 17 dir {1} limit time-hard 60 "
            "tmpl {0} proto esp mode transport\n",
            hosts, direction);
    }

    std::string mine_;
    std::string peer_;
    std::string to_peer_;
    std::string to_me_;
    std::uint32_t in_;
    std::uint32_t out_;
};

/// Returns the current counters of `reasons`. Throws util::Error.
inline std::array<std::uint32_t, reasons.size()> read_counts() {
    std::array<std::uint32_t, reasons.size()> counts{};
    std::ifstream file("/proc/net/xfrm_stat");
    std::string name;
    for (std::uint32_t count = 0; file >> name >> count;)
        for (std::size_t i = 0; i < reasons.size(); ++i)
            if (name == reasons[i])
                counts[i] = count;
    return counts;
}

}  // namespace lesson18
