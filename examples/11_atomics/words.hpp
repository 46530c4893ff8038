// What both programs of step 11 agree on: the memory that all clients share, and by which of two
// keys to it a client is let in.
#pragma once

#include <cstdint>
#include <string>

#include "util/check.hpp"
#include "util/error.hpp"
#include "verbs/describe.hpp"

namespace step11 {

/// An atomic works on 8 bytes, at an address that 8 divides: there is no other size.
struct Words {
    alignas(8) std::uint64_t counter = 0;
    std::uint64_t maximum = 0;
};

/// The same memory, lent twice. A client names one of them in its connection request.
enum class Key : std::uint8_t { WithAtomics, WithoutAtomics };

/// Asks the device what it can. Throws util::Error where it has no atomics.
inline ibv_device_attr ask_device(ibv_context* context) {
    ibv_device_attr attributes{};
    util::check_rc(ibv_query_device(context, &attributes), "ibv_query_device");
    if (attributes.atomic_cap == IBV_ATOMIC_NONE)
        throw util::Error(std::string(ibv_get_device_name(context->device)) +
                          " has no atomics (atomic_cap is NONE): this step needs a device that "
                          "has, on both ends. Soft-RoCE is one.");
    return attributes;
}

}  // namespace step11
