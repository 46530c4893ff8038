#include "trace/flow/request_sequence.hpp"

#include <algorithm>
#include <array>

namespace flow {
namespace {

constexpr std::array<PathMtu, 5> path_mtus{largest_path_mtu, 2048, 1024, 512, 256};

// Maximum delay between two capture points. Requester timers are longer: the shortest in use, local
// ACK timeout 8, is 1 ms.
constexpr std::int64_t soon_ns = 1'000'000;
// Fewer duplicates are no pattern.
constexpr std::uint64_t least_doubled = 4;
// Limit of current adapters (max_qp_rd_atom).
constexpr std::uint32_t most_reads_in_flight = 16;

}  // namespace

void RequestSequence::expect(wire::Psn first) {
    started_ = true;
    start_ = next_ = first;
}

Novelty RequestSequence::add(wire::Psn psn, std::uint32_t psns, const Arrival& arrival) {
    if (read_is_open_)
        close_open_read(psn);
    return place(psn, psns, arrival);
}

void RequestSequence::add_unordered(wire::Psn psn) {
    if (packets_++ == 0)
        first_psn_ = psn;
    next_ = psn + 1;
}

Novelty RequestSequence::add_open_read(wire::Psn psn, std::optional<std::uint32_t> dmalen,
                                       const Arrival& arrival) {
    // Assume the minimum; settle_open_read() corrects it.
    const std::uint32_t least = dmalen ? read_psns(*dmalen, path_mtus.front()) : 1;
    const Novelty seen = add(psn, least, arrival);
    const bool is_open = !dmalen || read_psns(*dmalen, path_mtus.back()) != least;
    if (seen == Novelty::New && is_open) {
        read_is_open_ = true;
        dmalen_is_known_ = dmalen.has_value();
        dmalen_ = dmalen.value_or(0);
        read_psn_ = psn;
    }
    return seen;
}

Novelty RequestSequence::place(wire::Psn psn, std::uint32_t psns, const Arrival& arrival) {
    if (!started_)
        expect(psn);
    if (packets_++ == 0) {
        first_psn_ = psn;
        first_time_ = arrival.t_ns;
        // The requester does not begin with the PSN that was announced.
        if (psn.is_before(next_))
            expect(psn);
    }
    if (is_far(next_, psn, farthest_back()))
        leave(psn);
    const std::int32_t ahead = distance(next_, psn);
    if (ahead < 0)
        return behind(psn, psns, arrival);
    if (ahead != 0) {
        gaps_.note(next_, static_cast<std::uint32_t>(ahead));
        if (packets_ > 1)
            psns_ += static_cast<std::uint32_t>(ahead);
    }
    psns_before_newest_ = psns_;
    newest_time_ = arrival.t_ns;
    psns_ += psns;
    next_ = psn + psns;
    longest_read_ = std::max(longest_read_, psns);
    newest_.add({psn, arrival.ip_id}, arrival.t_ns, true);
    return Novelty::New;
}

// A retransmission may begin with a READ that used its PSNs long ago.
std::int32_t RequestSequence::farthest_back() const {
    constexpr std::uint32_t half_circle = 0x7fffff;
    const std::uint32_t reads =
        std::min(longest_read_, half_circle / most_reads_in_flight) * most_reads_in_flight;
    return static_cast<std::int32_t>(std::min(reads + longest_jump, half_circle));
}

Novelty RequestSequence::behind(wire::Psn psn, std::uint32_t psns, const Arrival& arrival) {
    if (gaps_.fill(psn, psns)) {
        ++late_;
        newest_.add({psn, arrival.ip_id}, arrival.t_ns, false);
        return Novelty::Late;
    }
    ++repeats_;
    if (arrival.t_ns - newest_time_ < soon_ns)
        ++soon_repeats_;
    if (newest_.has_copy_of({psn, arrival.ip_id}, arrival.t_ns))
        ++copies_;
    else
        newest_.add({psn, arrival.ip_id}, arrival.t_ns, false);
    return Novelty::Repeat;
}

// Goes back to the sequence before the current one if the PSN is in it, otherwise to a new one.
void RequestSequence::leave(wire::Psn psn) {
    const bool is_back = left_ && !is_far(left_->next, psn, farthest_back());
    const Left other = is_back ? *left_ : Left{psn, psn, {}};
    ++departures_;
    restarts_ += is_back ? 0 : 1;
    left_ = {start_, next_, gaps_.go_to(other.gaps)};
    start_ = other.start;
    next_ = other.next;
    read_is_open_ = false;
}

void RequestSequence::settle_open_read(std::uint32_t psns) {
    const auto assumed = static_cast<std::uint32_t>(distance(read_psn_, next_));
    psns_ += psns - assumed;
    next_ = read_psn_ + psns;
    longest_read_ = std::max(longest_read_, psns);
    read_is_open_ = false;
}

void RequestSequence::close_open_read(wire::Psn next_request) {
    const std::int32_t step = distance(read_psn_, next_request);
    if (step <= 0 || distance(next_, next_request) > longest_jump)
        return;
    const auto most = static_cast<std::uint32_t>(step);
    if (!dmalen_is_known_)
        return settle_open_read(most);
    // Of the possible numbers, take the one that leaves the fewest PSNs missing.
    const auto fits = [&](PathMtu path_mtu) { return read_psns(dmalen_, path_mtu) <= most; };
    const auto smallest = std::find_if(path_mtus.rbegin(), path_mtus.rend(), fits);
    if (smallest == path_mtus.rend())
        return;
    const std::uint32_t psns = read_psns(dmalen_, *smallest);
    const auto is_same = [&](PathMtu path_mtu) { return read_psns(dmalen_, path_mtu) == psns; };
    if (psns == most && std::ranges::count_if(path_mtus, is_same) == 1)
        learnt_path_mtu_ = *smallest;
    settle_open_read(psns);
}

void RequestSequence::end_open_read(wire::Psn last) {
    const std::int32_t psns = distance(read_psn_, last) + 1;
    const auto has_as_many = [&](PathMtu path_mtu) {
        return read_psns(dmalen_, path_mtu) == static_cast<std::uint32_t>(psns);
    };
    if (!read_is_open_ || psns <= 0 || psns > longest_jump ||
        (dmalen_is_known_ && std::ranges::none_of(path_mtus, has_as_many)))
        return;
    settle_open_read(static_cast<std::uint32_t>(psns));
}

void RequestSequence::learn(PathMtu path_mtu) {
    if (read_is_open_ && dmalen_is_known_)
        settle_open_read(read_psns(dmalen_, path_mtu));
}

bool RequestSequence::has_sent(wire::Psn psn) const {
    // A READ of unknown length may use PSNs beyond next_.
    const wire::Psn end =
        read_is_open_ ? read_psn_ + (dmalen_is_known_ ? read_psns(dmalen_, path_mtus.back())
                                                      : static_cast<std::uint32_t>(longest_jump))
                      : next_;
    return started_ && distance(psn, end) > 0;
}

double RequestSequence::psns_per_second() const {
    if (newest_time_ <= first_time_)
        return 0;
    return static_cast<double>(psns_before_newest_) * 1e9 /
           static_cast<double>(newest_time_ - first_time_);
}

// The capture may begin and end between two copies.
bool RequestSequence::is_doubled() const {
    constexpr std::uint64_t ends = 2;
    return soon_repeats_ >= least_doubled && soon_repeats_ == repeats_ &&
           packets_ - repeats_ * 2 <= ends;
}

}  // namespace flow
