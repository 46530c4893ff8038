// Step 18, the requests that come to one client, and their results.
#pragma once

#include <fmt/format.h>

#include "batcher.hpp"
#include "util/error.hpp"

namespace step18 {

/// What comes to each client, and how long a request may wait for others.
struct Work {
    std::size_t requests = 0;
    double rate = 0;  // a second; 0: all are there at the beginning
    bool is_even = false;
    nanoseconds wait{};
    bool is_quiet = false;  // no event for each batch
};

struct Requests {
    std::vector<nanoseconds> arrivals;  // after the beginning
    std::vector<Input> inputs;
    std::vector<Output> outputs;

    /// The same for the same seed.
    Requests(const Work& work, std::uint64_t seed)
        : arrivals(step18::arrivals(work.requests, work.rate, work.is_even, seed)),
          inputs(work.requests),
          outputs(work.requests) {
        Numbers numbers(seed);
        for (Input& input : inputs)
            numbers.fill(input);
    }

    /// Throws util::Error unless every result is that of this program's own model, through which each
    /// request goes alone.
    void check(const Model& model, std::uint64_t client) const {
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            Output wanted{};
            model.infer(std::span(inputs).subspan(i, 1), std::span(&wanted, 1));
            if (outputs[i] != wanted)
                throw util::Error(fmt::format(
                    "the result of request {} of client {} is not that of the model.", i, client));
        }
    }
};

}  // namespace step18
