// A capture file of packets that a test creates, decoded by tshark.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "capture/pcapng_writer.hpp"
#include "support/tshark.hpp"
#include "wire/encode.hpp"

namespace differential {

class MadeCapture {
  public:
    explicit MadeCapture(const std::string& name,
                         wire::LinkType link_type = wire::LinkType::Ethernet)
        : path_(testing::TempDir() + "differential_" + name + ".pcapng"),
          writer_(capture::Sink::create(path_), {}),
          interface_(writer_.add_interface(
              {.link_type = link_type, .name = {}, .description = {}, .filter = {}})) {}
    ~MadeCapture() { std::filesystem::remove(path_); }
    MadeCapture(const MadeCapture&) = delete;
    MadeCapture& operator=(const MadeCapture&) = delete;
    MadeCapture(MadeCapture&&) = delete;
    MadeCapture& operator=(MadeCapture&&) = delete;

    void add(const wire::Packet& packet) { add(wire::encode(packet)); }
    void add(util::Bytes bytes) {
        writer_.packet(interface_, {.time = capture::Time(++count_),
                                    .bytes = bytes,
                                    .original_length = static_cast<std::uint32_t>(bytes.size())});
    }

    /// Returns the path of the file, which contains all packets so far.
    const std::string& path() {
        writer_.flush();
        return path_;
    }

    /// Expects that all packets were compared, with at least `of_a_packet` fields on average, and
    /// that no field differs.
    void compare(std::uint64_t of_a_packet = 20) {
        const auto agreement = support::compare_with_tshark(path());
        std::printf("%s", agreement.text().c_str());
        EXPECT_EQ(agreement.problem, "");
        EXPECT_EQ(agreement.packets, static_cast<std::uint64_t>(count_));
        EXPECT_EQ(agreement.mismatches, 0U);
        EXPECT_GE(agreement.fields, agreement.packets * of_a_packet);
    }

  private:
    std::string path_;
    capture::PcapngWriter writer_;
    std::uint32_t interface_;
    int count_ = 0;
};

}  // namespace differential
