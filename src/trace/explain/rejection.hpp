// Why an end did not accept a connection: the reason of the ConnectReject, and what the responder's log
// shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trace/explain/cause.hpp"
#include "trace/explain/logs.hpp"

namespace explain {

/// The reason with which a program refuses, and with which its kernel refuses for it.
inline constexpr std::uint16_t consumer_reject = 28;

/// "Consumer Reject (the program refused it)". `reason`: of a ConnectReject.
std::string rejection_text(std::uint16_t reason);
/// Empty: that of the code.
std::string advice_after_rejection(std::uint16_t reason);

/// What the programs that listen did with the requests of others, by the logs with the calls of
/// librdmacm.
class Listeners {
  public:
    /// `logs` must outlive it.
    explicit Listeners(const Logs& logs);

    /// Adds to the cause of a Consumer Reject what the role's log shows about it. `t_ns`: of the rejection.
    /// `requests`: ConnectRequests that it was sent.
    void add_refusal(const std::string& role, std::int64_t t_ns, std::size_t requests,
                     Cause& cause) const;
    /// The call of rdma_listen, if requests as many as its backlog were waiting for the program at
    /// `t_ns`: the kernel then drops a request without a response (seen with Linux 6.1 and 6.12).
    /// nullptr: unknown. `requests_before`: ConnectRequests that it was sent until then.
    const runlog::Event* full_backlog(const std::string& role, std::int64_t t_ns,
                                      std::size_t requests_before) const;

    /// The role that called rdma_listen, if one alone did; and how often others called rdma_connect.
    struct Alone {
        std::string role;
        std::size_t requests = 0;
    };
    std::optional<Alone> alone() const;

  private:
    struct Program {
        // The last of each.
        const runlog::Event* listens = nullptr;
        const runlog::Event* accept_failed = nullptr;
        const runlog::Event* rejects = nullptr;
        const runlog::Event* destroys = nullptr;  // the ID of a request that it had not accepted
        std::vector<std::int64_t> taken;          // times of CONNECT_REQUEST, ascending
        std::set<std::uint64_t> open;             // IDs of requests
        std::size_t connects = 0;                 // calls of rdma_connect
    };

    // What made a Consumer Reject.
    struct Refusal {
        std::string text;  // a sentence, with a space before it
        const runlog::Event* event = nullptr;
        std::string advice;  // empty: that of the reason
    };
    // nullopt: unknown.
    std::optional<Refusal> refusal_by(const std::string& role, std::int64_t t_ns,
                                      std::size_t requests) const;
    static void learn(Program& program, const runlog::Event& event);

    const Logs& logs_;
    std::map<std::string, Program> programs_;  // by role
};

}  // namespace explain
