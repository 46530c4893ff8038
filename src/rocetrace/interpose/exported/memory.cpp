// The functions that libibverbs exports for protection domains and memory regions, in the order of
// <infiniband/verbs.h>.
#include <infiniband/verbs.h>

#include "rocetrace/interpose/real.hpp"
#include "rocetrace/interpose/sink.hpp"

// They are macros around the functions.
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

namespace interpose {
namespace {

EventWriter<"pd"> event_of(const ibv_pd& pd) {
    return EventWriter<"pd">().add(key::handle, pd.handle);
}

// libibverbs' functions that register memory call each other through the dynamic linker: only the
// program's own call is logged.
[[gnu::tls_model("initial-exec")]] thread_local unsigned registrations = 0;

template <typename Call>
ibv_mr* registered(Call call) {
    ++registrations;
    ibv_mr* mr = call();
    --registrations;
    return mr;
}

ibv_mr* log_mr(OpenCall& call, ibv_mr* mr, const void* address, std::size_t length,
               std::uint64_t iova, unsigned access) {
    if (registrations != 0)
        return mr;
    const int error = errno;
    EventWriter<"mr"> event;
    event.add(key::va, iova).add(key::len, length);
    if (mr != nullptr)
        event.add(key::lkey, mr->lkey).add(key::rkey, mr->rkey);
    event.add(key::access, access);
    if (address != nullptr && address_of(address) != iova)
        event.add(key::memory, address_of(address));
    if (mr != nullptr)
        event.add(key::handle, mr->handle).add(key::pd, mr->pd->handle);
    if (mr != nullptr)
        call.log_made(event);
    else
        call.log_failure(error, &event);
    errno = error;
    return mr;
}

}  // namespace

#pragma GCC visibility push(default)

extern "C" {

ibv_pd* ibv_alloc_pd(ibv_context* context) {
    REAL(verbs, ibv_alloc_pd, "IBVERBS_1.1");
    return made(call, real(context), event_of);
}

ibv_pd* ibv_import_pd(ibv_context* context, std::uint32_t handle) {
    REAL(verbs, ibv_import_pd, "IBVERBS_1.10");
    return made(call, real(context, handle), event_of);
}

int ibv_dealloc_pd(ibv_pd* pd) {
    REAL(verbs, ibv_dealloc_pd, "IBVERBS_1.1");
    const auto event = destroyed(call, Category::pd, "pd", key::handle, pd->handle);
    return done(call, real(pd), event);
}

ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, std::size_t length, int access) {
    REAL(verbs, ibv_reg_mr, "IBVERBS_1.1");
    return log_mr(call, registered([&] { return real(pd, address, length, access); }), address,
                  length, address_of(address), static_cast<unsigned>(access));
}

ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                        int access) {
    REAL(verbs, ibv_reg_mr_iova, "IBVERBS_1.7");
    return log_mr(call, registered([&] { return real(pd, address, length, iova, access); }),
                  address, length, iova, static_cast<unsigned>(access));
}

ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                         unsigned access) {
    REAL(verbs, ibv_reg_mr_iova2, "IBVERBS_1.8");
    return log_mr(call, registered([&] { return real(pd, address, length, iova, access); }),
                  address, length, iova, access);
}

ibv_mr* ibv_reg_dmabuf_mr(ibv_pd* pd, std::uint64_t offset, std::size_t length, std::uint64_t iova,
                          int fd, int access) {
    REAL(verbs, ibv_reg_dmabuf_mr, "IBVERBS_1.12");
    return log_mr(call, registered([&] { return real(pd, offset, length, iova, fd, access); }),
                  nullptr, length, iova, static_cast<unsigned>(access));
}

ibv_mr* ibv_import_mr(ibv_pd* pd, std::uint32_t handle) {
    REAL(verbs, ibv_import_mr, "IBVERBS_1.10");
    ibv_mr* mr = registered([&] { return real(pd, handle); });
    return log_mr(call, mr, nullptr, mr == nullptr ? 0 : mr->length,
                  mr == nullptr ? 0 : address_of(mr->addr), 0);
}

int ibv_rereg_mr(ibv_mr* mr, int flags, ibv_pd* pd, void* address, std::size_t length, int access) {
    REAL(verbs, ibv_rereg_mr, "IBVERBS_1.1");
    const int rc = real(mr, flags, pd, address, length, access);
    EventWriter<"mr"> event;
    event.add(key::va, address_of(mr->addr))
        .add(key::len, mr->length)
        .add(key::lkey, mr->lkey)
        .add(key::rkey, mr->rkey);
    if ((flags & IBV_REREG_MR_CHANGE_ACCESS) != 0)
        event.add(key::access, access);
    return done(call, rc, event.add(key::handle, mr->handle).add(key::pd, mr->pd->handle));
}

int ibv_dereg_mr(ibv_mr* mr) {
    REAL(verbs, ibv_dereg_mr, "IBVERBS_1.1");
    auto event = destroyed(call, Category::mr, "mr", key::va, address_of(mr->addr));
    event.add(key::len, mr->length).add(key::lkey, mr->lkey).add(key::rkey, mr->rkey);
    return done(call, real(mr), event);
}

}  // extern "C"

#pragma GCC visibility pop

}  // namespace interpose
