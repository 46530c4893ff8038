#include "rdma/counters.hpp"

#include <fstream>
#include <system_error>

namespace rdma {

Counters read_counters(const std::string& device, unsigned port,
                       const std::filesystem::path& root) {
    Counters counters;
    const auto folder = root / device / "ports" / std::to_string(port) / "hw_counters";
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
        // The time for which the kernel returns cached values: a setting, not a counter.
        if (entry.path().filename() == "lifespan")
            continue;
        std::uint64_t value = 0;
        if (std::ifstream(entry.path()) >> value)
            counters[entry.path().filename()] = value;
    }
    return counters;
}

std::uint64_t increase(const Counters& before, const Counters& after, const std::string& name) {
    const auto begin = before.find(name);
    const auto end = after.find(name);
    if (begin == before.end() || end == after.end())
        return 0;
    return end->second < begin->second ? end->second : end->second - begin->second;
}

}  // namespace rdma
