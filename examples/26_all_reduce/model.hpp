// Lesson 26, the model: logistic regression on synthetic data, which each rank makes from the same seed.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lesson26 {

inline constexpr std::size_t features = 2047;
inline constexpr std::size_t samples = 96;
inline constexpr double learning_rate = 0.5;

using Vector = std::vector<double>;

/// A gradient with the loss behind it: 2,048 numbers, 16 KiB.
inline constexpr std::size_t numbers = features + 1;

class Data {
  public:
    Data() : labels_(samples), x_(samples, Vector(features)) {
        Vector truth(features);
        for (double& weight : truth)
            weight = next();
        for (std::size_t i = 0; i < samples; ++i) {
            for (double& x : x_[i])
                x = next();
            labels_[i] = dot(truth, x_[i]) > 0 ? 1 : 0;
        }
    }

    /// Returns the sums over the samples of one of `ranks` ranks.
    Vector gradient(const Vector& weights, int rank, int ranks) const {
        const auto share = [&](int of) {
            return samples * static_cast<std::size_t>(of) / static_cast<std::size_t>(ranks);
        };
        Vector sums(numbers);
        for (std::size_t i = share(rank); i < share(rank + 1); ++i) {
            const double likely = 1 / (1 + std::exp(-dot(weights, x_[i])));
            sums[features] -= std::log(labels_[i] > 0 ? likely : 1 - likely);
            for (std::size_t f = 0; f < features; ++f)
                sums[f] += (likely - labels_[i]) * x_[i][f];
        }
        return sums;
    }

  private:
    // splitmix64 by Sebastiano Vigna; -1 to 1.
    double next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
    }

    static double dot(const Vector& a, const Vector& b) {
        double sum = 0;
        for (std::size_t f = 0; f < features; ++f)
            sum += a[f] * b[f];
        return sum;
    }

    std::uint64_t state_ = 26;
    Vector labels_;
    std::vector<Vector> x_;
};

/// Takes a step with the sums over all samples, and returns the loss before it.
inline double descend(Vector& weights, const Vector& sums) {
    for (std::size_t f = 0; f < features; ++f)
        weights[f] -= learning_rate * sums[f] / samples;
    return sums[features] / samples;
}

/// The losses that one program alone computes.
inline Vector losses_alone(const Data& data, std::uint64_t steps) {
    Vector weights(features), losses;
    for (std::uint64_t step = 0; step < steps; ++step)
        losses.push_back(descend(weights, data.gradient(weights, 0, 1)));
    return losses;
}

}  // namespace lesson26
