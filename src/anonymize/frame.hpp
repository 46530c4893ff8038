// Makes a captured frame fit to be published: addresses, memory keys and data are replaced, and what
// the decoder does not know is zeroed. Lengths, queue pairs and PSNs stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "anonymize/pseudonyms.hpp"
#include "util/cursor.hpp"
#include "wire/packet.hpp"

namespace anonymize {

/// Data of programs: payloads, immediate data, operands of atomics, and private data of the
/// connection manager's messages.
enum class Data : std::uint8_t { Replaced, Kept };

struct Anonymous {
    util::Bytes bytes;  ///< valid until the next frame
    wire::LinkType link{};
    std::size_t removed = 0;  ///< bytes of encapsulations in front of it
};

class Anonymizer {
  public:
    explicit Anonymizer(Data data) : data_(data) {}

    /// `packet`: what wire::RoceFlows decoded from `frame`, with its ICRC computed. nullopt if the
    /// frame is neither RoCE nor of a kind whose every byte is known: ARP, neighbour discovery, an
    /// ICMP error about RoCE, PAUSE, PFC. Throws util::Error as Pseudonyms.
    std::optional<Anonymous> frame(const wire::Packet& packet, util::Bytes frame,
                                   wire::LinkType link);

    const Pseudonyms& pseudonyms() const { return pseudonyms_; }

  private:
    Data data_;
    Pseudonyms pseudonyms_;
    std::vector<std::byte> bytes_;
};

}  // namespace anonymize
