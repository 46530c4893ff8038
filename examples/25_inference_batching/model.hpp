// The model of lesson 25's server: a two-layer perceptron in the shape of the classical recogniser of
// handwritten digits, 784 pixels to 10 scores. Its weights come from a fixed seed; it is untrained.
//
// All values are integers, as in quantised inference: 8-bit weights, 32-bit sums. Integer sums do
// not depend on their order, so a batch gives the same bits as its requests one by one, on any
// host.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lesson25 {

inline constexpr std::size_t pixels = 784;
inline constexpr std::size_t hidden = 64;
inline constexpr std::size_t scores = 10;

using Input = std::array<std::int8_t, pixels>;
using Output = std::array<std::int32_t, scores>;

/// splitmix64 by Sebastiano Vigna.
class Numbers {
  public:
    explicit Numbers(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    void fill(std::span<std::int8_t> bytes) {
        for (std::int8_t& byte : bytes)
            byte = static_cast<std::int8_t>(next() >> 56);
    }
    /// Returns a number above 0, at most 1.
    double fraction() { return static_cast<double>((next() >> 11) + 1) * 0x1p-53; }

  private:
    std::uint64_t state_;
};

class Model {
  public:
    Model() {
        Numbers numbers(18);
        for (Input& row : first_)
            numbers.fill(row);
        for (auto& row : second_)
            numbers.fill(row);
    }

    /// Loads each row of weights once for the whole batch: this makes batches cheap if weights are
    /// slow to load, as in a GPU's matrix product.
    void infer(std::span<const Input> batch, std::span<Output> results) const {
        std::vector<std::array<std::int8_t, hidden>> active(batch.size());
        for (std::size_t h = 0; h < hidden; ++h)
            for (std::size_t r = 0; r < batch.size(); ++r)
                active[r][h] = activation(dot<pixels>(first_[h], batch[r]));
        for (std::size_t s = 0; s < scores; ++s)
            for (std::size_t r = 0; r < batch.size(); ++r)
                results[r][s] = dot<hidden>(second_[s], active[r]);
    }

  private:
    template <std::size_t N>
    static std::int32_t dot(const std::array<std::int8_t, N>& a,
                            const std::array<std::int8_t, N>& b) {
        std::int32_t sum = 0;
        for (std::size_t i = 0; i < N; ++i)
            sum += a[i] * b[i];
        return sum;
    }
    // ReLU, and conversion to 8 bits.
    static std::int8_t activation(std::int32_t sum) {
        return static_cast<std::int8_t>(std::clamp(sum >> 12, 0, 127));
    }

    std::array<Input, hidden> first_{};
    std::array<std::array<std::int8_t, hidden>, scores> second_{};
};

}  // namespace lesson25
