#include "rocetrace/interpose/share.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rocetrace/interpose/clock.hpp"
#include "rocetrace/interpose/raw.hpp"

namespace interpose {
namespace {

using tracelog::RegionHeader;

constexpr std::uint32_t most_rings = 512;

void complain(const char* what, const char* why) {
    std::array<char, 512> text{};
    std::size_t size = 0;
    const auto put = [&](const char* part) {
        for (; *part != '\0' && size < text.size() - 1; ++part)
            text[size++] = *part;
    };
    put("rocetrace: this process is not traced: ");
    put(what);
    put(": ");
    put(why);
    put(".\n");
    syscall(SYS_write, STDERR_FILENO, text.data(), size);
}

bool send_descriptor(int socket, int fd) {
    char byte = 'r';
    iovec data{&byte, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof fd)> control{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    return syscall(SYS_sendmsg, socket, &message, MSG_NOSIGNAL) == 1;
}

bool hand_over(const sockaddr_un& address, int fd) {
    const long socket = syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (socket < 0)
        return false;
    const bool sent = syscall(SYS_connect, socket, &address, sizeof address) == 0 &&
                      send_descriptor(static_cast<int>(socket), fd);
    const int error = errno;
    raw::close(static_cast<int>(socket));
    errno = error;
    return sent;
}

// Copies the command line of this process, which may end before rocetrace can read it in /proc.
template <std::size_t size>
void copy_command_line(char (&command)[size]) {
    const long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    syscall(SYS_read, fd, command, size - 1);
    raw::close(static_cast<int>(fd));
}

std::size_t bytes_of(const Layout& layout) {
    return RegionHeader::bytes + layout.rings * layout.ring_bytes;
}

// Limits of the process also hold for this memory: a larger file would be SIGXFSZ, and address space
// would be missing in the program.
Layout layout(std::uint64_t capacity) {
    constexpr std::uint64_t least = 1ULL << 16U;
    rlimit file{};
    rlimit space{};
    if (syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, nullptr, &file) != 0 ||
        syscall(SYS_prlimit64, 0, RLIMIT_AS, nullptr, &space) != 0)
        return {};
    const std::uint64_t most = std::min<std::uint64_t>(file.rlim_cur, space.rlim_cur / 8);
    while (capacity > least &&
           bytes_of({capacity + tracelog::ring_header_bytes, most_rings}) > most)
        capacity /= 2;
    const std::uint64_t ring_bytes = capacity + tracelog::ring_header_bytes;
    const std::uint64_t room = most < RegionHeader::bytes ? 0 : most - RegionHeader::bytes;
    return {ring_bytes,
            static_cast<std::uint32_t>(std::min<std::uint64_t>(most_rings, room / ring_bytes))};
}

}  // namespace

// Reserves all memory at once, so that no descriptor has to stay open in the program, which could
// close it and reuse its number.
Shared share_region(const sockaddr_un& address, std::uint64_t capacity) {
    const Layout size = layout(capacity);
    const std::size_t bytes = bytes_of(size);
    if (size.rings == 0) {
        complain("its memory", "a limit of the process is too low (ulimit -f, ulimit -v)");
        return {};
    }
    const long fd = syscall(SYS_memfd_create, "rocetrace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) {
        complain("memfd_create", std::strerror(errno));
        return {};
    }
    void* memory = nullptr;
    // rocetrace relies on the size.
    if (syscall(SYS_ftruncate, fd, bytes) == 0 &&
        syscall(SYS_fcntl, fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0)
        memory = raw::map(bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, static_cast<int>(fd));
    if (memory == nullptr ||
        syscall(SYS_mprotect, memory, RegionHeader::bytes, PROT_READ | PROT_WRITE) != 0) {
        complain("mmap", std::strerror(errno));
        raw::close(static_cast<int>(fd));
        return {};
    }
    syscall(SYS_madvise, memory, bytes, MADV_DONTDUMP);  // a core has only the program's memory
    auto* region = new (memory) RegionHeader{};
    region->ring_bytes = size.ring_bytes;
    region->rings = size.rings;
    region->pid = static_cast<std::uint32_t>(getpid());
    region->t_ns = now();
    prctl(PR_GET_NAME, region->comm);
    copy_command_line(region->command);
    region->magic = RegionHeader::expected_magic;
    const bool handed = hand_over(address, static_cast<int>(fd));
    if (!handed)
        complain(address.sun_path, std::strerror(errno));
    raw::close(static_cast<int>(fd));
    if (handed)
        return {region, size};
    raw::unmap(memory, bytes);
    return {};
}

}  // namespace interpose
