// Control interface of a running link emulator: a Unix socket. Each connection carries one request,
// a JSON object on one line, and one response.
//
//   {"do":"status"}                                 {"ok":true, "hosts":[...], "rules":[...], ...}
//   {"do":"add","rules":["drop ...", ...]}          {"ok":true, "added":[3, 4]}: all rules, or none
//   {"do":"remove","rule":3}                        {"ok":true}
//   {"do":"clear"}                                  {"ok":true}: removes all rules
//   {"do":"restart"}                                {"ok":true}: all rules count from 1 again
//   {"do":"record","capture":"FILE","log":"FILE"}   {"ok":true}: the rules count from 1 again
//   {"do":"stop"}                                   {"ok":true, "frames":123}
//
// On failure: {"ok":false, "error":"sentence", "marked":"two lines for a terminal"}.
#pragma once

#include <string>
#include <unordered_map>

#include "emulator/switch.hpp"
#include "util/fd.hpp"

namespace emulator {

class Control {
  public:
    /// Listens at `path`. Replaces a stale socket file. Throws util::Error.
    Control(std::string path, Switch& link);
    ~Control();
    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;
    Control(Control&&) = delete;
    Control& operator=(Control&&) = delete;

    /// Returns the response to a request. Each is one line; the response ends with a line feed.
    std::string answer(const std::string& request);

  private:
    void accept();
    void read(int fd);
    void close(int fd);

    struct Client {
        util::Fd fd;
        std::string request;
    };

    std::string path_;
    Switch& link_;
    util::Fd listener_;
    std::unordered_map<int, Client> clients_;
};

/// Sends a request to the link emulator at `path` and returns the line of its response. Throws
/// util::Error if there is no response within two seconds.
std::string ask(const std::string& path, const std::string& request);

}  // namespace emulator
