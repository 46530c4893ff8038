#include "service/statistics.hpp"

#include <numeric>

namespace service {

void Statistics::connected(const PhaseTimes& times) {
    setup_.add(times);
    ++total_;
    if (++clients_ > most_) {
        most_ = clients_;
        memory_at_most_ = util::resident_memory();
    }
}

void Statistics::write(runlog::Log& log) const {
    runlog::Fields fields{{"clients", clients_},
                          {"most", most_},
                          {"total", total_},
                          {"refused", refused},
                          {"lost", std::accumulate(lost.begin(), lost.end(), std::uint64_t{0})}};
    for (std::size_t i = 0; i < losses; ++i)
        fields.emplace_back("lost_" + std::string(name_of(static_cast<Loss>(i))), lost[i]);
    fields.insert(fields.end(), {{"errors", errors},
                                 {"sends", sends.operations},
                                 {"send_bytes", sends.bytes},
                                 {"told_writes", writes.operations},
                                 {"told_write_bytes", writes.bytes},
                                 {"told_reads", reads.operations},
                                 {"told_read_bytes", reads.bytes},
                                 {"memory", util::resident_memory()}});
    if (most_ > 0 && memory_at_most_ >= memory_before_)
        fields.emplace_back("memory_a_client", (memory_at_most_ - memory_before_) / most_);
    log.event("stats", std::move(fields));
    log.event("setup", setup_.describe());
}

}  // namespace service
