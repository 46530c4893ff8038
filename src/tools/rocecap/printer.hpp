// Decodes frames and writes them to standard output: as text, JSON lines, or rows of chosen fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "capture/frame.hpp"
#include "capture/sink.hpp"
#include "filter/field.hpp"
#include "filter/where.hpp"
#include "tools/rocecap/service_options.hpp"
#include "trace/service/services.hpp"
#include "wire/text/line.hpp"
#include "wire/text/other_tally.hpp"

namespace rocecap {

/// A frame on its way through a Printer. Cannot be copied once it is decoded.
struct Decoded {
    capture::Frame frame;
    std::optional<wire::Packet> packet;
    wire::IcrcHint hint;  ///< the packet's, if it has one
    std::optional<upper::Message> upper;
};

/// What lines are formatted with: one for each thread.
struct Formatter {
    wire::Listing listing;
    std::string scratch{};
    std::string upper_text{};
};

class Printer {
  public:
    struct Options {
        bool json = false;
        bool colour = false;
        std::size_t columns = 0;              ///< where lines of text are wrapped; 0: nowhere
        std::optional<std::string> fields{};  ///< "bth.psn,reth.r_key": rows instead of text
        bool csv = false;                     ///< rows are CSV instead of TSV
        bool header = false;                  ///< rows begin with a line of names
        std::optional<std::string> where{};   ///< only packets that match
        bool trust_port = false;
        ServiceOptions services{};
    };
    /// Adds all options except colour and columns to a command.
    static void add_options(CLI::App& command, Options& options);

    /// Throws util::Error for a field or service that does not exist, filter::SyntaxError for a
    /// filter.
    explicit Printer(const Options& options);

    /// Decodes one frame and writes it if it matches. Throws as capture::Sink::append() does.
    void print(const capture::Frame& frame);

    /// The steps of print(), so that several threads can share the work. take() and put() need all
    /// frames in order; decode() and format() do not.
    void decode(Decoded& decoded) const;
    /// Returns false if the packet does not match.
    bool take(Decoded& decoded);
    /// Appends a line.
    void format(std::string& out, const Decoded& decoded, Formatter& formatter) const;
    void put(std::string_view line, bool is_malformed);
    /// The listing is the one after the last line.
    Formatter& formatter() { return formatter_; }

    capture::Sink& sink() { return sink_; }
    std::uint64_t packets() const { return packets_; }  ///< decoded
    std::uint64_t printed() const { return printed_; }
    /// What was decoded besides RoCE, as lines.
    std::vector<std::string> others() const;
    /// As wire::RoceFlows::left_out_text().
    std::string left_out() const { return flows_.left_out_text(); }
    /// The exit code for what was printed.
    int exit_code() const;

  private:
    capture::Sink sink_;
    bool json_;
    std::optional<filter::Row> row_;
    std::optional<filter::Where> where_;
    wire::IcrcCheck icrc_;
    wire::RoceFlows flows_;
    wire::OtherTally others_;
    service::Services services_;
    std::uint64_t packets_ = 0;
    std::uint64_t printed_ = 0;
    std::uint64_t malformed_ = 0;
    Decoded decoded_;
    Formatter formatter_;
    std::string text_;
    std::string scratch_;
};

}  // namespace rocecap
