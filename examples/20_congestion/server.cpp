// Step 20, the passive side: lends memory to WRITEs that come through a bottleneck.
#include "examples/common/chunks.hpp"
#include "examples/common/link_end.hpp"
#include "words.hpp"

namespace {

void serve(const common::LinkSide& side) {
    while (const auto memory = step20::Ask::receive(side.channel, {side.stop, std::nullopt}).memory)
        common::lend(side, memory, 0x5e2000);
    side.meet();
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line("server",
                                     "Step 20, server: lends memory behind a bottleneck.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        common::serve_links(options.address(), log, stop, serve);
        return 0;
    });
}
