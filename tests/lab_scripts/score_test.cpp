// tests/faults/score: which files it passes to the program that explains, and its calculations. In
// these tests, a capture's content is the explanation that the program returns.
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/temp_path.hpp"

namespace score_test {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
}

std::string answer(const std::string& code) {
    return R"({"failed":true,"causes":[{"code":")" + code +
           R"(","certainty":"likely"},{"code":"loss","certainty":"possible"}]})";
}

class Score : public testing::Test {
  protected:
    void SetUp() override {
        explain_by(
            "for path; do [[ ! -d $path ]] || path+=/wire.pcapng\n"
            "[[ $path != *.pcapng ]] || cat \"$path\"; done\n");
    }

    void explain_by(const std::string& script) {
        write(dir_.path() / "rocecap", "#!/bin/bash\n" + script);
        fs::permissions(dir_.path() / "rocecap", fs::perms::owner_all);
    }

    void run(const std::string& name, const std::string& truth, const std::string& says,
             const std::string& logs = "none") {
        write(dir_.path() / "half" / (name + ".case"), "");
        const fs::path run = dir_.path() / "runs/half" / name;
        write(run / "truth", "cause: " + truth + "\nlogs: " + logs + "\n");
        write(run / "wire.pcapng", says);
        write(
            run / "run.json",
            R"({"step":"s","link":{"rules":["drop"]},"hosts":{"client":{"command":["--drop"]}}})");
        for (const char* host : {"server", "client"})
            write(run / (std::string(host) + ".jsonl"),
                  R"({"event":"process","command":"faulty \"x\" --drop","pid":1})");
    }

    support::Outcome score(support::Argv options = {}) {
        support::Argv argv{"tests/faults/score"};
        argv.insert(argv.end(), options.begin(), options.end());
        argv.push_back((dir_.path() / "half").string());
        return support::run(argv, {"FAULTS_RUNS=" + (dir_.path() / "runs").string(),
                                   "ROCECAP=" + (dir_.path() / "rocecap").string()});
    }

    /// Returns the line of the output that begins with this word, with runs of spaces replaced by
    /// one space.
    std::string line(const std::string& begin, const support::Outcome& outcome) {
        std::string found;
        const std::size_t at = ("\n" + outcome.out).find("\n" + begin);
        for (std::size_t i = at; i < outcome.out.size() && outcome.out[i] != '\n'; ++i)
            if (outcome.out[i] != ' ' || found.back() != ' ')
                found += outcome.out[i];
        return at == std::string::npos ? outcome.all() : found;
    }

    support::TempPath dir_{"score"};
};

TEST_F(Score, precision_is_of_answers_and_recall_of_runs_with_a_cause) {
    run("a", "wrong-rkey", answer("wrong-rkey"));
    run("b", "wrong-rkey", answer("other-pd"));
    run("c", "loss", R"({"failed":true,"causes":[]})");
    run("d", "loss", answer("loss"));
    run("e", "none", R"({"failed":false,"causes":[]})");
    run("f", "none", answer("loss"));
    run("g", "wrong-psn", "no JSON");
    const auto outcome = score();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(line("a ", outcome), "a none wrong-rkey wrong-rkey likely right");
    EXPECT_EQ(line("b ", outcome), "b none wrong-rkey other-pd likely WRONG");
    EXPECT_EQ(line("c ", outcome), "c none loss unknown - unknown");
    EXPECT_EQ(line("e ", outcome), "e none none none - right");
    EXPECT_EQ(line("g ", outcome), "g none wrong-psn failed - unknown");
    EXPECT_EQ(line("loss ", outcome), "loss 2 2 0.500 0.500");
    EXPECT_EQ(line("wrong-rkey ", outcome), "wrong-rkey 2 1 1.000 0.500");
    EXPECT_EQ(line("other-pd ", outcome), "other-pd 0 1 0.000 -");
    EXPECT_EQ(line("wrong-psn ", outcome), "wrong-psn 1 0 - 0.000");
    EXPECT_EQ(line("total ", outcome), "total 5 4 0.500 0.400");
    EXPECT_EQ(line("healthy runs", outcome), "healthy runs: 2, called faulty: 1");
}

TEST_F(Score, an_accepted_label_is_right) {
    run("a", "acks-lost\naccept: path-broken\naccept: loss", answer("path-broken"));
    run("b", "path-broken", answer("acks-lost"));
    const auto outcome = score();
    EXPECT_EQ(line("a ", outcome), "a none acks-lost path-broken likely right");
    EXPECT_EQ(line("b ", outcome), "b none path-broken acks-lost likely WRONG");
    EXPECT_EQ(line("total ", outcome), "total 2 2 0.500 0.500");
}

TEST_F(Score, a_precision_below_the_least_is_a_failure) {
    run("a", "loss", answer("loss"));
    run("b", "loss", answer("reordering"));
    EXPECT_EQ(score({"--least-precision", "0.5"}).exit_code, 0);
    EXPECT_EQ(score({"--least-precision", "0.51"}).exit_code, 1);
    EXPECT_EQ(score({"--least-precision", "5"}).exit_code, 2);
}

TEST_F(Score, a_run_that_is_missing_is_named) {
    run("a", "loss", answer("loss"));
    fs::remove(dir_.path() / "runs/half/a/truth");
    const auto outcome = score();
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("half/a.case"), std::string::npos) << outcome.all();
    EXPECT_EQ(outcome.out, "");
}

TEST_F(Score, shows_the_logs_that_the_case_allows_and_nothing_that_names_the_fault) {
    const std::string seen = (dir_.path() / "seen").string();
    // Records the files in the last argument's folder, the argument before it, and the files' text.
    explain_by(
        "last=${!#}\n[[ -d $last ]] || last=${last%/*}\n{ echo; ls \"$last\" | paste -sd ' '\n"
        "echo \"${@:0-2:1}\"; cat \"$last\"/*.json*; } >>" +
        seen + "\n");
    run("a", "loss", "", "both");
    run("b", "loss", "", "server");
    run("c", "loss", "", "none");
    score();
    std::ifstream file(seen);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NE(text.find("client.jsonl run.json server.jsonl wire.pcapng\n--json"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("\nrun.json server.jsonl wire.pcapng\n--log"), std::string::npos) << text;
    EXPECT_NE(text.find("\nrun.json wire.pcapng\n--json"), std::string::npos) << text;
    EXPECT_NE(text.find(R"({"event":"process","command":"","pid":1})"), std::string::npos) << text;
    EXPECT_EQ(text.find("drop"), std::string::npos) << text;
}

// Which of them it was, only the responder's log shows.
TEST_F(Score, a_refused_access_is_right_without_the_log_of_the_responder) {
    run("a", "other-pd", answer("remote-access"));
    run("b", "other-pd", answer("remote-access"), "both");
    run("c", "loss", answer("remote-access"));
    const auto outcome = score();
    EXPECT_EQ(line("a ", outcome), "a none other-pd remote-access likely right");
    EXPECT_EQ(line("b ", outcome), "b both other-pd remote-access likely WRONG");
    EXPECT_EQ(line("c ", outcome), "c none loss remote-access likely WRONG");
}

TEST_F(Score, asks_rocetrace_for_logs_without_a_capture) {
    write(dir_.path() / "rocetrace",
          "#!/bin/bash\nshift\necho \"1. $(cat \"$@\" | grep -c process) (certain)  client\"\n");
    fs::permissions(dir_.path() / "rocetrace", fs::perms::owner_all);
    setenv("ROCETRACE", (dir_.path() / "rocetrace").c_str(), 1);
    run("a", "1", "");
    const auto logs = score({"--logs", "logs"});
    const auto codes = score({"--logs", "codes"});
    unsetenv("ROCETRACE");
    EXPECT_EQ(line("a ", logs), "a logs 1 1 certain right");
    // The event of the run is no completion.
    EXPECT_EQ(line("a ", codes), "a codes 1 0 certain WRONG");
    EXPECT_EQ(score({"--logs", "some"}).exit_code, 2);
}

}  // namespace score_test
