// The slots in use, as seen by each side. A slot is the client's credit: the client writes a batch
// only into a free slot, and the batch's result frees it.
#pragma once

#include <optional>
#include <vector>

#include <fmt/format.h>

#include "protocol.hpp"

namespace lesson25 {

/// The client's view. Ids count from 0; the slot is id modulo depth.
class ClientSlots {
  public:
    explicit ClientSlots(const Shape& shape) : shape_(shape), in_use_(shape.depth) {}

    bool has_free() const { return !in_use_[shape_.slot_of(next_)]; }
    std::size_t outstanding() const { return outstanding_; }

    /// Returns the next batch's id and marks its slot as used. Throws util::Error if it is not
    /// free.
    std::uint32_t take() {
        if (!has_free())
            throw util::Error(fmt::format("slot {} is still in use by batch {}.",
                                          shape_.slot_of(next_), *in_use_[shape_.slot_of(next_)]));
        in_use_[shape_.slot_of(next_)] = next_;
        ++outstanding_;
        return next_++;
    }

    /// Frees the slot of this batch. Throws util::Error if no result was expected.
    void free(std::uint32_t id) {
        if (in_use_[shape_.slot_of(id)] != id)
            throw util::Error(fmt::format(
                "the server sends a result of batch {}, which is not outstanding.", id));
        in_use_[shape_.slot_of(id)].reset();
        --outstanding_;
    }

  private:
    Shape shape_;
    std::vector<std::optional<std::uint32_t>> in_use_;  // batch id by slot
    std::uint32_t next_ = 0;
    std::size_t outstanding_ = 0;
};

/// The server's view: what a client may send next.
class ServerSlots {
  public:
    explicit ServerSlots(const Shape& shape) : shape_(shape) {}

    std::uint32_t unanswered() const { return next_ - answered_; }

    /// Handles a notice with this immediate data and byte_len, which wrote `header`. Throws
    /// util::Error unless they are those of the next batch.
    void take(std::uint32_t id, std::uint32_t byte_len, const Header& header) {
        if (id != next_)
            throw util::Error(
                fmt::format("a notification of batch {}, but batch {} is expected.", id, next_));
        if (unanswered() == shape_.depth)
            throw util::Error(fmt::format("batch {} arrived in slot {}, which is in use.", id,
                                          shape_.slot_of(id)));
        if (byte_len != Header::size)
            throw util::Error(
                fmt::format("the notification of batch {} has {} B, but a header has {} B.", id,
                            byte_len, Header::size));
        if (header.id != id)
            throw util::Error(
                fmt::format("the notification of batch {} has the header of {}.", id, header.id));
        if (header.requests == 0 || header.requests > shape_.batch)
            throw util::Error(
                fmt::format("batch {} claims {} requests, but a slot has room for 1 to {}.", id,
                            header.requests, shape_.batch));
        ++next_;
    }

    void answer() { ++answered_; }

  private:
    Shape shape_;
    std::uint32_t next_ = 0;
    std::uint32_t answered_ = 0;
};

}  // namespace lesson25
