// lab/lib/build.sh in a small checkout, whose Makefile "compiles" a source by copying it.
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/temp_path.hpp"

namespace {

namespace fs = std::filesystem;

constexpr const char* makefile = R"(
programs := $(patsubst %.cpp,$(BUILD)/%,$(wildcard examples/*/*.cpp))
$(programs): $(BUILD)/%: %.cpp
	@printf '[%2d/%s] %-4s %s\n' 1 "$${TO_MAKE:-?}" CXX $@
	@mkdir -p $(@D) && ! grep -Hn error $< && cp $< $@ && chmod +x $@
)";

class LabBuild : public testing::Test {
  protected:
    LabBuild() {
        fs::create_directories(root_ / "lab");
        fs::copy("lab/lib", root_ / "lab/lib", fs::copy_options::recursive);
        std::ofstream(root_ / "Makefile") << makefile;
        missing_packages("");
        source("01_write", "client", "a");
        source("01_write", "server", "a");
        source("02_send", "main", "a");
    }

    void source(const std::string& lesson, const std::string& name, const std::string& text) {
        fs::create_directories(root_ / "examples" / lesson);
        std::ofstream(root_ / "examples" / lesson / (name + ".cpp")) << text << "\n";
    }
    void missing_packages(const std::string& names) {
        const auto path = root_ / "lab/install-packages";
        std::ofstream(path) << "#!/bin/sh\necho \"" << names << "\"\n";
        fs::permissions(path, fs::perms(0755));
    }
    void age(const std::string& file) {
        fs::last_write_time(root_ / file, fs::file_time_type::clock::now() - std::chrono::hours(1));
    }
    bool exists(const std::string& file) const { return fs::exists(root_ / file); }

    /// Runs these functions of the lab. The seconds of a build, which depend on the load of the
    /// machine, are 0 in the messages.
    support::Outcome run(const std::string& functions, const support::Argv& environment = {}) {
        support::Outcome outcome =
            support::run({"bash", "-c",
                          "set -euo pipefail; cd \"$1\"; . lab/lib/common.sh; . lab/lib/guard.sh; "
                          ". lab/lib/build.sh; LAB_BUILD=build; " +
                              functions,
                          "-", root_.string()},
                         environment);
        static const std::regex seconds(R"(\([0-9]+ s\))");
        outcome.err = std::regex_replace(outcome.err, seconds, "(0 s)");
        return outcome;
    }

    support::TempPath temp_{"lab_build"};
    fs::path root_ = temp_.str();
};

TEST_F(LabBuild, builds_what_is_missing_and_prints_one_line) {
    const auto outcome = run("build 01_write 02_send");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "lab: building lessons 01, 02 (0 s)\n");
    for (const char* program : {"01_write/client", "01_write/server", "02_send/main"})
        EXPECT_TRUE(exists(std::string("build/examples/") + program)) << program;
}

TEST_F(LabBuild, is_silent_if_all_is_built_and_builds_again_after_a_change) {
    run("build 01_write 02_send");
    EXPECT_EQ(run("build 01_write 02_send").all(), "exit 0\n");
    age("build/examples/02_send/main");
    EXPECT_EQ(run("build 01_write 02_send").err, "lab: building lesson 02 (0 s)\n");
}

TEST_F(LabBuild, shows_the_messages_of_the_compiler_and_stops) {
    source("02_send", "main", "an error here");
    const auto outcome = run("build 02_send; echo goes on");
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(
        outcome.err.find("lab: building lesson 02\nexamples/02_send/main.cpp:1:an error here\n"),
        std::string::npos)
        << outcome.err;
    EXPECT_NE(outcome.err.find("lab: lesson 02 could not be built: "), std::string::npos)
        << outcome.err;
    EXPECT_EQ(outcome.err.find("[ 1/"), std::string::npos) << outcome.err;
}

TEST_F(LabBuild, names_the_command_that_installs_missing_packages) {
    missing_packages("g++ libibverbs-dev");
    const auto outcome = run("build 02_send");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.err,
              "lab: building lesson 02 needs packages that are missing here: run make "
              "packages-build, which installs them (g++ libibverbs-dev).\n");
}

TEST_F(LabBuild, does_not_need_packages_if_all_is_built) {
    run("build 02_send");
    missing_packages("g++");
    EXPECT_EQ(run("build 02_send").all(), "exit 0\n");
}

TEST_F(LabBuild, finds_the_programs_in_the_words_of_a_command) {
    const auto outcome = run(
        R"(build_words env A=1 build/examples/01_write/client --file build/examples/none build/out.csv;
           build_words bash -c "cd /tmp; $LAB_ROOT/build/examples/02_send/main >/dev/null";
           echo "${PROGRAMS[@]}")");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(outcome.out, "build/examples/02_send/main\n");
    EXPECT_EQ(outcome.err,
              "lab: building build/examples/01_write/client (0 s)\n"
              "lab: building build/examples/02_send/main (0 s)\n");
    EXPECT_FALSE(exists("build/examples/01_write/server"));
}

TEST_F(LabBuild, words_without_a_program_cost_no_make) {
    std::ofstream(root_ / "Makefile") << "$(error this Makefile was read)\n";
    EXPECT_EQ(run("build_words ls -l rebuild/x build").all(), "exit 0\n");
}

// make runs `lab/lab boot` while it holds the lock that a build would wait for.
TEST_F(LabBuild, does_nothing_below_a_make_that_builds) {
    EXPECT_EQ(run("build 02_send", {"LAB_BUILDING=1"}).all(), "exit 0\n");
    EXPECT_FALSE(exists("build/examples/02_send/main"));
}

TEST_F(LabBuild, takes_no_options_from_a_make_that_calls_the_lab) {
    const auto outcome = run("build 02_send", {"MAKEFLAGS=n -- BUILD=elsewhere", "MAKELEVEL=1"});
    EXPECT_EQ(outcome.err, "lab: building lesson 02 (0 s)\n");
    EXPECT_TRUE(exists("build/examples/02_send/main"));
}

}  // namespace
