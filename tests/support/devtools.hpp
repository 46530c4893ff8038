// One headless chromium, controlled over its DevTools pipe: JSON messages that end in NUL, on its
// descriptors 3 and 4. https://chromedevtools.github.io/devtools-protocol/
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

/// The running program and its pipe. The destructor ends the program and all its children; if this
/// process dies first, the kernel kills the program.
///
/// A session is one attached page or worker; "" is the browser itself. All functions that wait have
/// a time limit, and throw std::runtime_error with a description of what they waited for.
class DevTools {
  public:
    using Json = nlohmann::json;
    using Listener = std::function<void(const Json& event)>;
    using Limit = std::chrono::milliseconds;

    /// `log`: a file for the program's standard output and error. If the program ends unexpectedly,
    /// the error message includes the end of the file.
    DevTools(const Argv& argv, const Argv& environment, std::string log);
    ~DevTools();
    DevTools(const DevTools&) = delete;
    DevTools& operator=(const DevTools&) = delete;
    DevTools(DevTools&&) = delete;
    DevTools& operator=(DevTools&&) = delete;

    pid_t pid() const { return pid_; }

    /// Sends a command and returns its result; throws if the command is rejected. Events that
    /// arrive before the reply go to their listeners.
    Json call(const std::string& session, const std::string& method,
              const Json& params = Json::object(), Limit limit = time_limit);

    /// Sends a command without waiting for its reply. A listener may call only this function.
    void post(const std::string& session, const std::string& method,
              const Json& params = Json::object());

    /// Sets the listener for the session's events; an empty listener removes it.
    void listen(const std::string& session, Listener listener);

    /// Hands events to their listeners until `done`.
    void await(const std::function<bool()>& done, const std::string& what,
               Limit limit = time_limit);

    /// Generous: the operations take milliseconds, but the machine may be busy.
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
    std::string in_;          // received bytes of an incomplete message
    std::size_t looked_ = 0;  // length of its start without a NUL
    int last_id_ = 0;
    std::map<std::string, Listener> listeners_;
};

}  // namespace support
