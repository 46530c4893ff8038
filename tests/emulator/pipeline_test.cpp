// Compares the stage with a model that is written differently: it takes all frames of a run through
// one rule, then the outcome through the next.
#include <algorithm>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "emulator/frames.hpp"
#include "emulator/stage.hpp"

namespace pipeline_test {

using namespace std::chrono_literals;
using namespace emulator;
using namespace emulator_test;

using Random = std::mt19937_64;

std::uint64_t up_to(Random& random, std::uint64_t most) {
    return 1 + random() % most;
}

// A time that no sum of other ones equals, in practice.
Nanoseconds some_time(Random& random, Nanoseconds most) {
    return Nanoseconds(up_to(random, static_cast<std::uint64_t>(most.count())));
}

struct Send {
    Nanoseconds at{};
    Host from = 0;
};

// What leaves the stage, and what the rules did. A frame is known by its PSN.
struct Outcome {
    using Left = std::tuple<Nanoseconds, std::uint32_t, bool>;           // marked
    using Done = std::tuple<Nanoseconds, std::uint32_t, std::uint32_t>;  // rule
    std::vector<Left> left;
    std::vector<Done> done;
    bool operator==(const Outcome&) const = default;
    void sort() {
        std::ranges::sort(left);
        std::ranges::sort(done);
    }
};

class Model {
  public:
    Model(const std::vector<Rule>& rules, const std::vector<Send>& sends)
        : rules_(rules), sends_(sends) {}

    Outcome run() {
        // A cut changes what follows it, among that further cuts: learn one after the other.
        while (true) {
            Outcome outcome = with_known_cuts();
            std::ranges::sort(begins_);
            if (begins_.size() == cuts_.size())
                return outcome;
            cuts_.push_back(begins_.at(cuts_.size()));
        }
    }

  private:
    struct Item {
        Nanoseconds at{};
        std::uint32_t psn = 0;
        bool marked = false;
        std::uint32_t left = 0;  // for reorder
    };
    using Items = std::vector<Item>;

    Outcome with_known_cuts() {
        outcome_ = {};
        begins_.clear();
        Items items;
        for (std::uint32_t psn = 0; psn < sends_.size(); ++psn)
            if (!is_cut(sends_[psn].at))
                items.push_back({sends_[psn].at, psn});
            else
                outcome_.done.emplace_back(sends_[psn].at, psn, cut_rule());
        for (rule_ = 0; rule_ < rules_.size(); ++rule_) {
            items = std::visit([&](const auto& action) { return through(action, items); },
                               rules_[rule_].action);
            std::ranges::stable_sort(items, {}, &Item::at);
        }
        for (const Item& item : items)
            if (!is_cut(item.at))
                outcome_.left.emplace_back(item.at, item.psn, item.marked);
            else
                outcome_.done.emplace_back(item.at, item.psn, cut_rule());
        outcome_.sort();
        return outcome_;
    }

    // Both hosts are an end of each frame, so a cut concerns all.
    bool is_cut(Nanoseconds at) const {
        return std::ranges::any_of(
            cuts_, [&](const auto& cut) { return cut.first < at && at < cut.first + cut.second; });
    }
    std::uint32_t cut_rule() const {
        const auto is = [](const Rule& rule) { return std::holds_alternative<Cut>(rule.action); };
        return static_cast<std::uint32_t>(std::ranges::find_if(rules_, is) - rules_.begin() + 1);
    }

    bool is_picked(std::uint32_t psn) const {
        const Rule& rule = rules_[rule_];
        const auto counts = [&](const Send& send) {
            return rule.from.empty() || rule.from == (send.from == 0 ? "server" : "client");
        };
        if (!counts(sends_[psn]))
            return false;
        const auto number = static_cast<std::uint64_t>(
            std::count_if(sends_.begin(), sends_.begin() + psn + 1, counts));
        const Which& which = rule.which;
        return which.kind == Which::Kind::All ||
               (which.kind == Which::Kind::Every && number % which.every == 0) ||
               (which.kind == Which::Kind::Range && which.first <= number && number <= which.last);
    }
    bool acts_on(const Item& item) {
        const bool acts = is_picked(item.psn);
        if (acts)
            outcome_.done.emplace_back(item.at, item.psn, static_cast<std::uint32_t>(rule_ + 1));
        return acts;
    }

    Items through(const Drop& /*drop*/, const Items& items) {
        Items out;
        std::ranges::copy_if(items, std::back_inserter(out),
                             [&](const Item& item) { return !acts_on(item); });
        return out;
    }
    Items through(const Duplicate& duplicate, const Items& items) {
        Items out;
        for (const Item& item : items) {
            out.push_back(item);
            if (acts_on(item))
                out.insert(out.end(), duplicate.copies,
                           {item.at + duplicate.after, item.psn, item.marked});
        }
        return out;
    }
    Items through(const Delay& delay, Items items) {
        for (Item& item : items)
            if (acts_on(item))
                item.at += delay.time;
        return items;
    }
    Items through(const Reorder& reorder, const Items& items) {
        Items out;
        Items waiting;
        const auto end_waiting = [&](Nanoseconds now) {
            while (!waiting.empty() && waiting.front().at + 200ms <= now) {
                out.push_back(waiting.front());
                out.back().at += 200ms;
                waiting.erase(waiting.begin());
            }
        };
        for (Item item : items) {
            end_waiting(item.at);
            if (acts_on(item)) {
                item.left = reorder.by;
                waiting.push_back(item);
                continue;
            }
            out.push_back(item);
            for (Item& one : waiting)
                if (sends_[one.psn].from == sends_[item.psn].from && --one.left == 0)
                    out.push_back({item.at, one.psn, one.marked});
            std::erase_if(waiting, [](const Item& one) { return one.left == 0; });
        }
        end_waiting(Nanoseconds::max());
        return out;
    }
    Items through(const Mark& /*mark*/, Items items) {
        for (Item& item : items)
            item.marked |= acts_on(item);
        return items;
    }
    Items through(const Cut& cut, const Items& items) {
        Items out;
        for (const Item& item : items)
            if (acts_on(item))
                begins_.emplace_back(item.at, cut.time);
            else
                out.push_back(item);
        return out;
    }
    Items through(const Limit& limit, const Items& items) {
        static const auto bits = static_cast<double>(roce_frame(0).size() * 8);
        const Nanoseconds each(
            static_cast<std::int64_t>(bits / static_cast<double>(limit.bits_per_second) * 1e9));
        Items out;
        std::vector<Nanoseconds> ends;
        for (const Item& item : items) {
            if (!acts_on(item)) {
                out.push_back(item);
                continue;
            }
            if (std::ranges::count_if(ends, [&](Nanoseconds end) { return end > item.at; }) >=
                limit.queue)
                continue;
            ends.push_back((ends.empty() ? item.at : std::max(item.at, ends.back())) + each);
            out.push_back({ends.back(), item.psn, item.marked});
        }
        return out;
    }
    Items through(const Corrupt& /*corrupt*/, const Items& items) { return items; }  // not used
    Items through(const Set& /*set*/, const Items& items) { return items; }          // not used

    const std::vector<Rule>& rules_;
    const std::vector<Send>& sends_;
    std::size_t rule_ = 0;
    std::vector<std::pair<Nanoseconds, Nanoseconds>> begins_, cuts_;
    Outcome outcome_;
};

class Real : private StageOutput {
  public:
    // `steps`: release what is due at its time. Otherwise it waits for the next frame.
    Real(const std::vector<Rule>& rules, const std::vector<Send>& sends, bool steps) {
        for (const Rule& rule : rules)
            stage_.add(parse_rule(rule.text, stage_.hosts()));
        for (std::uint32_t psn = 0; psn < sends.size(); ++psn) {
            const Send& send = sends[psn];
            if (steps)
                release(send.at);
            now_ = send.at;
            const Bytes frame = roce_frame(psn);
            stage_.take({capture::Time(now_), send.from, 1 - send.from, frame}, begin_ + now_,
                        *this);
        }
        release(steps ? 1h : 0s);
        stage_.release(begin_ + 2h, *this);
        EXPECT_EQ(stage_.held_bytes(), 0U);
        EXPECT_FALSE(stage_.next());
    }
    Outcome outcome;

  private:
    void release(Nanoseconds until) {
        for (auto next = stage_.next(); next && *next <= begin_ + until; next = stage_.next()) {
            now_ = *next - begin_;
            stage_.release(*next, *this);
        }
    }
    std::uint64_t arrived(const ReceivedFrame& /*arrival*/, bool /*is_roce*/,
                          const std::vector<RuleEvent>& /*events*/) override {
        return 0;
    }
    void acted(const Sent& sent, const RuleEvent& event) override {
        outcome.done.emplace_back(event.time, psn_of(sent.frame.bytes), event.rule);
    }
    void leaves(Host /*from*/, std::optional<Host> /*to*/, util::Bytes bytes,
                bool /*is_roce*/) override {
        outcome.left.emplace_back(now_, psn_of(bytes), decoded(bytes).ipv4->ecn() == 3);
    }

    Stage stage_{{"server", "client"}};
    util::Clock::time_point begin_{1h};
    Nanoseconds now_{};
};

std::string in_ms(Nanoseconds time) {
    return fmt::format("{:.6f}ms", static_cast<double>(time.count()) / 1e6);
}

std::string some_action(Random& random, bool may_cut) {
    switch (random() % 7) {
        case 0:
            return "drop";
        case 1:
            return fmt::format("duplicate {} times", up_to(random, 3));
        case 2:
            return "duplicate after " + in_ms(some_time(random, 300ms));
        case 3:
            return "delay " + in_ms(some_time(random, 300ms));
        case 4:
            return "mark";
        case 5:
            return fmt::format("limit to {}kbit/s queue {}", 3 + up_to(random, 200),
                               up_to(random, 5));
        default:
            // Not both in one list: whether what is overtaken at the instant of a cut is lost, is
            // not the subject of this test.
            return may_cut ? "cut for " + in_ms(some_time(random, 100ms)) + " at"
                           : fmt::format("reorder by {}", up_to(random, 3));
    }
}

std::string some_packets(Random& random) {
    const char* from = std::array{"", " from client", " from server"}.at(random() % 3);
    const std::uint64_t first = up_to(random, 10);
    switch (random() % 4) {
        case 0:
            return fmt::format("packets{}", from);
        case 1:
            return fmt::format("packets {} to {}{}", first, first + up_to(random, 5), from);
        case 2:
            return fmt::format("every {}{} packet{}", 4 + first % 6, "th", from);
        default:
            return fmt::format("packets {} to {}{}", first, first, from);
    }
}

TEST(Pipeline, passes_each_frame_and_copy_through_its_rules_in_order) {
    std::size_t left = 0;
    std::size_t done = 0;
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
        Random random(seed);
        const bool may_cut = random() % 2 == 0;
        bool has_cut = false;
        std::vector<Rule> rules;
        std::string all;
        for (std::uint64_t count = up_to(random, 5); count > 0; --count) {
            const std::string text = some_action(random, may_cut) + ' ' + some_packets(random);
            if (text.starts_with("cut") && std::exchange(has_cut, true))
                continue;
            rules.push_back(parse_rule(text, {"server", "client"}));
            all += text + '\n';
        }
        std::vector<Send> sends;
        Nanoseconds now{};
        for (std::uint64_t count = up_to(random, 20); count > 0; --count)
            sends.push_back({now += some_time(random, 40ms), random() % 4 == 0 ? 0U : 1U});

        const Outcome expected = Model(rules, sends).run();
        Outcome outcome = Real(rules, sends, true).outcome;
        Outcome late = Real(rules, sends, false).outcome;
        std::vector<std::uint32_t> order, late_order;
        for (const auto& one : outcome.left)
            order.push_back(std::get<1>(one));
        for (const auto& one : late.left)
            late_order.push_back(std::get<1>(one));
        outcome.sort();
        late.sort();
        ASSERT_EQ(outcome.left, expected.left) << "seed " << seed << '\n' << all;
        ASSERT_EQ(outcome.done, expected.done) << "seed " << seed << '\n' << all;
        ASSERT_EQ(late_order, order) << "seed " << seed << '\n' << all;
        ASSERT_EQ(late.done, expected.done) << "seed " << seed << '\n' << all;
        left += expected.left.size();
        done += expected.done.size();
    }
    EXPECT_GT(left, 10'000U);
    EXPECT_GT(done, 10'000U);
}

}  // namespace pipeline_test
