// Processor time of a process, and of the whole machine: what Soft-RoCE does runs in the kernel's
// own time, which is on no program's account.
#pragma once

#include <chrono>

namespace util {

struct CpuUsage {
    using Time = std::chrono::microseconds;

    /// Of this process, all its threads: in the program, and in the kernel on its behalf
    /// (getrusage(2)).
    Time user{};
    Time system{};
    /// Of the machine, whoever it worked for, in ticks of 10 ms (proc(5), /proc/stat): programs,
    /// the kernel (its calls and its own threads), interrupts and what they put off (softirq).
    Time machine_user{};
    Time machine_kernel{};
    Time machine_interrupts{};

    /// Throws util::Error, std::system_error.
    static CpuUsage now();

    Time process() const { return user + system; }
    Time machine() const { return machine_user + machine_kernel + machine_interrupts; }

    /// What was used in between.
    CpuUsage operator-(const CpuUsage& before) const {
        return {user - before.user, system - before.system, machine_user - before.machine_user,
                machine_kernel - before.machine_kernel,
                machine_interrupts - before.machine_interrupts};
    }
};

}  // namespace util
