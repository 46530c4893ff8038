// Lesson 25, the requests to one client, and their results.
#pragma once

#include <fmt/format.h>

#include "batcher.hpp"
#include "util/error.hpp"

namespace lesson25 {

/// The load of each client, and how long a request may wait for others.
struct Work {
    std::size_t requests = 0;
    double rate = 0;  // per second; 0: all at the start
    bool is_even = false;
    nanoseconds wait{};
    bool is_quiet = false;  // no events for batches
};

struct Requests {
    std::vector<nanoseconds> arrivals;  // after the start
    std::vector<Input> inputs;
    std::vector<Output> outputs;

    /// The same seed gives the same requests.
    Requests(const Work& work, std::uint64_t seed)
        : arrivals(lesson25::arrivals(work.requests, work.rate, work.is_even, seed)),
          inputs(work.requests),
          outputs(work.requests) {
        Numbers numbers(seed);
        for (Input& input : inputs)
            numbers.fill(input);
    }

    /// Throws util::Error unless every result equals that of this program's own model, computed for
    /// each request separately.
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

}  // namespace lesson25
