// rocecap predict: the user predicts each packet of a capture before it is shown.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

#include "capture/sink.hpp"
#include "render/timeline_text.hpp"
#include "tools/rocecap/command.hpp"
#include "tools/rocecap/input_lines.hpp"
#include "tools/rocecap/trace_arguments.hpp"
#include "trace/predict/answer.hpp"
#include "trace/predict/question_plan.hpp"
#include "trace/predict/replay.hpp"
#include "trace/predict/run.hpp"
#include "trace/predict/score.hpp"
#include "trace/timeline/finished_run.hpp"
#include "util/error.hpp"
#include "wire/text/summary.hpp"

namespace rocecap {
namespace {

struct PredictOptions {
    TraceArguments trace;
    std::uint64_t from = 0;  // 0: the first event of the link emulator
    bool all = false;
};

constexpr std::size_t widest = 100;
constexpr std::size_t number_width = 5;
constexpr std::size_t who_width = 15;

// Throws util::Error if there is nothing to predict.
predict::Run read_run(const TraceArguments& arguments, util::TextStyle style) {
    predict::RunReader reader({}, [style](const wire::Packet& packet, util::Bytes frame) {
        return wire::packet_summary(packet, style, frame);
    });
    const timeline::FinishedRun finished(files_of(arguments), &reader);
    finished.each_event(
        [&](const runlog::Event& event, std::int64_t t_ns) { reader.event(event, t_ns); });
    const std::string& name = finished.files().name;
    if (!finished.has_capture())
        throw util::Error(
            fmt::format("{} has no capture: record a run with 'lab/lab capture'.", name));
    check_trace(finished);
    predict::Run run = reader.take();
    run.capture_damage = finished.capture_damage();
    if (run.packets.empty())
        throw util::Error(fmt::format(
            "{} has nothing to predict: no packet of a reliable connection (RC).", name));
    return run;
}

class Dialogue {
  public:
    Dialogue(const PredictOptions& options, const Context& context)
        : style_(context.colour),
          run_(read_run(options.trace, style_)),
          columns_(context.columns == 0 ? widest : std::min(context.columns, widest)),
          text_(style_, run_.addresses, columns_ - std::min(columns_, number_width)),
          sink_(capture::Sink::standard_output()),
          replay_(run_),
          plan_(predict::plan_of(run_)),
          echoes_(isatty(STDIN_FILENO) == 0) {
        plan_.asks_all = options.all;
        if (options.from != 0)
            plan_.begin = first_from(options.from);
        sink_.give_up_on(lines_.stop());
    }

    void run() {
        sink_.append(fmt::format(
            "{} packets{}. A prediction is KIND and PSN, as in 'nak +4'; '?' prints help.\n\n",
            run_.packets.size(),
            run_.connections.size() == 1
                ? ""
                : fmt::format(" of {} connections", run_.connections.size())));
        bool goes_on = true;
        for (std::size_t i = 0; i < run_.packets.size() && goes_on; ++i) {
            show_events(i);
            const auto answer = is_asked(run_.packets, i, plan_) ? ask(i) : std::nullopt;
            goes_on = !has_ended_;
            if (goes_on)
                reveal(i, answer);
        }
        if (goes_on)
            show_events(run_.packets.size());
        sink_.append("\n" + score_.text() + "\n");
        if (run_.is_cut)
            sink_.append("the run has more packets than these\n");
        sink_.close();
        require_whole(run_.capture_damage);
    }

  private:
    std::size_t first_from(std::uint64_t frame) const {
        const auto first =
            std::ranges::lower_bound(run_.packets, frame, {}, &predict::ReliablePacket::frame);
        if (first == run_.packets.end())
            throw util::Error(
                fmt::format("no packet of a reliable connection has number {} or higher: the "
                            "last one is {}",
                            frame, run_.packets.back().frame));
        return static_cast<std::size_t>(first - run_.packets.begin());
    }

    void show_events(std::size_t before) {
        for (const std::string& event : replay_.see_events(before)) {
            const std::string text = std::string(number_width + 11, ' ') +
                                     util::padded("link", who_width) + "  " + event;
            sink_.append(
                style_(util::TextRole::Notice, util::wrapped(text, columns_, 2 * who_width)) +
                "\n");
        }
    }

    void reveal(std::size_t index, const std::optional<predict::Answer>& answer) {
        const predict::ReliablePacket& packet = run_.packets[index];
        sink_.append(fmt::format("{} {}",
                                 style_(util::TextRole::Dim, fmt::format("{:4}", packet.frame)),
                                 text_.line(run_.rows[index], run_.rows[index].text)));
        if (answer)
            judge(packet, *answer, replay_.ends(index));
        replay_.see(index);
    }

    void judge(const predict::ReliablePacket& packet, const predict::Answer& answer,
               const predict::ConnectionState& ends) {
        constexpr std::array roles{util::TextRole::Response, util::TextRole::Notice,
                                   util::TextRole::Bad};
        const predict::Grade grade = predict::grade(packet, answer);
        score_.add(grade);
        std::string why;
        if (grade != predict::Grade::Right)
            why = predict::reason(packet, answer, ends);
        if (!why.empty())
            why.insert(0, ": ");
        const std::string line =
            style_(roles.at(static_cast<std::size_t>(grade)), predict::name(grade)) + why;
        sink_.append(util::wrapped(line, columns_, 4) + "\n");
    }

    // nullopt if the packet is to be shown without a prediction, or at the end.
    std::optional<predict::Answer> ask(std::size_t index) {
        sink_.append(fmt::format("\n{} Which kind and PSN?\n", replay_.sender(index)));
        while (true) {
            const predict::Input input = read_answer();
            if (const auto* answer = std::get_if<predict::Answer>(&input))
                return *answer;
            if (const auto* mistake = std::get_if<predict::Mistake>(&input)) {
                sink_.append(mistake->text + "\n");
                continue;
            }
            switch (std::get<predict::Command>(input)) {
                case predict::Command::Help:
                    help(index);
                    break;
                case predict::Command::Reveal:
                    score_.add_unanswered();
                    return std::nullopt;
                case predict::Command::Quit:
                    has_ended_ = true;
                    return std::nullopt;
            }
        }
    }

    predict::Input read_answer() {
        sink_.append("> ");
        sink_.flush();
        const auto line = lines_.next();
        if (!line || echoes_)
            sink_.append(line.value_or("") + "\n");
        return line ? predict::parse(*line) : predict::Command::Quit;
    }

    void help(std::size_t index) {
        sink_.append(predict::help());
        sink_.append(replay_.hint(index) + "\n");
    }

    util::TextStyle style_;
    predict::Run run_;
    std::size_t columns_;
    render::TimelineText text_;
    InputLines lines_;
    capture::Sink sink_;
    predict::Replay replay_;
    predict::QuestionPlan plan_;
    bool echoes_;
    bool has_ended_ = false;
    predict::Score score_;
};

constexpr const char* predict_footer =
    R"(The quiz starts at the first packet that the link emulator acted on (link.jsonl), or at the first
packet; it prints the packets before that. A prediction is a KIND and a PSN, for example
nak +4. KIND is send, write, read, atomic, response, ack, nak or rnr; the PSN is the distance from
the requester's first one. '?' prints help, an empty line shows the packet, 'q' quits.)";

}  // namespace

void add_predict(CLI::App& app, Context& context) {
    const auto [command, options] = add_command<PredictOptions>(
        app, context, "predict", "Quiz: predict each packet before it is shown", predict_footer,
        [](const PredictOptions& chosen, const Context& with) {
            Dialogue(chosen, with).run();
            return static_cast<int>(fine);
        });
    add_trace_arguments(*command, options->trace);
    add_count_option(*command, "--from", options->from,
                     "Start asking at this packet of the capture");
    command->add_flag("--all", options->all, "Ask for each packet, not only at decisions");
}

}  // namespace rocecap
