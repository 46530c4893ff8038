#include "render/chunk_table.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include <fmt/format.h>

namespace render {
namespace {

std::string line(const timeline::WorkRequest& request) {
    const logged::Chunk& chunk = *request.chunk;
    std::string text =
        fmt::format("  step {}  rank {} → {}  chunk {}, {:<11}  {} B", chunk.step(), chunk.rank,
                    chunk.to(), chunk.number(), chunk.contents(), request.length);
    if (request.psn_first)
        text += fmt::format("  PSN {:#08x} to {:#08x}", request.psn_first->value(),
                            (*request.psn_first + (request.packets - 1)).value());
    if (request.completed_ns)
        text += fmt::format("  done after {:.1f} ms",
                            static_cast<double>(*request.completed_ns - request.posted_ns) / 1e6);
    return text + "\n";
}

}  // namespace

std::string chunk_table(const timeline::Matcher& run) {
    auto requests = run.work_requests();
    std::erase_if(requests, [](const auto* request) { return !request->chunk; });
    std::ranges::stable_sort(requests, {}, [](const timeline::WorkRequest* request) {
        const logged::Chunk& chunk = *request->chunk;
        return std::tuple(chunk.all_reduce, chunk.sent_before, chunk.rank);
    });
    std::string text;
    std::optional<std::uint32_t> last;
    for (const timeline::WorkRequest* request : requests) {
        if (last != request->chunk->all_reduce)
            text += fmt::format("{}all_reduce {}\n", last ? "" : "\n", request->chunk->all_reduce);
        last = request->chunk->all_reduce;
        text += line(*request);
    }
    return text;
}

}  // namespace render
