// Takes the records of all traced processes and writes the run log.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <sys/types.h>
#include <vector>

#include "rocetrace/tracelog/merge.hpp"
#include "runlog/psn_mask.hpp"
#include "tools/rocetrace/log_file.hpp"
#include "util/fd.hpp"

namespace rocetrace {

class Collector {
  public:
    /// `path`: of the run log. Throws util::Error, and std::system_error if the socket cannot be
    /// created.
    Collector(const std::string& path, std::string role, bool mask_psns);
    /// Prints each event as text, too, to standard error.
    void print_text() { prints_text_ = true; }

    const std::string& socket_path() const { return socket_path_; }
    int listener() const { return listener_.get(); }

    /// Returns the status from waitpid() of a process that has ended; nullopt: unknown.
    using StatusOf = std::function<std::optional<int>(pid_t)>;
    /// Adds new processes, writes the records of all, and checks which have ended.
    void step(const StatusOf& status_of);
    /// Number of running processes that have written records.
    std::size_t running() const;
    /// Descriptors that become readable when one of the processes ends.
    std::vector<int> watched() const;
    /// Writes an event of rocetrace itself.
    void note(std::int64_t t_ns, runlog::EventName name, runlog::Fields fields);
    /// The same, in the order of time with the records: written as soon as the records before it
    /// are. `t_ns` is not before that of the previous call.
    void note_in_order(std::int64_t t_ns, runlog::EventName name, runlog::Fields fields);
    /// Writes all remaining records.
    void finish();

    /// How full the fullest ring was since the last call, in percent.
    unsigned fill() { return merge_.fill(); }
    std::size_t processes() const { return seen_; }
    std::uint64_t dropped() const { return dropped_; }
    /// Records of threads that have no buffer.
    std::uint64_t homeless() const { return homeless_; }
    /// The processes that have overwritten the memory from which their records are read.
    const std::vector<std::uint32_t>& damaged() const { return damaged_; }
    LogFile& log() { return log_; }
    const LogFile& log() const { return log_; }

  private:
    struct Process {
        std::unique_ptr<tracelog::Region> region;
        util::Fd alive;  // a pidfd
        bool has_ended = false;
    };

    /// The socket's folder, which is removed with all it contains.
    struct Folder {
        Folder();
        ~Folder();
        Folder(const Folder&) = delete;
        Folder& operator=(const Folder&) = delete;
        Folder(Folder&&) = delete;
        Folder& operator=(Folder&&) = delete;

        std::string path;
    };

    void take_up();
    bool take_up_one();
    void look_for_ended();
    void note_missing();
    /// Returns false if it is not a record.
    bool write(std::span<const std::byte> record, const tracelog::Writer& writer);
    void write(const runlog::Event& event);
    /// Writes the events up to this time, with those of note_in_order() in between.
    void write_until(std::int64_t t_ns);
    void flush();
    std::vector<tracelog::Region*> regions();

    LogFile log_;
    bool prints_text_ = false;
    std::string text_;  // for standard error
    std::deque<runlog::Event> waiting_;
    std::string role_;
    tracelog::JsonRenderer renderer_;
    std::optional<runlog::PsnMask> mask_;
    Folder folder_;
    std::string socket_path_;
    util::Fd listener_;
    std::vector<Process> processes_;
    tracelog::Merge merge_;
    std::size_t seen_ = 0;
    std::uint64_t dropped_ = 0;
    std::uint64_t homeless_ = 0;
    std::vector<std::uint32_t> damaged_;
    std::int64_t last_step_ns_ = 0;
};

}  // namespace rocetrace
