// A decoded frame as input for fields and filters.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "filter/field.hpp"
#include "filter/json.hpp"
#include "upper/message.hpp"
#include "util/json.hpp"
#include "wire/icrc_hint.hpp"
#include "wire/sample_set.hpp"

namespace query_test {

class Sample {
  public:
    static constexpr std::chrono::nanoseconds time{1'700'000'000'123'456'789};

    /// `length`: bytes on the wire, if the snap length cut the frame.
    explicit Sample(std::vector<std::byte> frame, std::size_t length = 0,
                    wire::LinkType link = wire::LinkType::Ethernet)
        : frame_(std::move(frame)),
          length_(std::max(length, frame_.size())),
          packet_(wire::decode(frame_, link, length_)) {
        if (const auto found = wire::icrc_hint(packet_)) {
            hint_ = std::make_unique<wire::IcrcHint>(*found);
            packet_.icrc->hint = hint_.get();
        }
    }
    explicit Sample(const wire_test::SampleFrame& frame) : Sample(frame.bytes, 0, frame.link) {}

    // The packet refers to the frame's memory, which a move keeps and a copy does not.
    Sample(Sample&&) = default;
    Sample& operator=(Sample&&) = default;
    Sample(const Sample&) = delete;
    Sample& operator=(const Sample&) = delete;
    ~Sample() = default;

    /// Sets the notes of a pcapng file.
    Sample& noted(const wire::CaptureNotes& notes) {
        notes_ = notes;
        return *this;
    }

    /// Sets the message of a connection whose service is known.
    Sample& carrying(const upper::Message& message) {
        upper_ = message;
        return *this;
    }

    filter::View view() { return {3, time, packet_, frame_, length_, scratch_, notes_, &upper_}; }

  private:
    std::vector<std::byte> frame_;
    std::size_t length_;
    wire::Packet packet_;
    std::unique_ptr<wire::IcrcHint> hint_;
    std::string scratch_;
    wire::CaptureNotes notes_;
    upper::Message upper_;
};

inline std::string json_text(const filter::View& view) {
    std::string text;
    filter::append_json(text, view);
    return text;
}
/// Parses the JSON text, as a program does that reads it.
inline util::Json json_of(const filter::View& view) {
    return util::Json::parse(json_text(view));
}

/// Converts a value to its JSON form; null if there is no value.
inline util::Json json_of(const filter::Value& value, filter::Kind kind) {
    if (const auto* number = std::get_if<std::uint64_t>(&value))
        return *number;
    if (const auto* number = std::get_if<std::int64_t>(&value))
        return *number;
    if (const auto* number = std::get_if<double>(&value))
        return *number;
    if (const auto* flag = std::get_if<bool>(&value))
        return *flag;
    if (!is_there(value))
        return {};
    std::string text;
    append(text, value, kind);
    return text;
}

/// Returns a packet with the headers of the opcode.
inline wire::Packet packet_of(std::uint8_t opcode,
                              wire_test::Network network = wire_test::Network::Ipv4) {
    return wire_test::sample_packet(*wire::find_opcode(opcode), network, 7);
}

inline Sample sample_of(std::uint8_t opcode,
                        wire_test::Network network = wire_test::Network::Ipv4) {
    return Sample(wire::encode(packet_of(opcode, network)));
}

}  // namespace query_test
