#include "render/page/quiz.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/predict/question_plan.hpp"
#include "trace/predict/replay.hpp"
#include "trace/predict/verdicts.hpp"

namespace page {
namespace {

// Sentences without duplicates.
class Texts {
  public:
    int number_of(const std::string& text) {
        if (text.empty())
            return -1;
        const auto [entry, is_new] = numbers_.try_emplace(text, static_cast<int>(all_.size()));
        if (is_new)
            all_.push_back(text);
        return entry->second;
    }
    const std::vector<std::string>& all() const { return all_; }

  private:
    std::map<std::string, int> numbers_;
    std::vector<std::string> all_;
};

std::size_t number_of(predict::Kind kind) {
    const auto* const found = std::ranges::find(predict::answer_kinds, kind);
    return static_cast<std::size_t>(found - predict::answer_kinds.begin());
}

class Quiz {
  public:
    Quiz(const predict::Run& run, const QuizLimits& limits)
        : run_(run), limits_(limits), replay_(run) {}

    util::Json json() {
        const predict::QuestionPlan plan = predict::plan_of(run_);
        const std::size_t packets = run_.packets.size();
        const std::size_t first = plan.begin - std::min(plan.begin, limits_.context);
        std::size_t index = 0;
        for (; index < packets; ++index) {
            const bool is_asked = predict::is_asked(run_.packets, index, plan);
            if (steps_.size() == limits_.steps || (is_asked && questions_ == limits_.questions))
                break;
            util::Json step = next(index, is_asked);
            if (index >= first)
                steps_.push_back(std::move(step));
        }
        if (questions_ == 0)
            return nullptr;
        const bool goes_on = index < packets || run_.is_cut;
        if (!goes_on)
            add_last_events();
        util::Json kinds = util::Json::array();
        for (const predict::Kind kind : predict::answer_kinds)
            kinds.push_back(predict::name(kind));
        return {{"kinds", std::move(kinds)},
                {"texts", texts_.all()},
                {"before", first},
                {"goes_on", goes_on},
                {"is_one", run_.connections.size() == 1},
                {"steps", std::move(steps_)}};
    }

  private:
    util::Json next(std::size_t index, bool is_asked) {
        const predict::ReliablePacket& packet = run_.packets[index];
        util::Json step{{"frame", packet.frame}, {"psn", packet.offset}};
        if (auto events = replay_.see_events(index); !events.empty())
            step["events"] = std::move(events);
        if (is_asked) {
            ++questions_;
            step["ask"] = ask(index);
        }
        replay_.see(index);
        return step;
    }

    util::Json ask(std::size_t index) {
        const predict::Verdicts verdicts =
            predict::verdicts_on(run_.packets[index], replay_.ends(index));
        util::Json right = util::Json::array();
        for (const predict::Kind kind : verdicts.right)
            right.push_back(number_of(kind));
        util::Json why = util::Json::array();
        for (const auto& [lower, other] : verdicts.reasons)
            why.push_back({texts_.number_of(lower), texts_.number_of(other)});
        return {{"sender", texts_.number_of(replay_.sender(index))},
                {"hint", texts_.number_of(replay_.hint(index))},
                {"right", std::move(right)},
                {"why", std::move(why)}};
    }

    void add_last_events() {
        if (auto events = replay_.see_events(run_.packets.size()); !events.empty())
            steps_.push_back({{"events", std::move(events)}});
    }

    const predict::Run& run_;
    const QuizLimits& limits_;
    predict::Replay replay_;
    Texts texts_;
    util::Json steps_ = util::Json::array();
    std::size_t questions_ = 0;
};

}  // namespace

util::Json quiz_json(const predict::Run& run, const QuizLimits& limits) {
    return Quiz(run, limits).json();
}

}  // namespace page
