// Input: the run.json of a run directory with two logs and no capture.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "fuzz/check.hpp"
#include "render/page/facts.hpp"
#include "trace/timeline/finished_run.hpp"
#include "util/error.hpp"

namespace {

// The run directory, in /dev/shm if that exists. Each execution overwrites run.json.
class Directory {
  public:
    Directory() {
        const std::filesystem::path memory = "/dev/shm";
        const auto parent =
            std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
        path_ = parent / ("fuzz_run_json." + std::to_string(getpid()));
        std::filesystem::create_directories(path_);
        for (const char* log : {"server.jsonl", "client.jsonl"})
            std::ofstream(path_ / log)
                << R"({"t_ns":1,"role":"server","event":"note","text":"a line"})" << '\n';
    }
    ~Directory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;
    Directory(Directory&&) = delete;
    Directory& operator=(Directory&&) = delete;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Directory directory;
    const std::string path = directory.path();
    std::ofstream(path + "/run.json", std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    try {
        const timeline::FinishedRun run(path);
        fuzz::require(run.info().roles.size() >= 2, "a run has a server and a client");
        fuzz::require(page::facts_of(run).is_array(), "facts are a list");
        fuzz::require(!page::about(run.files()).empty(), "a run has words");
    } catch (const util::Error& error) {
        const std::string sentence = error.what();
        fuzz::require(sentence.ends_with('.') && sentence.find('\n') == std::string::npos,
                      "an error is a sentence: " + sentence);
    }
    return 0;
}
