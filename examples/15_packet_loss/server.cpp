// Step 15, the passive side: lends memory to WRITEs that are lost on their way, and falls silent.
#include "examples/common/link_end.hpp"
#include "silence.hpp"

namespace {

using step15::Ask;
using step15::Task;

void serve(const common::LinkSide& side) {
    while (true) {
        const Ask ask = Ask::receive(side.channel, {side.stop, std::nullopt});
        switch (ask.task) {
            case Task::Lend:
                common::lend(side, ask.memory, 0x5e1500);
                break;
            case Task::FallSilent:
                step15::fall_silent(side);
                break;
            case Task::Done:
                return side.meet();
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    common::CommandLine command_line(
        "server", "Step 15, server: lends memory over a way that loses packets, and falls silent.");
    common::ServerOptions options;
    command_line.add(options);
    return command_line.main(argc, argv, [&](runlog::Log& log, util::StopSignal& stop) {
        common::serve_links(options.address(), log, stop, serve);
        return 0;
    });
}
