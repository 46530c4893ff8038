// Restricts a program before it reads untrusted bytes, so that a flaw cannot start programs or use
// the network.
// Source: seccomp(2), libseccomp's seccomp_rule_add(3).
#pragma once

namespace util {

/// Permanent: from now on this process gets EPERM if it starts a program or another process, opens
/// or connects a socket, traces a process or changes users, mounts or the kernel. Files and open
/// descriptors stay usable. Without seccomp in the kernel, nothing is restricted.
void enter_sandbox();

}  // namespace util
