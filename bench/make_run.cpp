// make_run PACKETS DIRECTORY: a run directory of synthetic traffic, for the benchmarks.
#include <charconv>
#include <cstdio>
#include <exception>
#include <string_view>

#include "bench/synthetic_run.hpp"

int main(int argc, char** argv) {
    using namespace std::chrono_literals;
    bench::RunShape shape{.client_ahead = 600ms, .measured_ahead = 600ms + 70us};
    const std::string_view count(argc == 3 ? argv[1] : "");
    if (const auto [end, error] =
            std::from_chars(count.data(), count.data() + count.size(), shape.packets);
        argc != 3 || error != std::errc() || end != count.data() + count.size()) {
        std::fputs("usage: make_run PACKETS DIRECTORY\n", stderr);
        return 2;
    }
    try {
        bench::make_synthetic_run(argv[2], shape);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "make_run: %s\n", error.what());
        return 1;
    }
    return 0;
}
