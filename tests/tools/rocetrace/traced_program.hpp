// Programs that the test runs under rocetrace.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"

namespace rocetrace_test {

inline std::string rocetrace() {
    return (support::build_dir() / "rocetrace").string();
}

/// A call that fails and is logged on a host without an RDMA device.
inline constexpr const char* call =
    "import ctypes; ctypes.CDLL('librdmacm.so.1').rdma_create_event_channel()";

class TracedProgram : public testing::Test {
  protected:
    TracedProgram() { std::filesystem::create_directory(folder_.path()); }

    std::string path(const std::string& name) const { return folder_.str() + "/" + name; }
    static support::Outcome run(const support::Argv& words, const support::Argv& environment = {}) {
        support::Argv argv{rocetrace()};
        argv.insert(argv.end(), words.begin(), words.end());
        return support::run(argv, environment, std::chrono::seconds(20));
    }
    /// Runs a command of the shell with its log in the folder.
    support::Outcome shell(const std::string& script, const support::Argv& options = {},
                           const support::Argv& environment = {}) const {
        support::Argv words{"-o", path("log.jsonl")};
        words.insert(words.end(), options.begin(), options.end());
        words.insert(words.end(), {"--", "sh", "-c", script});
        return run(words, environment);
    }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path(name), std::ios::binary) << text;
    }
    /// A copy of true(1), changed.
    template <typename Change>
    std::string changed_program(const std::string& name, Change change) const {
        std::ifstream file("/bin/true", std::ios::binary);
        std::string bytes{std::istreambuf_iterator<char>(file), {}};
        change(bytes);
        write(name, bytes);
        std::filesystem::permissions(path(name), std::filesystem::perms::owner_all);
        return path(name);
    }

    support::TempPath folder_{"program"};
};

}  // namespace rocetrace_test
