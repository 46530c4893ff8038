// A capture file that the test writes and rocecap reads.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "capture/pcapng_writer.hpp"
#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"
#include "wire/sample_frames.hpp"

namespace rocecap_test {

class CaptureFile {
  public:
    explicit CaptureFile(const std::string& name)
        : temp_(name),
          out_(capture::Sink::create(temp_.str()), {}),
          interface_(out_.add_interface({})) {
        out_.flush();
    }

    /// Adds a packet. The first is at 1 s, each other 1 µs later. `length`: bytes on the wire, if
    /// `bytes` is cut.
    void add(const std::vector<std::byte>& bytes, std::size_t length = 0) {
        add_at(count_, bytes, length);
    }
    /// The same at this number of microseconds after the first.
    void add_at(int us, const std::vector<std::byte>& bytes, std::size_t length = 0) {
        ++count_;
        out_.packet(interface_, {.time = capture::Time(1'000'000'000 + 1000 * us),
                                 .bytes = bytes,
                                 .original_length =
                                     static_cast<std::uint32_t>(std::max(length, bytes.size()))});
        out_.flush();
    }

    std::string path() const { return temp_.str(); }

    /// Runs rocecap with `command`, this file and `options`.
    support::Outcome run(const std::string& command, const support::Argv& options = {}) const {
        support::Argv argv{support::rocecap(), command, path()};
        argv.insert(argv.end(), options.begin(), options.end());
        return support::run(argv);
    }

  private:
    support::TempPath temp_;
    capture::PcapngWriter out_;
    std::uint32_t interface_;
    int count_ = 0;
};

inline std::vector<std::byte> frame_of(std::uint8_t opcode, std::size_t payload = 64) {
    return wire::encode(
        wire_test::sample_packet(*wire::find_opcode(opcode), wire_test::Network::Ipv4, payload));
}

}  // namespace rocecap_test
