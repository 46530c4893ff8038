// Tests of the scripts of make lint: they find defects, and fail if a tool cannot run.
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/temp_path.hpp"

namespace {

namespace fs = std::filesystem;

class Lint : public testing::Test {
  protected:
    void SetUp() override { fs::create_directories(root_); }

    /// Writes a file below the test's folder, and returns its path.
    std::string file(const std::string& name, const std::string& text) const {
        const fs::path path = root_ / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text;
        return path.string();
    }

    std::string tool(const std::string& name, const std::string& script) const {
        std::string path = file("bin/" + name, "#!/bin/bash\n" + script + "\n");
        fs::permissions(path, fs::perms(0755));
        return path;
    }

    /// Runs a command in a shell whose PATH begins with the tools of the test.
    support::Outcome shell(const std::string& command,
                           const support::Argv& environment = {}) const {
        return support::run(
            {"bash", "-c", "PATH=" + (root_ / "bin").string() + ":$PATH; " + command}, environment);
    }

    static bool has(const std::string& program) {
        return support::run({"bash", "-c", "command -v " + program}).exit_code == 0;
    }

    support::TempPath folder_{"lint"};
    fs::path root_ = folder_.str();
};

#define SKIP_WITHOUT(program) \
    if (!has(program))        \
    GTEST_SKIP() << program " is not installed (make lint installs it)"

TEST_F(Lint, finds_a_defect_in_a_source_that_a_unit_includes) {
    SKIP_WITHOUT("clang-tidy");
    // A defect for the static analyzer, and one for clang-tidy's own checks.
    const std::string first =
        file("src/a/first.cpp", "int first() { int* none = nullptr; return *none; }\n");
    const std::string second = file("src/a/second.cpp", "int Second() { return 2; }\n");
    const auto outcome = shell("printf '%s\\n' " + first + " " + second + " | tests/lint/units " +
                               (root_ / "units").string() + " | xargs -n 1 tests/lint/tidy");
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_NE(outcome.out.find("first.cpp:1:"), std::string::npos) << outcome.all();
    EXPECT_NE(outcome.out.find("clang-analyzer-core.NullDereference"), std::string::npos);
    EXPECT_NE(outcome.out.find("readability-identifier-naming"), std::string::npos);
}

TEST_F(Lint, finds_a_defect_in_one_of_two_programs) {
    SKIP_WITHOUT("clang-tidy");
    const std::string program =
        "namespace { int run() { return 0; } }\nint main() { return run(); }\n";
    const std::string first = file("examples/a/server.cpp", program);
    const std::string second =
        file("examples/b/client.cpp", program + "int* nothing() { return 0; }\n");
    const auto outcome = shell("printf '%s\\n' " + first + " " + second + " | tests/lint/units " +
                               (root_ / "units").string() + " | xargs -n 1 tests/lint/tidy");
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_NE(outcome.out.find("b/client.cpp:3:"), std::string::npos) << outcome.all();
    EXPECT_NE(outcome.out.find("modernize-use-nullptr"), std::string::npos);
    EXPECT_EQ(outcome.out.find("generated."), std::string::npos) << outcome.all();
}

TEST_F(Lint, fails_when_clang_tidy_cannot_start) {
    tool("clang-tidy", "echo 'clang-tidy: libLLVM.so cannot be opened' >&2; exit 127");
    const auto outcome = shell("tests/lint/tidy src/util/fd.cpp");
    EXPECT_EQ(outcome.exit_code, 127);
    EXPECT_EQ(outcome.out, "clang-tidy: libLLVM.so cannot be opened\n");
}

TEST_F(Lint, hides_the_count_of_the_warnings_elsewhere) {
    tool("clang-tidy", "echo '27848 warnings generated.' >&2");
    const auto outcome = shell("tests/lint/tidy src/util/fd.cpp");
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.all(), "exit 0\n");
}

TEST_F(Lint, checks_a_source_by_itself_that_does_not_compile_with_the_others_of_its_unit) {
    SKIP_WITHOUT("clang-tidy");
    // Each has a defect, and the second one uses a name of the first one.
    const std::string first = file("src/a/first.cpp", "int first() { return 1; }\nint Bad();\n");
    const std::string second =
        file("src/a/second.cpp", "void first() {}\nint Bad_too() { return 2; }\n");
    const std::string third = file("src/a/third.cpp", "int Bad_as_well() { return 3; }\n");
    const auto outcome =
        shell("printf '%s\\n' " + first + " " + second + " " + third + " | tests/lint/units " +
              (root_ / "units").string() + " | xargs -n 1 tests/lint/tidy");
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_NE(outcome.out.find("clang-tidy reads " + second + " by itself."), std::string::npos)
        << outcome.all();
    for (const char* place : {"first.cpp:2:", "second.cpp:2:", "third.cpp:1:"})
        EXPECT_NE(outcome.out.find(place), std::string::npos) << place << outcome.all();
    EXPECT_EQ(outcome.out.find("clang-diagnostic-error"), std::string::npos) << outcome.all();
}

// The error is in a header, or is still there without the sources that have one.
TEST_F(Lint, checks_each_source_of_a_unit_by_itself_where_nothing_else_compiles) {
    tool("clang-tidy",
         "for last; do [[ $last != *.cpp ]] || name=${last##*/}; done; echo \"read $name\"\n"
         "[[ $name != unit.cpp ]] || { echo 'redefinition [clang-diagnostic-error]'; exit 1; }");
    const std::string unit =
        file("unit.cpp", "#include \"src/a/one.cpp\"\n#include \"src/a/two.cpp\"\n");
    const auto outcome = shell("tests/lint/tidy " + unit);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_NE(outcome.out.find("read one.cpp\nread two.cpp\n"), std::string::npos) << outcome.all();
}

TEST_F(Lint, finds_a_source_that_uses_what_it_does_not_include) {
    const std::string source = file("alone.cpp", "std::string name();\n");
    EXPECT_NE(shell("tests/lint/alone " + source).exit_code, 0);
    EXPECT_EQ(
        shell("tests/lint/alone " + file("whole.cpp", "#include <cstddef>\nstd::size_t size();\n"))
            .exit_code,
        0);
}

TEST_F(Lint, precompiles_only_headers_that_a_source_includes_itself) {
    std::string sources;
    for (int i = 0; i < 8; ++i)
        sources +=
            file("with" + std::to_string(i) + ".cpp",
                 "#include <fmt/format.h>\nstd::string text() { return fmt::format(\"\"); }\n") +
            "\n";
    const std::string without = file("without.cpp", "std::string text();\n");
    file("list", sources + without + "\n");
    const auto headers =
        shell("tests/lint/headers " + (root_ / "pch").string() + " <" + (root_ / "list").string());
    EXPECT_EQ(headers.exit_code, 0) << headers.err;
    EXPECT_NE(headers.out.find("/with7.cpp " + (root_ / "pch").string() + "/fmt_format.h.hpp\n"),
              std::string::npos)
        << headers.out;
    EXPECT_TRUE(headers.out.ends_with(without + "\n")) << headers.out;
    file("checked", headers.out);
    const auto outcome = shell("xargs -L 1 tests/lint/alone <" + (root_ / "checked").string());
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err.find("with0.cpp"), std::string::npos) << outcome.err;
}

TEST_F(Lint, finds_a_word_that_is_not_the_field_s_term) {
    const std::string text = file("text.md", "Two WRITEs are\nUnder way.\nA mender understood.\n");
    const auto outcome = shell("tests/lint/terms " + text);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out, text + ":2:Under way: write: in flight, outstanding\n");
    EXPECT_EQ(shell("tests/lint/terms " + file("other.md", "In flight.\n")).exit_code, 0);
}

TEST_F(Lint, allows_a_physical_cable_but_not_a_virtual_one) {
    const std::string text =
        file("text.md", "Check the cable, if applicable.\nLAB_CABLE=wire, a Cable_.\n");
    const auto outcome = shell("tests/lint/terms " + text);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out, text + ":2:LAB_CABLE: write: link, link emulator\n" + text +
                               ":2:Cable_: write: link, link emulator\n");
}

TEST_F(Lint, finds_an_unused_using_declaration) {
    const std::string source =
        file("using.cpp", "using a::b;\nusing a::c;  // c, unused\nint d = b();\n");
    const auto outcome = shell("tests/lint/using " + source);
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out, source + ":2: nothing uses this using declaration: c\n");
}

// Creates a repository for the test, with one commit on main.
class LintChanged : public Lint {
  protected:
    void SetUp() override {
        if (!has("git"))
            GTEST_SKIP() << "git is not installed";
        Lint::SetUp();
        file("src/a/one.hpp", "");
        file("src/a/one.cpp", "#include \"a/one.hpp\"\n");
        file("src/a/two.cpp", "");
        file("src/b/far.cpp", "#include \"a/one.hpp\"\n");
        file("tests/a/one_test.cpp", "#include \"a/one.hpp\"\n");
        fs::create_directories(root_ / "tests/lint");
        fs::copy_file("tests/lint/changed", root_ / "tests/lint/changed");
        ASSERT_EQ(git("init -q -b main && " + commit("first", "2026-01-01T00:00:00Z")).exit_code,
                  0);
    }

    static std::string commit(const std::string& subject, const std::string& date) {
        return "git add -A && GIT_COMMITTER_DATE=" + date +
               " git -c user.name=test -c user.email=test@example.org commit -q -m " + subject;
    }

    support::Outcome git(const std::string& arguments) const {
        return shell("cd " + root_.string() + " && git " + arguments,
                     {"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null"});
    }

    std::string changed(const std::string& base = "", const std::string& ci = "CI=") const {
        return shell((root_ / "tests/lint/changed").string(), {"LINT_BASE=" + base, ci}).out;
    }
};

TEST_F(LintChanged, names_what_is_not_committed) {
    git("checkout -q -b work && " +
        commit("'' --allow-empty-message --allow-empty", "2026-01-02T00:00:00Z"));
    EXPECT_EQ(changed(), "");
    file("src/a/two.cpp", "int two;\n");
    file("src/a/new.cpp", "");
    EXPECT_EQ(changed(), "src/a/new.cpp\nsrc/a/two.cpp\n");
}

TEST_F(LintChanged, names_the_sources_beside_a_header_that_include_it_and_their_tests) {
    file("src/a/one.hpp", "#pragma once\n");
    git("checkout -q -b work && " + commit("second", "2026-01-02T00:00:00Z"));
    EXPECT_EQ(changed(), "src/a/one.cpp\ntests/a/one_test.cpp\n");
}

TEST_F(LintChanged, in_continuous_integration_on_main_names_what_the_last_hours_brought) {
    file("src/a/two.cpp", "int two;\n");
    git("status -s && " + commit("second", "2026-01-03T00:00:00Z"));
    file("src/b/far.cpp", "");
    git("status -s && " + commit("third", "2026-01-03T07:00:00Z"));
    EXPECT_EQ(changed("", "CI=true"), "src/a/two.cpp\nsrc/b/far.cpp\n");
    EXPECT_EQ(changed("HEAD~1"), "src/b/far.cpp\n");
}

// A fresh clone of a project whose history is shorter than these hours, too.
TEST_F(LintChanged, names_nothing_on_main_without_a_change) {
    EXPECT_EQ(changed(), "");
    EXPECT_NE(changed("", "CI=true"), "");
}

TEST_F(LintChanged, rejects_a_base_that_does_not_exist) {
    const auto outcome = shell((root_ / "tests/lint/changed").string(), {"LINT_BASE=nonsense"});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("LINT_BASE=nonsense is not a commit"), std::string::npos)
        << outcome.err;
}

}  // namespace
