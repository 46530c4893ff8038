// Compares tshark's decoding of a capture with rocecap's JSON, field by field.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace support {

struct Agreement {
    std::uint64_t packets = 0;
    std::uint64_t fields = 0;  // compared, over all packets
    std::uint64_t mismatches = 0;
    std::vector<std::string> examples;              // the first mismatches of each field
    std::map<std::string, std::uint64_t> left_out;  // reason -> fields that were not compared
    std::map<std::string, std::uint64_t> by_field;  // tshark's name -> times compared
    std::string problem;  // a program failed: the fields above are not valid

    /// "87 packets, 1902 fields compared, 0 mismatches", then fields not compared and reasons.
    std::string text() const;
};

/// Whether tshark may guess the protocol in a SEND. It takes many payloads for RPC over RDMA, and
/// then does not reach the ICRC.
enum class Guesses : std::uint8_t { Refused, Allowed };

/// Decodes the file with both. A field that only one of them has is a mismatch.
Agreement compare_with_tshark(const std::string& capture, Guesses guesses = Guesses::Refused);

}  // namespace support
