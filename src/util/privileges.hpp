// Root's rights are given up once what needs them is open: a damaged packet, or a file's name, then
// has no more power than an ordinary user.
// Source: credentials(7), capabilities(7), user_namespaces(7).
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>

namespace util {

struct User {
    std::string name;  // or the number, where it has none
    uid_t uid = 0;
    gid_t gid = 0;
};

struct PrivilegeDrop {
    bool wanted = true;
    /// Whom this process becomes; nullopt: it stays who it is, without capabilities.
    std::optional<User> user;
};

/// Of a process that runs as root: `chosen` ("root": nothing is given up), otherwise who called
/// sudo, otherwise nobody (65534 where there is no such user). In a user namespace that does not
/// have this user, and of a process that is not root: nobody else. Throws util::Error where
/// `chosen` does not exist or takes root.
PrivilegeDrop plan_privilege_drop(const std::optional<std::string>& chosen);

/// For good: the user, with no supplementary groups, every capability, and that a program which is
/// started gains any (PR_SET_NO_NEW_PRIVS, and where CAP_SETPCAP allows it an empty bounding set).
/// For a process with one thread. Throws std::system_error.
void drop_privileges(const PrivilegeDrop& drop);

}  // namespace util
