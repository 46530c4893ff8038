// The verdicts on a question, compared with grade() and reason() for every answer.
#include "trace/predict/verdicts.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "trace/predict/answer.hpp"
#include "trace/predict/packets.hpp"

namespace verdicts_test {

using namespace predict;
using namespace predict_test;

struct Verdict {
    Grade grade{};
    std::string why;

    bool operator==(const Verdict&) const = default;
};

// As a program finds it that has only the verdicts.
Verdict looked_up(const Verdicts& verdicts, std::size_t kind, std::optional<std::int32_t> offset) {
    const auto& [lower, other] = verdicts.reasons.at(kind);
    const std::string& why = offset && *offset < verdicts.offset ? lower : other;
    if (std::ranges::find(verdicts.right, answer_kinds.at(kind)) == verdicts.right.end())
        return {Grade::Wrong, why};
    if (!offset || *offset == verdicts.offset)
        return {Grade::Right, ""};
    return {Grade::Nearly, why};
}

Verdict computed(const ReliablePacket& packet, const Answer& answer, const ConnectionState& ends) {
    const Grade graded = grade(packet, answer);
    return {graded, graded == Grade::Right ? "" : reason(packet, answer, ends)};
}

// Every packet of the sequence is asked for once, and each of these states is the state before it.
void expect_same(const std::vector<ReliablePacket>& sequence) {
    ConnectionState ends;
    for (std::size_t at = 0; at < sequence.size(); ++at) {
        const ReliablePacket& packet = sequence[at];
        const Verdicts verdicts = verdicts_on(packet, ends);
        EXPECT_EQ(verdicts.offset, packet.offset);
        EXPECT_EQ(verdicts.right.front(), packet.kind());
        for (std::size_t kind = 0; kind < answer_kinds.size(); ++kind) {
            std::vector<std::optional<std::int32_t>> offsets{std::nullopt};
            for (std::int32_t offset = -3; offset < 20; ++offset)
                offsets.emplace_back(offset);
            for (const auto& offset : offsets)
                EXPECT_EQ(looked_up(verdicts, kind, offset),
                          computed(packet, {answer_kinds.at(kind), offset}, ends))
                    << "packet " << at << ", answer " << name(answer_kinds.at(kind)) << ' '
                    << offset.value_or(-100);
        }
        ends.see(packet);
    }
}

TEST(PredictVerdicts, are_those_of_every_answer_after_a_lost_write) {
    expect_same({write(0), write(1), write(2), ack(2), write(3), write(5), write(6), nak(4),
                 write(7), write(4), write(5), write(6), write(7), ack(7)});
}

TEST(PredictVerdicts, are_those_of_every_answer_to_reads_atomics_and_sends) {
    ReliablePacket refusal = nak(9);
    refusal.aeth.syndrome = nak_access;
    ReliablePacket late = packet(send_only, 8);
    late.t_ns = 1'000'000'000;
    expect_same({read(0, 3), read(3, 2), response(0), response(2), read(1, 2), response(1),
                 response(2), response(3), packet(fetch_add, 5), packet(atomic_answer, 5),
                 packet(send_only, 6), rnr(6), packet(send_only, 6), ack(6), packet(send_only, 7),
                 packet(send_only, 8), late, packet(send_only, 9), refusal});
}

TEST(PredictVerdicts, an_atomic_s_response_has_two_names) {
    const Verdicts verdicts = verdicts_on(packet(atomic_answer, 5), {});
    EXPECT_EQ(verdicts.right, (std::vector{Kind::Response, Kind::Atomic}));
}

}  // namespace verdicts_test
