// What a program gives up before it reads bytes that others wrote: a flaw in reading them then starts no program and reaches no
// network.
// Source: seccomp(2), libseccomp's seccomp_rule_add(3).
#pragma once

namespace util {

/// For good: from now on this process gets EPERM where it starts a program or another process, opens
/// or connects a socket, traces a process or changes users, mounts or the kernel. Files, and what is
/// open, stay usable. Where the kernel has no seccomp, nothing is given up.
void enter_sandbox();

}  // namespace util
