// Writes packets with their causes as comments.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "capture/frame.hpp"
#include "capture/pcapng_writer.hpp"
#include "capture/sink.hpp"
#include "trace/timeline/packet_row.hpp"
#include "trace/timeline/trace_files.hpp"

namespace rocecap {

/// Every function throws as capture::Sink::append() does.
class Annotator {
  public:
    /// `secrets`: of TLS, or empty.
    Annotator(const timeline::TraceFiles& files, const std::string& secrets, capture::Sink sink);

    /// Writes the names of a run's hosts.
    void name_hosts(const timeline::RunInfo& info);
    /// `row` needs only its cause.
    void packet(const capture::Frame& frame, const timeline::PacketRow& row);

    void flush() { writer_.flush(); }
    void close() { writer_.close(); }

  private:
    std::uint32_t interface_of(const capture::Frame& frame);

    capture::PcapngWriter writer_;
    std::string run_interface_;
    std::map<std::tuple<std::uint32_t, wire::LinkType, std::string>, std::uint32_t> interfaces_;
};

/// The end of a message about the file: "6 packets, 5 with a cause".
std::string annotated_text(const timeline::TraceFiles& files, std::uint64_t packets,
                           std::uint64_t with_cause);

}  // namespace rocecap
