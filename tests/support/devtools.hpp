// One chromium without a window, spoken to over its DevTools pipe: JSON messages that end in NUL,
// on its descriptors 3 and 4. https://chromedevtools.github.io/devtools-protocol/
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <sys/types.h>

#include <nlohmann/json.hpp>

#include "support/process.hpp"
#include "util/fd.hpp"

namespace support {

/// The running program and its pipe. The program ends with it, and all that the program started;
/// where this process dies first, the kernel kills the program.
///
/// A session is one attached page or worker; "" is the browser itself. Whatever waits has a limit,
/// and throws std::runtime_error that says what was waited for.
class DevTools {
  public:
    using Json = nlohmann::json;
    using Listener = std::function<void(const Json& event)>;
    using Limit = std::chrono::milliseconds;

    /// `log`: a file for what the program writes to its standard output and error; the end of it
    /// becomes a part of the sentence where the program ends unasked.
    DevTools(const Argv& argv, const Argv& environment, std::string log);
    ~DevTools();
    DevTools(const DevTools&) = delete;
    DevTools& operator=(const DevTools&) = delete;
    DevTools(DevTools&&) = delete;
    DevTools& operator=(DevTools&&) = delete;

    pid_t pid() const { return pid_; }

    /// Sends a command and returns its result; a refused one throws. Events that come before the
    /// answer go to their listeners.
    Json call(const std::string& session, const std::string& method,
              const Json& params = Json::object(), Limit limit = time_limit);

    /// Sends a command whose answer nobody waits for: the one thing that a listener may send.
    void post(const std::string& session, const std::string& method,
              const Json& params = Json::object());

    /// Whoever has the session's events from now on; an empty listener has none.
    void listen(const std::string& session, Listener listener);

    /// Hands events to their listeners until `done`.
    void await(const std::function<bool()>& done, const std::string& what,
               Limit limit = time_limit);

    /// For what takes milliseconds, on a machine that is busy with other things.
    static constexpr Limit time_limit = std::chrono::seconds(30);

  private:
    struct Wait;

    int send(const std::string& session, const std::string& method, const Json& params);
    Json receive(const Wait& wait);
    void poll_for(short events, const Wait& wait) const;
    void dispatch(const Json& message);
    std::string ended(const std::string& what) const;

    std::string log_;
    pid_t pid_ = -1;
    util::Fd pipe_;
    std::string in_;          // received, and not a whole message yet
    std::size_t looked_ = 0;  // of it, where there is no NUL
    int last_id_ = 0;
    std::map<std::string, Listener> listeners_;
};

}  // namespace support
