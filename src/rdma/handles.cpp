#include "rdma/handles.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/resource.h>

#include <fmt/format.h>

#include "util/error.hpp"

namespace rdma {

void report_failed_destroy(const char* verb, int rc) noexcept {
    std::fprintf(stderr, "%s failed: %s\n", verb, std::strerror(rc > 0 ? rc : errno));
}

int dealloc_mw(ibv_mw* mw) noexcept {
    return ibv_dealloc_mw(mw);
}

int close_xrcd(ibv_xrcd* xrcd) noexcept {
    return ibv_close_xrcd(xrcd);
}

Mr register_memory(ibv_pd* pd, std::span<std::byte> memory, int access) {
    Mr mr{ibv_reg_mr(pd, memory.data(), memory.size(), access)};
    if (mr)
        return mr;
    const int error = errno;
    std::string text =
        fmt::format("ibv_reg_mr({} bytes) failed: {}.", memory.size(), std::strerror(error));
    rlimit limit{};
    if (error == ENOMEM && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY)
        text += fmt::format(" The locked-memory limit is {} KiB: raise it with ulimit -l.",
                            limit.rlim_cur / 1024);
    throw util::Error(text);
}

}  // namespace rdma
