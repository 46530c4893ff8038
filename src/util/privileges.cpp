#include "util/privileges.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "util/check.hpp"
#include "util/error.hpp"
#include "util/leak_sanitizer.hpp"
#include "util/number.hpp"

namespace util {
namespace {

constexpr unsigned overflow_id = 65534;  // "nobody" on most systems: user_namespaces(7)

std::optional<User> named(const std::string& name) {
    const passwd* entry = getpwnam(name.c_str());
    if (entry == nullptr)
        return std::nullopt;
    return User{name, entry->pw_uid, entry->pw_gid};
}

std::optional<unsigned> number_in(const char* variable) {
    const char* text = std::getenv(variable);
    const auto number = text == nullptr ? std::nullopt : number_of<unsigned>(text);
    // 0: root called sudo. All ones: setresuid(2) takes it as "unchanged".
    if (number && (*number == 0 || *number == UINT32_MAX))
        return std::nullopt;
    return number;
}

std::optional<User> sudo_caller() {
    const auto uid = number_in("SUDO_UID");
    const auto gid = number_in("SUDO_GID");
    if (!uid || !gid)
        return std::nullopt;
    const passwd* entry = getpwuid(*uid);
    return User{entry != nullptr ? entry->pw_name : fmt::format("user {}", *uid), *uid, *gid};
}

// A line of the map: first ID inside, first ID outside, count.
bool is_mapped(const char* map, std::uint64_t id) {
    std::ifstream file(map);
    std::uint64_t inside = 0, outside = 0, count = 0;
    while (file >> inside >> outside >> count)
        if (id >= inside && id - inside < count)
            return true;
    return false;
}

bool can_become(const User& user) {
    std::string setgroups;
    std::getline(std::ifstream("/proc/self/setgroups"), setgroups);
    return setgroups != "deny" && is_mapped("/proc/self/uid_map", user.uid) &&
           is_mapped("/proc/self/gid_map", user.gid);
}

// Clears the capabilities that a program started by this one could gain. Needs CAP_SETPCAP, which
// root has until it becomes another user. Without it the set stays, and only PR_SET_NO_NEW_PRIVS
// protects.
void empty_bounding_set() {
    for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0;
         ++capability)
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno != EPERM)
            throw_system_error(errno, "prctl(PR_CAPBSET_DROP)");
}

void drop_capabilities() {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
    check_errno(static_cast<int>(syscall(SYS_capset, &header, none.data())), "capset");
    check_errno(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "prctl(PR_CAP_AMBIENT)");
}

}  // namespace

PrivilegeDrop plan_privilege_drop(const std::optional<std::string>& chosen) {
    if (chosen == "root")
        return {.wanted = false, .user = {}};
    if (chosen) {
        auto user = named(*chosen);
        if (!user)
            throw Error(fmt::format(
                "there is no user '{}' here: choose a user from /etc/passwd, or root.", *chosen));
        if (user->uid == geteuid())
            return {};
        if (geteuid() != 0)
            throw Error(fmt::format("only root can switch to user {}: run the command with sudo.",
                                    *chosen));
        return {.user = std::move(user)};
    }
    if (geteuid() != 0)
        return {};
    auto user = sudo_caller();
    if (!user)
        user = named("nobody");
    if (!user)
        user = User{"nobody", overflow_id, overflow_id};
    if (!can_become(*user))
        return {};
    return {.user = std::move(user)};
}

void drop_privileges(const PrivilegeDrop& drop) {
    if (!drop.wanted)
        return;
    empty_bounding_set();
    if (const auto& user = drop.user) {
        CHECK_ERRNO(setgroups(0, nullptr));
        CHECK_ERRNO(setresgid(user->gid, user->gid, user->gid));
        CHECK_ERRNO(setresuid(user->uid, user->uid, user->uid));
    }
    drop_capabilities();
    check_errno(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl(PR_SET_NO_NEW_PRIVS)");
#ifdef WITH_LEAK_SANITIZER
    // The kernel forbids tracing after a change of user.
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
#endif
}

}  // namespace util
