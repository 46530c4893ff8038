// Lesson 23, the model: logistic regression on synthetic data. Both programs generate the same data
// from the same seed and sum in the same order, so that results can be compared bit by bit.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lesson23 {

inline constexpr std::size_t features = 520;  // 4,160 bytes: two packets at the largest path MTU
inline constexpr std::size_t samples = 300;
inline constexpr double learning_rate = 0.5;

using Weights = std::array<double, features>;

/// What a worker pushes, in this host's layout: both sides must have the same byte order.
struct Gradient {
    std::array<double, features> sum{};  // sum over the worker's samples
    double loss = 0;                     // sum of their losses
};

struct Sample {
    std::array<double, features> x;
    bool label;
};

class Data {
  public:
    Data() : samples_(samples) {
        Weights truth;
        for (double& weight : truth)
            weight = next();
        for (Sample& sample : samples_) {
            for (double& x : sample.x)
                x = next();
            sample.label = dot(truth, sample.x) > 0;
        }
    }

    /// Returns the gradient over the samples of one of `workers` workers.
    Gradient gradient(const Weights& weights, std::size_t rank, std::size_t workers) const {
        Gradient all;
        for (std::size_t i = rank * samples / workers; i < (rank + 1) * samples / workers; ++i) {
            const Sample& sample = samples_[i];
            const double likely = 1 / (1 + std::exp(-dot(weights, sample.x)));
            all.loss -= std::log(sample.label ? likely : 1 - likely);
            for (std::size_t f = 0; f < features; ++f)
                all.sum[f] += (likely - (sample.label ? 1 : 0)) * sample.x[f];
        }
        return all;
    }

  private:
    // splitmix64 by Sebastiano Vigna; -1 to 1.
    double next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
    }

    static double dot(const Weights& a, const Weights& b) {
        double sum = 0;
        for (std::size_t f = 0; f < features; ++f)
            sum += a[f] * b[f];
        return sum;
    }

    std::uint64_t state_ = 16;
    std::vector<Sample> samples_;
};

/// Returns the weights after a gradient descent step with all workers' gradients, summed by rank,
/// because a floating-point sum depends on the order.
inline Weights updated(Weights weights, const std::vector<Gradient>& of_ranks) {
    for (std::size_t f = 0; f < features; ++f) {
        double sum = 0;
        for (const Gradient& gradient : of_ranks)
            sum += gradient.sum[f];
        weights[f] -= learning_rate * sum / samples;
    }
    return weights;
}

/// Returns the mean loss over all samples.
inline double loss_of(const std::vector<Gradient>& of_ranks) {
    double sum = 0;
    for (const Gradient& gradient : of_ranks)
        sum += gradient.loss;
    return sum / samples;
}

}  // namespace lesson23
