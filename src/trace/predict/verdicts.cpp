#include "trace/predict/verdicts.hpp"

#include "trace/predict/answer.hpp"

namespace predict {

Verdicts verdicts_on(const ReliablePacket& packet, const ConnectionState& ends) {
    Verdicts verdicts{.right = {packet.kind()}, .offset = packet.offset, .reasons = {}};
    for (std::size_t i = 0; i < answer_kinds.size(); ++i) {
        const Kind kind = answer_kinds[i];
        if (kind != packet.kind() && grade(packet, {kind, packet.offset}) == Grade::Right)
            verdicts.right.push_back(kind);
        verdicts.reasons[i] = {reason(packet, {kind, packet.offset - 1}, ends),
                               reason(packet, {kind, packet.offset + 1}, ends)};
    }
    return verdicts;
}

}  // namespace predict
