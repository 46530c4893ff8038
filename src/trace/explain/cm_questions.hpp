// What the ends asked of each other with the connection manager's messages, and which answers the capture has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "trace/explain/traffic.hpp"

namespace explain {

/// A message that wants an answer, with its copies.
struct CmQuestion {
    const CmSeen* first = nullptr;
    const CmSeen* last = nullptr;
    std::size_t copies = 0;
    /// MsgRcptAck: the kernel acknowledges receipt; the program may not accept it.
    const CmSeen* receipt = nullptr;
    const CmSeen* accepted = nullptr;  ///< the last answer that agrees
    bool has_answer = false;
    bool was_accepted_before = false;  ///< when it was sent again

    /// The responder agreed, and the requester asked again and got no other answer.
    bool is_acceptance_lost() const { return accepted != nullptr && last->frame > accepted->frame; }
};

class CmQuestions {
  public:
    /// `messages`: in the order of their frames; they must outlive it.
    explicit CmQuestions(const std::vector<CmSeen>& messages);

    /// nullptr: the capture does not have it.
    const CmQuestion* question_of(const CmSeen& answer) const;
    /// How many connections `host` was asked for before this frame.
    std::size_t requests_to(const flow::Host& host, std::uint64_t frame = UINT64_MAX) const;

    /// Identifies what one end sent with one of its communication IDs.
    using Id = std::tuple<flow::Host, flow::Host, std::uint32_t>;  // from, to
    const std::map<Id, std::map<wire::CmAttribute, CmQuestion>>& all() const { return all_; }

  private:
    void ask(const CmSeen& message);
    void answer(const CmSeen& message);

    std::map<Id, std::map<wire::CmAttribute, CmQuestion>> all_;
    // The first frames of ConnectRequests, by the host that they are for, ascending.
    std::map<flow::Host, std::vector<std::uint64_t>> asked_;
};

}  // namespace explain
