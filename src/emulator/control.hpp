// How a running link emulator is controlled: a Unix socket that takes one request a connection, a JSON
// object on one line, and answers with one.
//
//   {"do":"status"}                                 {"ok":true, "hosts":[...], "rules":[...], "recording":...}
//   {"do":"add","rules":["drop ...", ...]}          {"ok":true, "added":[3, 4]}: all of them, or none
//   {"do":"remove","rule":3}                        {"ok":true}
//   {"do":"clear"}                                  {"ok":true}: without any rule
//   {"do":"restart"}                                {"ok":true}: all rules count from 1 again
//   {"do":"record","capture":"FILE","log":"FILE"}   {"ok":true}: the rules count from 1 again
//   {"do":"stop"}                                   {"ok":true, "frames":123}
//
// What cannot be done: {"ok":false, "error":"sentence", "marked":"two lines for a terminal"}.
#pragma once

#include <string>
#include <unordered_map>

#include "emulator/switch.hpp"
#include "util/fd.hpp"

namespace emulator {

class Control {
  public:
    /// Listens at `path`; a socket that nobody listens at any more is replaced. Throws util::Error.
    Control(std::string path, Switch& cable);
    ~Control();
    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;
    Control(Control&&) = delete;
    Control& operator=(Control&&) = delete;

    /// The answer to a request: one line each, with its line feed in the answer.
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
    Switch& cable_;
    util::Fd listener_;
    std::unordered_map<int, Client> clients_;
};

/// Sends a request to the link emulator at `path`, and returns its answer's line. Throws util::Error where
/// nobody answers within two seconds.
std::string ask(const std::string& path, const std::string& request);

}  // namespace emulator
