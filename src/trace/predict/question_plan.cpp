#include "trace/predict/question_plan.hpp"

namespace predict {

bool is_asked(const std::vector<ReliablePacket>& packets, std::size_t index,
              const QuestionPlan& course) {
    const ReliablePacket& packet = packets[index];
    if (index < course.begin || packet.kind() == Kind::Other)
        return false;
    if (course.asks_all || index == 0 || course.events.contains(index))
        return true;
    const ReliablePacket& before = packets[index - 1];
    return before.source != packet.source || before.connection != packet.connection ||
           before.kind() != packet.kind() || before.is_response() != packet.is_response() ||
           packet.offset <= before.offset;
}

}  // namespace predict
