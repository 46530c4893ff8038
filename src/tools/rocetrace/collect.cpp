#include "tools/rocetrace/collect.hpp"

#include <algorithm>
#include <optional>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

#include "util/printable.hpp"

namespace rocetrace {
namespace {

// Gives the program priority on the CPU while there is room for records. Without permission to
// raise its priority again, rocetrace keeps the low one.
class Politeness {
  public:
    Politeness() { set(polite); }
    void judge(unsigned fill) {
        if (nice_ == polite && fill > 50)
            set(0);
        else if (nice_ == 0 && fill < 10)
            set(polite);
    }
    /// The program has ended: nothing is left to be polite to, and other programs may be busy.
    void end() {
        if (nice_ == polite)
            set(0);
    }

  private:
    static constexpr int polite = 19;

    void set(int nice) {
        setpriority(PRIO_PROCESS, 0, nice);
        nice_ = nice;
    }

    int nice_ = 0;
};

// A line gets its time when rocetrace reads it: with a low priority, this is after the program's next
// calls. Without permission for a high priority, rocetrace keeps that of the program.
void raise_priority() {
    setpriority(PRIO_PROCESS, 0, -10);
}

// The lines of standard output become notes, those of standard error errors, without the name of the
// program before them.
void take_lines(Collector& collector, std::vector<ProgramOutput>& outputs, const std::string& role,
                bool all) {
    for (ProgramOutput& output : outputs)
        for (ProgramOutput::Line& line : output.take(all)) {
            const bool is_error = output.stream() == STDERR_FILENO;
            if (is_error && line.text.starts_with(role + ": "))
                line.text.erase(0, role.size() + 2);
            collector.note_in_order(
                line.t_ns, is_error ? runlog::EventName("error") : runlog::EventName("note"),
                {{runlog::key::text, line.text}});
        }
}

}  // namespace

void collect(Collector& collector, Child& child, std::vector<ProgramOutput>& outputs,
             const std::string& role) {
    // Milliseconds. Each step takes the CPU away from the program twice.
    constexpr int longest = 100;
    constexpr int shortest = 10;
    constexpr unsigned filling = 10;  // percent of a ring: poll more often
    int pause = shortest;
    std::optional<Politeness> politeness;
    if (outputs.empty())
        politeness.emplace();
    else
        raise_priority();
    while (true) {
        std::vector<pollfd> ready{{child.signals(), POLLIN, 0}, {collector.listener(), POLLIN, 0}};
        for (const int fd : collector.watched())
            ready.push_back({fd, POLLIN, 0});
        for (const ProgramOutput& output : outputs)
            ready.push_back({output.read_end(), POLLIN, 0});
        poll(ready.data(), ready.size(), pause);
        child.take_signals();
        const bool child_has_ended = child.has_ended();
        if (politeness && child_has_ended)
            politeness->end();
        take_lines(collector, outputs, role, child_has_ended);
        collector.step([&child](pid_t pid) { return child.status_of(pid); });
        const unsigned fill = collector.fill();
        pause = fill > filling ? shortest : std::min(2 * pause, longest);
        if (politeness && !child_has_ended)
            politeness->judge(fill);
        const bool all_ended = child_has_ended && collector.running() == 0;
        if (all_ended || child.is_asked_to_end())
            break;
    }
    collector.finish();
}

void tell_result(const Collector& collector, const std::string& program) {
    const auto say = [](const std::string& what) { util::complain("rocetrace", what); };
    if (collector.processes() == 0)
        say(fmt::format(
            "{} made no verbs call that rocetrace can trace, unless a line above says why it is "
            "not traced. If the program links libibverbs "
            "statically, rocetrace cannot trace it. If it sets or clears LD_PRELOAD (env, a "
            "script), put LD_PRELOAD=LIBRARY before the program that makes the calls",
            program));
    if (collector.dropped() != 0)
        say(
            fmt::format("{} events are missing, because the program was faster than rocetrace: try "
                        "a larger --buffer, or --only",
                        collector.dropped()));
    if (collector.homeless() != 0)
        say(fmt::format(
            "{} events are missing, because the program had more threads than rocetrace "
            "has buffers",
            collector.homeless()));
    for (const std::uint32_t pid : collector.damaged())
        say(
            fmt::format("process {} has overwritten memory that is not its own, and with it events "
                        "that rocetrace had not read: they are missing",
                        pid));
    if (!collector.log().error().empty())
        say(fmt::format("run log incomplete: cannot write to {}: {}", collector.log().path(),
                        collector.log().error()));
}

}  // namespace rocetrace
