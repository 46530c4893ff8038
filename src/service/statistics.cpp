#include "service/statistics.hpp"

#include <numeric>

namespace service {

void Statistics::connected() {
    ++total_;
    if (++clients_ > most_) {
        most_ = clients_;
        memory_at_most_ = util::resident_memory();
    }
}

void Statistics::lost(runlog::Log& log, Loss loss, const util::Address& peer,
                      const std::string& text, std::uint64_t client) {
    constexpr std::uint64_t most_in_log = 10;
    const auto i = static_cast<std::size_t>(loss);
    ++lost_[i];
    if (++in_log_[i] > most_in_log)
        return;
    runlog::Fields fields{{"peer", peer.text()}, {"loss", name_of(loss)}, {"text", text}};
    if (client > 0)
        fields.emplace_back("client", client);
    log.event("lost", std::move(fields));
}

void Statistics::write(runlog::Log& log) {
    in_log_ = {};
    runlog::Fields fields{{"clients", clients_},
                          {"most", most_},
                          {"total", total_},
                          {"refused", refused},
                          {"lost", std::accumulate(lost_.begin(), lost_.end(), std::uint64_t{0})}};
    for (std::size_t i = 0; i < losses; ++i)
        fields.emplace_back("lost_" + std::string(name_of(static_cast<Loss>(i))), lost_[i]);
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
