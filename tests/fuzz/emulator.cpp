// Input: rules of the link emulator, one per line, up to a 0 byte; then a stream of one host's
// frames in the format of QEMU.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "emulator/frame_reader.hpp"
#include "emulator/stage.hpp"
#include "fuzz/check.hpp"
#include "util/error.hpp"

namespace {

void check_is_roce(util::Bytes frame, bool is_roce) {
    const auto packet = wire::decode(frame, wire::LinkType::Ethernet);
    fuzz::require(packet.is_roce() == is_roce, "a frame is RoCE as long as it is on the link");
}

class Counter : public emulator::StageOutput {
  public:
    std::uint64_t came = 0;
    std::uint64_t left = 0;
    util::Bytes frame;  // the last one that arrived

    std::uint64_t arrived(const emulator::ReceivedFrame& arrival, bool is_roce,
                          const std::vector<emulator::RuleEvent>& /*events*/) override {
        check_is_roce(arrival.bytes, is_roce);
        frame = arrival.bytes;
        return ++came;
    }
    void acted(const emulator::Sent& sent, const emulator::RuleEvent& event) override {
        fuzz::require(!event.text.empty() && !event.name.empty(), "an event has words");
        fuzz::require(sent.recorded >= 1 && sent.recorded <= came, "an event has its frame");
        check_is_roce(sent.frame.bytes, sent.is_roce());
    }
    void leaves(emulator::Host from, std::optional<emulator::Host> /*to*/, util::Bytes bytes,
                bool is_roce) override {
        ++left;
        check_is_roce(bytes, is_roce);
        fuzz::require(from == 0, "a frame goes on from its sender");
        fuzz::require(
            bytes.size() >= emulator::shortest_frame && bytes.size() <= emulator::longest_frame,
            "what goes on is a frame");
    }
};

void check_sentence(std::string_view sentence) {
    fuzz::require(!sentence.empty() && sentence.find('\n') == std::string_view::npos,
                  "an error is one line: " + std::string(sentence));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto input = std::as_bytes(std::span(data, size));
    const auto zero = std::ranges::find(input, std::byte{0});
    const auto rules = static_cast<std::size_t>(zero - input.begin());
    const std::string_view text(reinterpret_cast<const char*>(data), rules);
    const std::vector<std::string> hosts{"server", "client"};
    emulator::Stage stage(hosts);
    try {
        for (emulator::Rule& rule : emulator::parse_rules(text, hosts))
            stage.add(std::move(rule));
    } catch (const util::Error& error) {
        check_sentence(error.what());
        return 0;
    }
    util::Bytes stream = input.subspan(std::min(rules + 1, input.size()));
    emulator::FrameReader reader;
    Counter out;
    auto now = util::Clock::time_point{};
    try {
        while (!stream.empty()) {
            const auto space = reader.space();
            const auto part = stream.first(std::min(stream.size(), space.size()));
            std::ranges::copy(part, space.begin());
            reader.filled(part.size());
            stream = stream.subspan(part.size());
            while (const auto frame = reader.next()) {
                now += std::chrono::milliseconds(1);
                stage.take({.time = now.time_since_epoch(), .from = 0, .to = 1, .bytes = *frame},
                           now, out);
                stage.release(now, out);
            }
        }
    } catch (const emulator::NotFrames& error) {
        check_sentence(error.what());
    }
    for (int i = 0; stage.next() && i < 1000; ++i)
        stage.release(*stage.next(), out);
    fuzz::require(!stage.rules().empty() || out.came == out.left,
                  "without rules each frame goes on once");
    return 0;
}
