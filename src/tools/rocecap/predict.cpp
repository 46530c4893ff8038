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
#include "tools/rocecap/predict_run.hpp"
#include "trace/predict/answer.hpp"
#include "trace/predict/question_plan.hpp"
#include "trace/predict/score.hpp"
#include "util/error.hpp"

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

class Dialogue {
  public:
    Dialogue(const PredictOptions& options, const Context& context)
        : style_(context.colour),
          run_(read_predicted_run(options.trace, style_)),
          columns_(context.columns == 0 ? widest : std::min(context.columns, widest)),
          text_(style_, run_.addresses, columns_ - std::min(columns_, number_width)),
          sink_(capture::Sink::standard_output()),
          ends_(run_.connections.size()),
          echoes_(isatty(STDIN_FILENO) == 0) {
        for (const auto& [before, event] : run_.events)
            course_.events.insert(before);
        course_.asks_all = options.all;
        course_.begin = begin(options.from);
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
            const auto answer = is_asked(run_.packets, i, course_) ? ask(i) : std::nullopt;
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
    }

  private:
    std::size_t begin(std::uint64_t from) const {
        const std::size_t packets = run_.packets.size();
        if (from != 0) {
            const auto first =
                std::ranges::lower_bound(run_.packets, from, {}, &predict::Packet::frame);
            if (first == run_.packets.end())
                throw util::Error(
                    fmt::format("no packet of a reliable connection has number {} or higher: the "
                                "last one is {}",
                                from, run_.packets.back().frame));
            return static_cast<std::size_t>(first - run_.packets.begin());
        }
        const bool has_event = !run_.events.empty() && run_.events.begin()->first < packets;
        return has_event ? run_.events.begin()->first : 0;
    }

    void show_events(std::size_t before) {
        const auto [first, last] = run_.events.equal_range(before);
        for (auto event = first; event != last; ++event) {
            const PredictedRun::LinkEvent& one = event->second;
            const std::string text = std::string(number_width + 11, ' ') +
                                     util::padded("link", who_width) + "  " + one.text;
            sink_.append(
                style_(util::TextRole::Notice, util::wrapped(text, columns_, 2 * who_width)) +
                "\n");
            predict::ConnectionState& ends = ends_[one.place.connection];
            if (one.is_request && one.is_missing)
                ends.see_taken(one.place.offset);
            if (one.is_request && !one.is_gone)
                ends.see_held(one.place.offset);
        }
    }

    void reveal(std::size_t index, const std::optional<predict::Answer>& answer) {
        const predict::Packet& packet = run_.packets[index];
        sink_.append(fmt::format("{} {}",
                                 style_(util::TextRole::Dim, fmt::format("{:4}", packet.frame)),
                                 text_.line(run_.rows[index], run_.rows[index].text)));
        predict::ConnectionState& ends = ends_[packet.connection];
        if (answer)
            judge(packet, *answer, ends);
        ends.see(packet);
    }

    void judge(const predict::Packet& packet, const predict::Answer& answer,
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
        const predict::Packet& packet = run_.packets[index];
        const std::string who = predict::begun(run_.name_of(packet.source));
        const std::string to =
            run_.connections.size() == 1 ? "" : fmt::format(", to QP {:#08x}", packet.dest_qpn);
        sink_.append(fmt::format("\n{} sends the next packet{}. Which kind and PSN?\n", who, to));
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
                    help(packet);
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

    void help(const predict::Packet& packet) {
        const predict::Connection& connection = run_.connections[packet.connection];
        sink_.append(predict::help());
        sink_.append(predict::hint(ends_[packet.connection], run_.name_of(connection.requester),
                                   run_.name_of(connection.responder)) +
                     "\n");
    }

    util::TextStyle style_;
    PredictedRun run_;
    std::size_t columns_;
    render::TimelineText text_;
    InputLines lines_;
    capture::Sink sink_;
    std::vector<predict::ConnectionState> ends_;
    predict::QuestionPlan course_;
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
            return static_cast<int>(all_decoded);
        });
    add_trace_arguments(*command, options->trace);
    add_count_option(*command, "--from", options->from,
                     "Start asking at this packet of the capture");
    command->add_flag("--all", options->all, "Ask for each packet, not only at decisions");
}

}  // namespace rocecap
