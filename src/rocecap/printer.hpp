// Decodes frames and writes them to standard output, as text or JSON lines.
#pragma once

#include <cstdint>

#include "capture/frame.hpp"
#include "capture/sink.hpp"
#include "report/line.hpp"

namespace rocecap {

class Printer {
  public:
    struct Options {
        bool json = false;
        bool colour = false;
    };
    explicit Printer(const Options& options);

    /// Decodes and writes one frame. Throws as capture::Sink::append() does.
    void print(const capture::Frame& frame);

    capture::Sink& sink() { return sink_; }
    std::uint64_t packets() const { return packets_; }
    std::uint64_t malformed() const { return malformed_; }
    /// The exit code for what was seen.
    int exit_code() const;

  private:
    capture::Sink sink_;
    report::Listing listing_;
    bool json_;
    std::uint64_t packets_ = 0;
    std::uint64_t malformed_ = 0;
};

}  // namespace rocecap
