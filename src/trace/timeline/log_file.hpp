// A run log of a trace, which may still grow. Each of its events is parsed once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runlog/event.hpp"
#include "runlog/tail.hpp"
#include "trace/logged/known_pairs.hpp"

namespace timeline {

class LogFile {
  public:
    /// `role`: name of all roles in it.
    LogFile(std::string path, std::string role)
        : path_(std::move(path)), role_(std::move(role)), tail_(path_) {}

    /// Reads what the file has now. next() will return these events.
    void read_ahead();
    /// The roles in the events so far, as the log has them.
    const std::vector<std::string>& roles() const { return roles_; }
    /// Gives one of these roles a name of its own. Several logs may have the same role.
    void rename(const std::string& role, const std::string& name) { names_[role] = name; }

    /// Whether next() returns events of the role with this name.
    bool has(const std::string& name) const {
        return std::ranges::any_of(roles_,
                                   [&](const std::string& role) { return name_of(role) == name; });
    }

    /// The next event, with its role's name; nullopt if there is none yet.
    std::optional<runlog::Event> next();

    const std::string& path() const { return path_; }
    const std::string& role() const { return role_; }
    /// Queue pairs and devices according to the events so far, with the log's own roles.
    const logged::LogPairs& pairs() const { return pairs_; }
    std::uint64_t skipped_lines() const { return tail_.skipped_lines(); }

  private:
    std::optional<runlog::Event> parse();
    const std::string& name_of(const std::string& role) const {
        const auto named = names_.find(role);
        return named == names_.end() ? role_ : named->second;
    }

    std::string path_;
    std::string role_;
    std::map<std::string, std::string> names_;
    runlog::Tail tail_;
    std::deque<runlog::Event> ahead_;
    std::vector<std::string> roles_;
    logged::LogPairs pairs_;
};

}  // namespace timeline
