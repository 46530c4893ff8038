// Drops root privileges once everything that needs them is open, so that a malformed packet or a
// file name has only an ordinary user's rights.
// Source: credentials(7), capabilities(7), user_namespaces(7).
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>

namespace util {

struct User {
    std::string name;  // or the number if the user has no name
    uid_t uid = 0;
    gid_t gid = 0;
};

struct PrivilegeDrop {
    bool wanted = true;
    /// The new user; nullopt: the process keeps its user and only drops capabilities.
    std::optional<User> user;
};

/// If the process runs as root, the new user is `chosen` ("root": keep privileges), otherwise the
/// caller of sudo, otherwise nobody (65534 if there is no such user). There is no new user in a
/// user namespace without it, or if the process is not root. Throws util::Error if `chosen` does
/// not exist or needs root.
PrivilegeDrop plan_privilege_drop(const std::optional<std::string>& chosen);

/// Permanently drops the user, supplementary groups and all capabilities, and the right of started
/// programs to gain any (PR_SET_NO_NEW_PRIVS, and an empty bounding set if CAP_SETPCAP allows it).
/// For a process with one thread. Throws std::system_error.
void drop_privileges(const PrivilegeDrop& drop);

}  // namespace util
