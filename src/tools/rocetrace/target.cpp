#include "tools/rocetrace/target.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <fmt/format.h>

namespace rocetrace {
namespace {

bool is_program(const std::string& path) {
    struct stat facts {};
    return stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
           access(path.c_str(), X_OK) == 0;
}

// The kernel starts such a program in a mode in which the dynamic linker ignores LD_PRELOAD.
bool gains_rights(const std::string& path) {
    struct stat facts {};
    if (stat(path.c_str(), &facts) != 0)
        return false;
    const bool set_uid = (facts.st_mode & S_ISUID) != 0 && facts.st_uid != getuid();
    const bool set_gid = (facts.st_mode & S_ISGID) != 0 && facts.st_gid != getgid();
    const bool has_capabilities =
        getuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
    return set_uid || set_gid || has_capabilities;
}

// An ELF program without an interpreter has no dynamic linker.
bool is_static(std::ifstream& file, const Elf64_Ehdr& header) {
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment{};
        file.seekg(
            static_cast<std::streamoff>(header.e_phoff + std::uint64_t{i} * header.e_phentsize));
        if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment))
            return false;
        if (segment.p_type == PT_INTERP)
            return false;
    }
    return true;
}

}  // namespace

std::string find_program(const std::string& name) {
    if (name.find('/') != std::string::npos)
        return is_program(name) ? name : "";
    const char* path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "/bin:/usr/bin" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
        if (is_program(candidate))
            return candidate;
    }
    return {};
}

std::optional<std::string> why_invisible(const std::string& path) {
    if (gains_rights(path))
        return fmt::format(
            "{} is set-user-ID, set-group-ID or has capabilities, so the dynamic linker does not "
            "load librocetrace.so into it: run it as the user whose privileges it gets",
            path);
    std::ifstream file(path, std::ios::binary);
    Elf64_Ehdr header{};
    if (!file.read(reinterpret_cast<char*>(&header), sizeof header) ||
        std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return std::nullopt;  // a script: its interpreter is traced
    if (header.e_ident[EI_CLASS] != ELFCLASS64)
        return fmt::format("{} is not a 64-bit program, and librocetrace.so is a 64-bit library",
                           path);
    if (is_static(file, header))
        return fmt::format("{} is linked statically, so librocetrace.so cannot be loaded into it",
                           path);
    return std::nullopt;
}

}  // namespace rocetrace
