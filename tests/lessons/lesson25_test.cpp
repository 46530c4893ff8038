// Lesson 25 without a device: when a batch is sent, which slots are in use, which values a notice may
// have, and that batching changes no bit of a result.
#include <gtest/gtest.h>

#include "examples/25_inference_batching/batcher.hpp"
#include "examples/25_inference_batching/figures.hpp"
#include "examples/25_inference_batching/slots.hpp"
#include "support/error_text.hpp"

namespace {

using namespace std::chrono_literals;
using lesson25::Batcher;
using lesson25::ClientSlots;
using lesson25::Header;
using lesson25::ServerSlots;
using lesson25::Shape;
using lesson25::Time;
using support::error_text;

const Time start{1h};

TEST(Arrivals, are_all_at_once_without_a_rate) {
    EXPECT_EQ(lesson25::arrivals(3, 0, false, 1), std::vector<std::chrono::nanoseconds>(3));
}

TEST(Arrivals, come_at_even_distances_where_that_is_asked_for) {
    const auto even = lesson25::arrivals(4, 1000, true, 1);
    EXPECT_EQ(even, (std::vector<std::chrono::nanoseconds>{0ms, 1ms, 2ms, 3ms}));
}

TEST(Arrivals, at_random_are_of_the_rate_and_the_same_for_the_same_seed) {
    constexpr std::size_t many = 20'000;
    const auto random = lesson25::arrivals(many, 1000, false, 7);
    EXPECT_EQ(random, lesson25::arrivals(many, 1000, false, 7));
    EXPECT_NE(random, lesson25::arrivals(many, 1000, false, 8));
    EXPECT_TRUE(std::ranges::is_sorted(random));
    EXPECT_NEAR(std::chrono::duration<double>(random.back()).count(), 20, 0.5);
    // In an exponential distribution, 1 - 1/e of the values are below the mean.
    std::size_t below = 0;
    for (std::size_t i = 1; i < many; ++i)
        below += random[i] - random[i - 1] < 1ms;
    EXPECT_NEAR(static_cast<double>(below) / many, 0.632, 0.02);
}

TEST(Batcher, lets_a_full_batch_go_at_once) {
    Batcher batcher(3, 1s);
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(batcher.is_ready(start), i == 3) << i;
        batcher.arrive(start);
    }
    EXPECT_EQ(batcher.take().size(), 3U);
    EXPECT_EQ(batcher.waiting(), 1U);
    EXPECT_FALSE(batcher.is_ready(start));
}

TEST(Batcher, lets_one_that_is_not_full_go_when_its_oldest_has_waited_enough) {
    Batcher batcher(8, 10ms);
    EXPECT_EQ(batcher.ready_at(), util::Deadline());
    EXPECT_FALSE(batcher.is_ready(start)) << "nobody waits";
    batcher.arrive(start);
    batcher.arrive(start + 9ms);
    EXPECT_EQ(batcher.ready_at(), util::Deadline(start + 10ms));
    EXPECT_FALSE(batcher.is_ready(start + 9ms));
    EXPECT_TRUE(batcher.is_ready(start + 10ms));
    EXPECT_EQ(batcher.take(), (std::vector<Time>{start, start + 9ms}));
    EXPECT_EQ(batcher.ready_at(), util::Deadline());
}

TEST(Batcher, without_a_wait_takes_whoever_is_there) {
    Batcher batcher(8, 0ns);
    batcher.arrive(start);
    EXPECT_TRUE(batcher.is_ready(start));
}

TEST(ClientSlots, are_free_again_only_with_their_result) {
    ClientSlots slots(Shape{4, 2});
    EXPECT_EQ(slots.take(), 0U);
    EXPECT_EQ(slots.take(), 1U);
    EXPECT_FALSE(slots.has_free());
    EXPECT_EQ(slots.outstanding(), 2U);
    EXPECT_EQ(error_text([&] { slots.take(); }), "slot 0 is still in use by batch 0.");
    slots.free(1);
    EXPECT_FALSE(slots.has_free()) << "batch 2 goes into slot 0, which is not the free one";
    slots.free(0);
    EXPECT_EQ(slots.take(), 2U);
    EXPECT_EQ(slots.take(), 3U);
}

TEST(ClientSlots, take_no_result_that_nobody_waits_for) {
    ClientSlots slots(Shape{4, 2});
    const std::string never = "the server sends a result of batch 0, which is not outstanding.";
    EXPECT_EQ(error_text([&] { slots.free(0); }), never);
    slots.take();
    EXPECT_EQ(error_text([&] { slots.free(2); }),
              "the server sends a result of batch 2, which is not outstanding.");
    slots.free(0);
    EXPECT_EQ(error_text([&] { slots.free(0); }), never) << "twice";
}

TEST(ServerSlots, take_the_next_batch_and_no_other_one) {
    ServerSlots slots(Shape{4, 2});
    const auto refusal = [&](std::uint32_t id, std::uint32_t byte_len, const Header& header) {
        return error_text([&] { slots.take(id, byte_len, header); });
    };
    EXPECT_EQ(refusal(1, 8, {1, 4}), "a notification of batch 1, but batch 0 is expected.");
    EXPECT_EQ(refusal(0, 4, {0, 4}), "the notification of batch 0 has 4 B, but a header has 8 B.");
    EXPECT_EQ(refusal(0, 8, {7, 4}), "the notification of batch 0 has the header of 7.");
    EXPECT_EQ(refusal(0, 8, {0, 5}), "batch 0 claims 5 requests, but a slot has room for 1 to 4.");
    EXPECT_EQ(refusal(0, 8, {0, 0}), "batch 0 claims 0 requests, but a slot has room for 1 to 4.");
    slots.take(0, 8, {0, 4});
    EXPECT_EQ(refusal(0, 8, {0, 4}), "a notification of batch 0, but batch 1 is expected.")
        << "twice";
    slots.take(1, 8, {1, 1});
    EXPECT_EQ(refusal(2, 8, {2, 1}), "batch 2 arrived in slot 0, which is in use.");
    EXPECT_EQ(slots.unanswered(), 2U);
    slots.answer();
    slots.take(2, 8, {2, 1});
}

TEST(Shape, has_slots_that_do_not_overlap) {
    for (const Shape& shape : {Shape{1, 1}, Shape{3, 5}, Shape{64, 64}}) {
        EXPECT_EQ(shape.slot_size() % 64, 0U);
        for (std::uint32_t id = 0; id < shape.depth; ++id) {
            EXPECT_EQ(shape.input_at(id, 0), shape.header_at(id) + Header::size);
            EXPECT_LE(shape.input_at(id, shape.batch), shape.header_at(id) + shape.slot_size());
        }
        EXPECT_EQ(shape.header_at(shape.depth), shape.header_at(0)) << "a ring";
        EXPECT_EQ(shape.header_at(shape.depth - 1u) + shape.slot_size(), shape.slots_size());
    }
}

TEST(Greeting, comes_as_it_was_sent_or_is_refused) {
    lesson25::Greeting greeting{
        {.va = 4096, .length = 16 * sizeof(lesson25::Output), .rkey = 7}, {8, 2}, 3};
    const auto read = lesson25::Greeting::parse(greeting.serialize());
    EXPECT_EQ(read.results, greeting.results);
    EXPECT_EQ(read.shape.batch, 8);
    EXPECT_EQ(read.shape.depth, 2);
    EXPECT_EQ(read.clients, 3);

    const auto refusal = [](const lesson25::Greeting& wrong) {
        return error_text([&] { lesson25::Greeting::parse(wrong.serialize()); });
    };
    greeting.shape.depth = 3;
    EXPECT_EQ(refusal(greeting), "a client's memory for results does not fit its batch and depth.");
    for (const Shape& wrong : {Shape{0, 2}, Shape{65, 2}, Shape{8, 0}, Shape{8, 65}}) {
        greeting.shape = wrong;
        EXPECT_TRUE(refusal(greeting).starts_with("a client requests batches of 0 or more than 64"))
            << refusal(greeting);
    }
    EXPECT_EQ(error_text([] { lesson25::Greeting::parse(std::vector<std::byte>(29)); }),
              "the request has no batch and depth: it is not from a client of this lesson.");
}

TEST(Model, gives_a_batch_the_bits_of_its_requests_one_by_one) {
    const lesson25::Model model;
    std::vector<lesson25::Input> inputs(5);
    lesson25::Numbers numbers(1);
    for (auto& input : inputs)
        numbers.fill(input);
    std::vector<lesson25::Output> together(5);
    model.infer(inputs, together);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        lesson25::Output alone{};
        model.infer(std::span(inputs).subspan(i, 1), std::span(&alone, 1));
        EXPECT_EQ(alone, together[i]) << i;
        if (i > 0) {
            EXPECT_NE(together[i], together[0]) << "another input, another result";
        }
    }
}

TEST(Figures, count_from_the_beginning_to_the_last_result) {
    lesson25::Figures figures;
    figures.begin(start);
    figures.begin(start + 1s);  // of another client
    figures.add({start, start + 1ms}, start + 2ms, start + 4ms);
    figures.add({start + 3ms}, start + 4ms, start + 2s);
    runlog::Event event;
    figures.describe(event.fields);
    EXPECT_EQ(event.number("requests"), 3U);
    EXPECT_EQ(event.number("batches"), 2U);
    EXPECT_EQ(event.number("elapsed_us"), 2'000'000U);
    EXPECT_EQ(event.text("requests_per_s"), "1.5");
    EXPECT_EQ(event.text("batches_per_s"), "1.0");
    EXPECT_EQ(event.number("batch_p50_us"), 2000U);
    EXPECT_EQ(event.number("batch_p99_us"), 1'996'000U);
    EXPECT_EQ(event.number("request_p50_us"), 4000U);
    EXPECT_EQ(event.number("request_p99_us"), 1'997'000U);
}

}  // namespace
