// The questions of a page, compared with those that rocecap predict asks about the same run.
#include "render/page/quiz.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "render/page/inflated.hpp"
#include "render/page/page.hpp"
#include "render/page/run_files.hpp"
#include "support/process.hpp"
#include "support/tool.hpp"
#include "tools/rocecap/lost_packet.hpp"
#include "wire/sample_frames.hpp"

namespace quiz_test {

using page_test::RunFiles;
using util::Json;

constexpr std::uint8_t write_only = 0x0a;
constexpr std::uint8_t acknowledge = 0x11;
constexpr std::uint64_t all_packets = 100'000;

std::string sample(const std::string& lesson) {
    return "captures/samples/" + lesson + "/annotated.pcapng";
}

predict::Run predicted(const std::string& path, predict::RunReader::Limits limits) {
    predict::RunReader reader(limits);
    const timeline::FinishedRun run(timeline::trace_files(path), &reader);
    run.each_event(
        [&](const runlog::Event& event, std::int64_t t_ns) { reader.event(event, t_ns); });
    return reader.take();
}

Json quiz_of(const std::string& path, std::uint64_t most_packets = all_packets) {
    timeline::FinishedRun run(path);
    return Json::parse(page_test::inflated(page::read(run, {}, most_packets).run)).at("quiz");
}

Json quiz_of(const std::string& path, const page::QuizLimits& limits) {
    return page::quiz_json(predicted(path, {}), limits);
}

std::vector<Json> questions(const Json& quiz) {
    std::vector<Json> asked;
    for (const Json& step : quiz.at("steps"))
        if (step.contains("ask"))
            asked.push_back(step);
    return asked;
}

std::string single_spaced(const std::string& text) {
    std::istringstream words(text);
    std::string result;
    for (std::string word; words >> word;)
        result += word + ' ';
    return result;
}

// What rocecap predict prints after each of its questions, until the next one.
std::vector<std::string> predicted(const std::string& path, const std::string& answer) {
    const auto outcome = support::run({"bash", "-c",
                                       fmt::format("yes '{}' | head -n 1000 | '{}' predict {}",
                                                   answer, support::rocecap(), path)});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    constexpr std::string_view prompt = "Which kind and PSN?\n> ";
    std::vector<std::string> parts;
    for (auto at = outcome.out.find(prompt); at != std::string::npos;) {
        const auto from = at + prompt.size();
        at = outcome.out.find(prompt, from);
        parts.push_back(single_spaced(outcome.out.substr(from, at - from)));
    }
    return parts;
}

// "nearly: a NAK's PSN is the one that the responder expects "
std::string verdict(const Json& quiz, const Json& step, std::size_t kind, std::int32_t psn) {
    const Json& ask = step.at("ask");
    const auto expected = step.at("psn").get<std::int32_t>();
    bool is_kind = false;
    for (const Json& right : ask.at("right"))
        is_kind |= right == kind;
    if (is_kind && psn == expected)
        return "right ";
    const int why = ask.at("why").at(kind).at(psn < expected ? 0 : 1).get<int>();
    const std::string grade = is_kind ? "nearly" : "wrong";
    if (why < 0)
        return grade + ' ';
    return fmt::format("{}: {} ", grade,
                       quiz.at("texts").at(static_cast<std::size_t>(why)).get<std::string>());
}

class PageQuiz : public testing::TestWithParam<const char*> {};

TEST_P(PageQuiz, asks_and_judges_as_rocecap_predict_does) {
    const std::string path = sample(GetParam());
    const Json quiz = quiz_of(path);
    const auto asked = questions(quiz);
    ASSERT_FALSE(asked.empty());
    for (std::size_t kind = 0; kind < quiz.at("kinds").size(); ++kind) {
        const std::string answer =
            fmt::format("{} +4", quiz.at("kinds").at(kind).get<std::string>());
        const auto printed = predicted(path, answer);
        ASSERT_EQ(asked.size(), printed.size()) << answer;
        for (std::size_t i = 0; i < asked.size(); ++i) {
            const auto begin =
                fmt::format("{} {} ", answer, asked[i].at("frame").get<std::uint64_t>());
            EXPECT_TRUE(printed[i].starts_with(begin)) << printed[i] << '\n' << begin;
            EXPECT_NE(printed[i].find(' ' + verdict(quiz, asked[i], kind, 4)), std::string::npos)
                << printed[i] << '\n'
                << asked[i];
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Samples, PageQuiz,
                         testing::Values("20_one_packet", "13_atomics", "01_cm_write_read",
                                         "12_reconnect"),
                         [](const auto& lesson) { return std::string(lesson.param); });

TEST(PageQuizData, has_what_the_link_emulator_did_and_what_each_side_knows) {
    const rocecap_test::LostPacket run;
    const Json quiz = quiz_of(run.path());
    const Json first = questions(quiz).at(0);
    EXPECT_EQ(first.at("frame"), 6);
    EXPECT_EQ(first.at("psn"), 5);
    ASSERT_EQ(first.at("events").size(), 1U);
    EXPECT_TRUE(first.at("events").at(0).get<std::string>().starts_with(
        "drop      RC RDMA WRITE Middle PSN +4 "))
        << first;
    const auto text = [&](const char* key) {
        return quiz.at("texts").at(first.at("ask").at(key).get<std::size_t>());
    };
    EXPECT_EQ(text("sender"), "The client sends the next packet.");
    EXPECT_EQ(text("hint"),
              "The server expects PSN +4 next.\n"
              "The client has sent up to PSN +4; from PSN +3 on, no PSN is acknowledged.");
    EXPECT_EQ(quiz.at("goes_on"), false);
    EXPECT_EQ(quiz.at("before"), 0);
}

// Ten WRITEs, each with its ACK.
class TenWrites : public RunFiles {
  public:
    TenWrites() : RunFiles(page_test::two_hosts) {
        std::vector<std::vector<std::byte>> frames;
        for (std::uint32_t psn = 0; psn < 10; ++psn) {
            frames.push_back(frame(write_only, psn, false));
            frames.push_back(frame(acknowledge, psn, true));
        }
        capture(frames);
    }

    void drop(std::uint32_t psn) const {
        log({1,
             "link",
             "drop",
             {{"from", "client"},
              {"to", "server"},
              {"opcode_name", "RC RDMA WRITE Only"},
              {"dest_qpn", 0x11U},
              {"psn", psn}}});
    }

  private:
    static std::vector<std::byte> frame(std::uint8_t opcode, std::uint32_t psn, bool from_server) {
        auto packet =
            wire_test::sample_packet(*wire::find_opcode(opcode), wire_test::Network::Ipv4, 4);
        packet.bth->dest_qpn = from_server ? 0x12 : 0x11;
        packet.bth->psn = wire::Psn(psn);
        if (from_server)
            std::swap(packet.ipv4->src, packet.ipv4->dst);
        return wire::encode(packet);
    }
};

std::vector<int> frames(const Json& quiz) {
    std::vector<int> found;
    for (const Json& step : quiz.at("steps"))
        found.push_back(step.at("frame").get<int>());
    return found;
}

TEST(PageQuizData, ends_before_the_question_that_is_one_too_many) {
    const TenWrites files;
    const Json quiz = quiz_of(files.path(), page::QuizLimits{.questions = 2});
    EXPECT_EQ(questions(quiz).size(), 2U);
    EXPECT_EQ(frames(quiz), (std::vector{1, 2}));
    EXPECT_EQ(quiz.at("goes_on"), true);
    EXPECT_EQ(frames(quiz_of(files.path(), page::QuizLimits{.steps = 3})), (std::vector{1, 2, 3}));
    const Json whole = quiz_of(files.path(), page::QuizLimits{.questions = 20});
    EXPECT_EQ(questions(whole).size(), 20U);
    EXPECT_EQ(whole.at("goes_on"), false);
    EXPECT_EQ(whole.at("is_one"), true);
    EXPECT_EQ(quiz_of(sample("17_cm_psn")).at("is_one"), false);
}

TEST(PageQuizData, has_few_packets_before_the_first_question) {
    const TenWrites files;
    files.drop(9);  // its retransmission arrived
    const Json quiz = quiz_of(files.path(), page::QuizLimits{.context = 3});
    const Json first = questions(quiz).at(0);
    EXPECT_EQ(first.at("frame"), 18);
    EXPECT_EQ(quiz.at("before"), 14);
    EXPECT_EQ(quiz.at("steps").at(0).at("frame"), 15);
}

TEST(PageQuizData, has_no_packet_that_the_page_leaves_out) {
    const TenWrites files;
    const Json quiz = quiz_of(files.path(), 5);
    EXPECT_EQ(frames(quiz), (std::vector{1, 2, 3, 4, 5}));
    EXPECT_EQ(quiz.at("goes_on"), true);
}

TEST(PageQuizData, ends_with_the_last_event_of_the_link_emulator_that_is_read) {
    const TenWrites files;
    for (const std::uint32_t psn : {2U, 4U, 6U})
        files.drop(psn);
    const predict::Run read = predicted(files.path(), {.events = 2});
    EXPECT_EQ(read.events.size(), 2U);
    EXPECT_EQ(read.packets.size(), 7U);  // up to WRITE 3
    EXPECT_TRUE(read.is_cut);
}

TEST(PageQuizData, is_null_without_a_packet_of_a_reliable_connection) {
    const RunFiles files(page_test::two_hosts);
    EXPECT_EQ(quiz_of(files.path()), nullptr);
    files.capture({wire::encode(wire_test::sample_packet(
        *wire::find_opcode(wire::ud_send_only_opcode), wire_test::Network::Ipv4, 4))});
    EXPECT_EQ(quiz_of(files.path()), nullptr);
}

TEST(PageQuizData, hosts_without_roles_are_called_as_the_columns_of_the_ladder) {
    const TenWrites files;
    std::filesystem::remove(files.path() + "/run.json");
    const Json quiz = quiz_of(files.path() + "/wire.pcapng");
    const auto sender = questions(quiz).at(0).at("ask").at("sender").get<std::size_t>();
    EXPECT_EQ(quiz.at("texts").at(sender), "The client sends the next packet.");
}

}  // namespace quiz_test
