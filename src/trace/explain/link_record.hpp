// What the rules of the link emulator did to packets, by its own log.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "runlog/event.hpp"
#include "trace/explain/cause.hpp"

namespace explain {

class LinkRecord {
  public:
    /// Takes an event of link.jsonl.
    void learn(const runlog::Event& event);
    bool empty() const { return all_.empty(); }

    /// Packets of one direction to which a rule did the same.
    struct Done {
        std::uint64_t rule = 0;
        std::string what;  ///< "drop"
        std::string text;  ///< the rule's: "drop the 3rd packet from client"
        std::uint64_t packets = 0;
        std::optional<std::uint32_t> last_request;  ///< PSN of the last request among them
        Evidence first;

        std::string sentence() const;
    };
    /// Those of RoCE packets from one role to a queue pair of another one, by number of the rule.
    std::vector<const Done*> of(std::string_view from, std::string_view to,
                                std::uint32_t dest_qpn) const;
    /// Those of messages of the connection manager, in both directions. `where`: of a Cause, as
    /// "client → server, port 7471", or the role of the program that waited.
    std::vector<const Done*> of_manager(std::string_view where) const;

    /// From, to, queue pair.
    using Place = std::tuple<std::string, std::string, std::uint32_t>;
    /// By place, number of the rule, and what it did.
    using All = std::map<std::tuple<Place, std::uint64_t, std::string>, Done>;
    const All& all() const { return all_; }

  private:
    All all_;
};

}  // namespace explain
