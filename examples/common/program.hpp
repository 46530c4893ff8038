// What main() of every lesson has in common: the options, the run log, stopping on SIGINT and
// SIGTERM, and errors as one sentence with an exit code.
//
// Exit codes: 0 success (a server: stopped by a signal), 1 the run failed, 2 invalid command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "examples/common/secure.hpp"
#include "runlog/log.hpp"
#include "util/address.hpp"
#include "util/stop_signal.hpp"

namespace common {

/// How a lesson selects its local address: by the address, or by device (and GID index).
struct LocalEnd {
    std::string address;                     // --bind or --source; empty: not given
    std::string device;                      // --device; empty: not given
    std::optional<std::uint32_t> gid_index;  // --gid-index

    /// Returns the address to bind to; nullopt if the user selected none. `ipv6`: the family to
    /// prefer if the device has both. Throws util::Error if the address, device or GID does not
    /// exist.
    std::optional<util::Address> resolve(std::uint16_t port, bool ipv6) const;
};

struct ServerOptions {
    LocalEnd local;
    std::uint16_t port = 18515;

    /// The address to listen on: the selected one, IPv4 if it has both families; by default any
    /// address. Throws like LocalEnd::resolve().
    util::Address address() const {
        return local.resolve(port, false).value_or(util::Address::any(port));
    }
};

struct ClientOptions {
    std::string server;
    std::uint16_t port = 18515;
    LocalEnd local;
    std::chrono::milliseconds timeout{5000};

    /// Returns the server's address. Throws util::Error.
    util::Address resolve_server() const { return util::Address::resolve(server, port, timeout); }
};

/// Prints an exception as main() does: as one sentence on standard error.
void print_failure(std::string_view role, const std::exception& error);

/// Sleeps for a millisecond. Returns false if the deadline has passed or a stop was requested.
bool nap(util::StopSignal& stop, util::Deadline deadline);

/// The command line of a lesson. Only program.cpp includes CLI11, which adds eight seconds to a
/// translation unit.
class CommandLine {
  public:
    CommandLine(std::string role, const std::string& about);
    ~CommandLine();
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;
    CommandLine(CommandLine&&) = delete;
    CommandLine& operator=(CommandLine&&) = delete;

    /// The server's address as the first argument.
    void server(std::string& value);
    void add(ServerOptions& options);
    void add(ClientOptions& options);
    void add(SecureOptions& options);
    void flag(const std::string& name, bool& value, const std::string& help);
    void number(const std::string& flag, std::uint64_t& value, std::uint64_t least,
                std::uint64_t most, const std::string& help);
    /// Bytes: a number with an optional unit, "64MiB" or "1g" (powers of 1024).
    void size(const std::string& flag, std::uint64_t& value, std::uint64_t least,
              std::uint64_t most, const std::string& help);
    /// Bytes: one of the five path MTUs of verbs.
    void path_mtu(std::uint64_t& value, const std::string& help);
    void text(const std::string& flag, std::string& value, const std::string& help);

    using Run = std::function<int(runlog::Log&, util::StopSignal&)>;

    /// Parses, opens the run log, calls `run`, and prints an exception as a sentence on standard
    /// error.
    int main(int argc, char** argv, const Run& run);
    /// The same for programs that write no run log and leave the signals as they are.
    int main_without_log(int argc, char** argv, const std::function<void()>& run);

  private:
    std::optional<int> parse(int argc, char** argv);
    void complain(std::string_view text) const;
    void add_local(LocalEnd& local, const std::string& flag, const std::string& help);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace common
