// Another decoder's word: what tshark makes of a capture, field by field, beside rocecap's JSON.
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
    std::map<std::string, std::uint64_t> left_out;  // why -> fields that were not compared
    std::map<std::string, std::uint64_t> by_field;  // tshark's name -> times compared
    std::string problem;                            // a program failed: nothing above counts

    /// "87 packets, 1902 fields compared, 0 mismatches", and below it what was left out and why.
    std::string text() const;
};

/// Whether tshark may guess at what a SEND carries. It takes much for RPC over RDMA, and then does
/// not get to the ICRC.
enum class Guesses : std::uint8_t { Refused, Allowed };

/// Decodes the file with both. A field that one of them has and the other has not is a mismatch.
Agreement compare_with_tshark(const std::string& capture, Guesses guesses = Guesses::Refused);

}  // namespace support
