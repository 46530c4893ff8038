// A program that a signal ended, and whose peer lost it.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trace/explain/rules.hpp"

namespace explain {
namespace {

constexpr std::uint64_t shell_base = 128;  // an exit status, as a shell reports it

// Nobody ends a program of his own in this way: it failed, or the kernel or a script killed it. SIGINT and
// SIGTERM end programs that run until then.
bool is_sudden(std::uint64_t signal) {
    constexpr auto sudden = std::to_array<std::uint64_t>(
        {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGSEGV, SIGSYS, SIGXCPU, SIGXFSZ});
    return std::ranges::find(sudden, signal) != sudden.end();
}

struct End {
    std::string role;
    std::uint64_t signal = 0;  // 0: none
    bool has_failed = false;   // a signal, or a status other than 0
    std::optional<std::int64_t> t_ns;
    const runlog::Event* event = nullptr;
};

// The end of the program of each role; of several programs the last one that a signal ended, or failed.
std::vector<End> ends_of(const Logs& logs) {
    std::vector<End> ends;
    const auto of_role = [&](const std::string& role) -> End& {
        const auto known = std::ranges::find(ends, role, &End::role);
        return known != ends.end() ? *known : ends.emplace_back(End{.role = role});
    };
    for (const runlog::Event& event : logs.notices()) {
        if (!event.is("process_end"))
            continue;
        const std::uint64_t signal = event[key::signal].value_or(0);
        const bool has_failed =
            signal != 0 || !event[key::end].empty() || event[key::exit_status].value_or(0) != 0;
        End& end = of_role(event.role);
        if (has_failed || !end.has_failed)
            end = {event.role, signal, has_failed, event.t_ns, &event};
    }
    // The log of a program that SIGKILL ends does not name the signal; its status does.
    for (const auto& [role, status] : logs.statuses()) {
        End& end = of_role(role);
        end.has_failed |= status != 0;
        if (end.signal == 0 && status > shell_base && is_sudden(status - shell_base))
            end.signal = status - shell_base;
    }
    return ends;
}

// The names of signals in glibc, whose program may run on another system than this one: signal(7).
std::string signal_text(std::uint64_t signal) {
    constexpr std::array names{"",       "HUP",  "INT",    "QUIT", "ILL",   "TRAP", "ABRT", "BUS",
                               "FPE",    "KILL", "USR1",   "SEGV", "USR2",  "PIPE", "ALRM", "TERM",
                               "STKFLT", "CHLD", "CONT",   "STOP", "TSTP",  "TTIN", "TTOU", "URG",
                               "XCPU",   "XFSZ", "VTALRM", "PROF", "WINCH", "POLL", "PWR",  "SYS"};
    return signal < names.size()
               ? fmt::format("{} ({})", signal, names[static_cast<std::size_t>(signal)])
               : fmt::format("{}", signal);
}

void add(const End& gone, const End& peer, Causes& causes) {
    Cause& cause = add_fatal(
        causes, Code::PeerGone, gone.t_ns && peer.t_ns ? Certainty::Certain : Certainty::Likely,
        fmt::format("the program of {} was ended by signal {}, and {} lost its peer.",
                    spoken(gone.role), signal_text(gone.signal), spoken(peer.role)),
        gone.role);
    cause.add(gone.event != nullptr ? evidence(*gone.event)
                                    : value(gone.role, fmt::format("ended with status {}",
                                                                   shell_base + gone.signal)));
    if (peer.event != nullptr)
        cause.add(evidence(*peer.event));
    cause.try_this = gone.signal == SIGKILL
                         ? "Look for who ended it: the kernel's log has the OOM killer (dmesg), "
                           "and a script or a job's limit may have used kill -9."
                         : "Look at the program's last output, and at its core dump (ulimit -c "
                           "unlimited, coredumpctl).";
}

}  // namespace

void explain_ended(const Whole& whole, Causes& causes) {
    constexpr std::int64_t later_ns = 200'000'000;  // the clocks of two hosts
    if (std::ranges::any_of(causes, [](const Cause& one) {
            return one.is_fatal && one.certainty != Certainty::Possible;
        }))
        return;
    const std::vector<End> ends = ends_of(whole.logs);
    for (const End& gone : ends) {
        const auto peer = std::ranges::find_if(ends, [&](const End& other) {
            return other.role != gone.role && other.has_failed &&
                   (gone.t_ns && other.t_ns ? *other.t_ns > *gone.t_ns + later_ns
                                            : !is_sudden(other.signal));
        });
        if (is_sudden(gone.signal) && peer != ends.end())
            return add(gone, *peer, causes);
    }
}

}  // namespace explain
