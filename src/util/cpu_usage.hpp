// CPU time of a process and of the whole machine: Soft-RoCE runs in kernel time that is not charged
// to any program.
#pragma once

#include <chrono>

namespace util {

struct CpuUsage {
    using Time = std::chrono::microseconds;

    /// Of this process, all threads: in user space, and in the kernel on its behalf (getrusage(2)).
    Time user{};
    Time system{};
    /// Of the whole machine, in ticks of 10 ms (proc(5), /proc/stat): programs, the kernel (system
    /// calls and kernel threads), interrupts and softirqs.
    Time machine_user{};
    Time machine_kernel{};
    Time machine_interrupts{};

    /// Throws util::Error, std::system_error.
    static CpuUsage now();

    Time process() const { return user + system; }
    Time machine() const { return machine_user + machine_kernel + machine_interrupts; }

    /// Returns the usage since `before`.
    CpuUsage operator-(const CpuUsage& before) const {
        return {user - before.user, system - before.system, machine_user - before.machine_user,
                machine_kernel - before.machine_kernel,
                machine_interrupts - before.machine_interrupts};
    }
};

}  // namespace util
