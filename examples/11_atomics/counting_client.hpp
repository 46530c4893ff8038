// One of step 11's clients: a connection of its own to the words that all share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "examples/common/cm_client.hpp"
#include "verbs/names.hpp"
#include "words.hpp"

namespace step11 {

/// How a contest for the maximum went for one client.
struct Contest {
    std::uint64_t swaps = 0;  // CMP_SWAPs, of which
    std::uint64_t lost = 0;   // so many found another value than the one known, and changed nothing
};

/// Every call that fails throws util::Error or std::system_error.
class CountingClient {
  public:
    /// Connects as the client with this number, from 1. `in_flight`: atomics posted at once; fewer
    /// may be on their way, if a device says so.
    CountingClient(std::uint64_t number, const common::ClientOptions& options,
                   std::size_t in_flight, runlog::Log& log, util::StopSignal& stop)
        : log_(log),
          number_(number),
          posted_(100 * number),  // so that a line of the log tells whose it is
          found_(in_flight),
          client_(options, static_cast<int>(in_flight), log, stop),
          found_mr_(verbs::register_memory(client_.pd(), std::as_writable_bytes(std::span(found_)),
                                           IBV_ACCESS_LOCAL_WRITE)) {
        ibv_context* context = client_.pd()->context;
        const ibv_device_attr device = ask_device(context);
        if (number == 1)
            log.event("atomics",
                      verbs::describe_atomics(ibv_get_device_name(context->device), device));
        client_.make_qp({.max_send_wr = static_cast<std::uint32_t>(in_flight),
                         .max_recv_wr = 1,
                         .max_send_sge = 1,
                         .max_recv_sge = 1,
                         .max_inline_data = 0});
        const auto key = static_cast<std::byte>(Key::WithAtomics);
        remote_ = client_.connect({&key, 1}, static_cast<std::uint8_t>(std::min<std::size_t>(
                                                 in_flight, device.max_qp_init_rd_atom)));
        log.event("rd_atomic", verbs::query_rd_atomic(client_.qp()));
    }

    std::uint64_t number() const { return number_; }

    /// So many FETCH_ADDs of 1, as many at once as may be. What each of them found.
    std::vector<std::uint64_t> count(std::uint64_t times) {
        std::vector<std::uint64_t> all;
        while (all.size() < times) {
            const auto batch = std::min<std::size_t>(found_.size(), times - all.size());
            for (std::size_t slot = 0; slot < batch; ++slot)
                fetch_add(offsetof(Words, counter), 1, slot);
            for (std::size_t slot = 0; slot < batch; ++slot) {  // they complete in this order
                all.push_back(take(IBV_WR_ATOMIC_FETCH_AND_ADD, slot));
                log_found(all.back());
            }
        }
        return all;
    }

    /// A lock-free maximum: where a swap fails, another one has succeeded, and its value is what
    /// this one finds. So somebody always gets on, and nobody waits for one that has died.
    void raise_maximum_to(std::uint64_t bid, Contest& contest) {
        while (known_maximum_ < bid) {
            compare_swap(offsetof(Words, maximum), known_maximum_, bid);
            const std::uint64_t found = take(IBV_WR_ATOMIC_CMP_AND_SWP, 0);
            const bool is_swapped = found == known_maximum_;
            log_found(found, is_swapped ? "swapped" : "not swapped");
            ++contest.swaps;
            contest.lost += !is_swapped;
            known_maximum_ = is_swapped ? bid : found;
        }
    }

    /// Reads a word by adding nothing to it: whole, and in this host's byte order, which a READ's
    /// bytes would not be in.
    std::uint64_t read(std::size_t at) {
        fetch_add(at, 0, 0);
        const std::uint64_t found = take(IBV_WR_ATOMIC_FETCH_AND_ADD, 0);
        log_found(found);
        return found;
    }

    void disconnect() { client_.disconnect(); }

  private:
    void fetch_add(std::size_t at, std::uint64_t add, std::size_t slot) {
        ibv_send_wr wr{};
        wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
        wr.wr.atomic.compare_add = add;
        post(wr, at, slot);
    }

    void compare_swap(std::size_t at, std::uint64_t compare, std::uint64_t swap) {
        ibv_send_wr wr{};
        wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
        wr.wr.atomic.compare_add = compare;
        wr.wr.atomic.swap = swap;
        post(wr, at, 0);
    }

    // What the word was before goes into a slot of this host's memory, in this host's byte order.
    void post(ibv_send_wr& wr, std::size_t at, std::size_t slot) {
        ibv_sge piece = common::piece_of(*found_mr_, slot * sizeof(found_[0]), sizeof(found_[0]));
        wr.wr_id = ++posted_;
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.sg_list = &piece;
        wr.num_sge = 1;
        wr.wr.atomic.remote_addr = remote_.va + at;
        wr.wr.atomic.rkey = remote_.rkey;
        client_.post_send(wr);
    }

    std::uint64_t take(ibv_wr_opcode opcode, std::size_t slot) {
        ++taken_;
        client_.expect_success(verbs::name_of(opcode));
        return found_[slot];
    }

    void log_found(std::uint64_t found, std::optional<std::string_view> result = {}) {
        runlog::Fields fields{
            {"qpn", client_.qp()->qp_num}, {"wr_id", taken_}, {"original", found}};
        if (result)
            fields.emplace_back("result", *result);
        log_.event("atomic", std::move(fields));
    }

    runlog::Log& log_;
    std::uint64_t number_;
    std::uint64_t posted_;              // the last wr_id
    std::uint64_t taken_ = posted_;     // completions come in the order of the posts
    std::vector<std::uint64_t> found_;  // a slot for each atomic on its way
    common::CmClient client_;
    verbs::Mr found_mr_;
    cm::Capability remote_;
    std::uint64_t known_maximum_ = 0;
};

}  // namespace step11
