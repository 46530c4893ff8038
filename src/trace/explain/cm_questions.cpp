#include "trace/explain/cm_questions.hpp"

#include <algorithm>

namespace explain {
namespace {

// A ConnectReply is also a request: it asks for ReadyToUse.
bool asks(const CmSeen& message) {
    return message.attribute == wire::CmAttribute::ConnectRequest ||
           message.attribute == wire::CmAttribute::ServiceIdResReq ||
           message.attribute == wire::CmAttribute::ConnectReply ||
           message.attribute == wire::CmAttribute::DisconnectRequest;
}

bool agrees(const CmSeen& message) {
    return message.attribute == wire::CmAttribute::ConnectReply ||
           (message.attribute == wire::CmAttribute::ServiceIdResReqResp && message.reason == 0);
}

}  // namespace

CmQuestions::CmQuestions(const std::vector<CmSeen>& messages) {
    for (const CmSeen& message : messages) {
        if (asks(message))
            ask(message);
        answer(message);
    }
}

void CmQuestions::ask(const CmSeen& message) {
    CmQuestion& question = all_[{message.from, message.to, message.local_id}][message.attribute];
    if (question.first == nullptr) {
        question.first = &message;
        if (message.attribute == wire::CmAttribute::ConnectRequest)
            asked_[message.to].push_back(message.frame);
    }
    // No timer is so short: the path copied the message, or the capture has it twice.
    constexpr std::int64_t soon_ns = 1'000'000;
    if (question.last != nullptr && message.t_ns - question.last->t_ns < soon_ns)
        return;
    question.last = &message;
    question.was_accepted_before |= question.accepted != nullptr;
    ++question.copies;
}

void CmQuestions::answer(const CmSeen& message) {
    const auto asked = all_.find({message.to, message.from, message.remote_id});
    if (asked == all_.end())
        return;
    for (auto& [kind, question] : asked->second) {
        if (message.attribute == wire::CmAttribute::MsgRcptAck)
            question.receipt = question.receipt == nullptr ? &message : question.receipt;
        else
            question.has_answer = true;
        if (agrees(message))
            question.accepted = &message;
    }
}

const CmQuestion* CmQuestions::question_of(const CmSeen& answer) const {
    const auto asked = all_.find({answer.to, answer.from, answer.remote_id});
    return asked == all_.end() || asked->second.empty() ? nullptr : &asked->second.begin()->second;
}

std::size_t CmQuestions::requests_to(const flow::Host& host, std::uint64_t frame) const {
    const auto found = asked_.find(host);
    return found == asked_.end()
               ? 0
               : static_cast<std::size_t>(std::ranges::lower_bound(found->second, frame) -
                                          found->second.begin());
}

}  // namespace explain
