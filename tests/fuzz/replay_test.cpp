// Runs the fuzz targets without libFuzzer on every seed, every former finding, and their prefixes.
// For a long input, these are the prefixes that end in its first 512 or last 64 bytes, which
// contain headers and checksums, and one in 61 of the others. With TEST_PREFIXES=all, these are all
// prefixes.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "wire/sample_set.hpp"

// The Makefile renames each target's LLVMFuzzerTestOneInput to these names for the unit tests.
extern "C" {
int fuzz_packet(const std::uint8_t* data, std::size_t size);
int fuzz_cm(const std::uint8_t* data, std::size_t size);
int fuzz_flow(const std::uint8_t* data, std::size_t size);
int fuzz_capture_file(const std::uint8_t* data, std::size_t size);
int fuzz_pcapng_tail(const std::uint8_t* data, std::size_t size);
int fuzz_run_log(const std::uint8_t* data, std::size_t size);
int fuzz_emulator(const std::uint8_t* data, std::size_t size);
int fuzz_exchange(const std::uint8_t* data, std::size_t size);
int fuzz_run_json(const std::uint8_t* data, std::size_t size);
int fuzz_where(const std::uint8_t* data, std::size_t size);
}

namespace {

namespace fs = std::filesystem;

struct Target {
    const char* name;
    int (*run)(const std::uint8_t*, std::size_t);

    friend std::ostream& operator<<(std::ostream& out, const Target& target) {
        return out << target.name;
    }
};

constexpr Target targets[] = {
    {"packet", fuzz_packet},
    {"cm", fuzz_cm},
    {"flow", fuzz_flow},
    {"capture_file", fuzz_capture_file},
    {"pcapng_tail", fuzz_pcapng_tail},
    {"run_log", fuzz_run_log},
    {"emulator", fuzz_emulator},
    {"exchange", fuzz_exchange},
    {"run_json", fuzz_run_json},
    {"where", fuzz_where},
};

std::vector<fs::path> corpus_of(const char* target) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(fs::path("tests/fuzz/corpus") / target))
        files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

std::vector<std::byte> contents(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

void run(const Target& target, util::Bytes input) {
    const wire_test::ExactCopy copy(input);
    const util::Bytes bytes = copy;
    target.run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

bool is_wanted(std::size_t size, std::size_t whole) {
    static const bool all = std::getenv("TEST_PREFIXES") != nullptr;
    // 61 is a prime, so that these prefixes end at different offsets of a structure.
    return all || size <= 512 || size + 64 >= whole || size % 61 == 0;
}

void run_prefixes(const Target& target, util::Bytes input, const std::string& name) {
    for (std::size_t size = 0; size <= input.size(); ++size)
        if (is_wanted(size, input.size())) {
            ASSERT_NO_THROW(run(target, input.first(size))) << size << " bytes of " << name;
        }
}

class FuzzReplay : public testing::TestWithParam<Target> {};

TEST_P(FuzzReplay, every_prefix_of_the_corpus) {
    const auto files = corpus_of(GetParam().name);
    EXPECT_FALSE(files.empty());
    for (const auto& path : files)
        run_prefixes(GetParam(), contents(path), path.string());
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzReplay, testing::ValuesIn(targets),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(FuzzCorpus, every_prefix_of_every_sample_frame) {
    for (const auto& [link, frame] : wire_test::sample_set())
        for (const auto cut : {std::byte{0}, std::byte{0x40}}) {
            std::vector input{static_cast<std::byte>(link), std::byte{0}, cut};
            input.insert(input.end(), frame.begin(), frame.end());
            run_prefixes(targets[0], input, "a sample frame");
        }
}

// Each corpus needs a target, and each target a corpus.
TEST(FuzzCorpus, has_a_target_for_each_folder) {
    std::vector<std::string> corpora;
    for (const auto& entry : fs::directory_iterator("tests/fuzz/corpus"))
        corpora.push_back(entry.path().filename());
    std::vector<std::string> names;
    for (const Target& target : targets)
        names.emplace_back(target.name);
    std::ranges::sort(corpora);
    std::ranges::sort(names);
    EXPECT_EQ(corpora, names);
}

}  // namespace
