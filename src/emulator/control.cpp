#include "emulator/control.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

#include "emulator/unix_socket.hpp"
#include "filter/where.hpp"
#include "util/json.hpp"

namespace emulator {
namespace {

using util::Json;

constexpr std::size_t longest_request = std::size_t{1} << 20U;
constexpr std::chrono::milliseconds answer_time{2000};

Json host_json(const Port& port, std::uint64_t recorded) {
    const PortCounters& counters = port.counters();
    return {{"name", port.name()},
            {"address", port.address()},
            {"connected", port.is_connected()},
            {"frames_in", counters.frames_in},
            {"bytes_in", counters.bytes_in},
            {"frames_out", counters.frames_out},
            {"bytes_out", counters.bytes_out},
            {"waiting", port.backlog()},
            {"undelivered", counters.undelivered},
            {"too_short", counters.too_short},
            {"recorded_packets", recorded}};
}

Json status(Switch& link) {
    Json answer{{"ok", true}, {"hosts", Json::array()}, {"rules", Json::array()}};
    for (std::size_t host = 0; host < link.ports().size(); ++host)
        answer["hosts"].push_back(
            host_json(link.ports()[host], link.recorder().packets().at(host)));
    for (const Stage::RuleState& state : link.stage().rules())
        answer["rules"].push_back({{"rule", state.number},
                                   {"text", state.rule.text},
                                   {"seen", state.seen},
                                   {"taken", state.taken}});
    answer["held"] = link.stage().held_bytes();
    answer["recording"] = link.recorder().is_recording() ? Json(link.recorder().path()) : Json();
    answer["recorded"] = link.recorder().frames();
    return answer;
}

Json add(Switch& link, const Json& request) {
    std::vector<Rule> rules;
    for (const Json& text : request.at("rules"))
        rules.push_back(parse_rule(text.get<std::string>(), link.stage().hosts()));
    Json added = Json::array();
    for (Rule& rule : rules)
        added.push_back(link.stage().add(std::move(rule)));
    return {{"ok", true}, {"added", added}};
}

Json carry_out(Switch& link, const Json& request) {
    const auto what = request.at("do").get<std::string>();
    if (what == "status")
        return status(link);
    if (what == "add")
        return add(link, request);
    if (what == "remove") {
        const auto number = request.at("rule").get<std::uint32_t>();
        if (!link.stage().remove(number))
            throw util::Error(fmt::format("there is no rule {}", number));
    } else if (what == "clear") {
        link.stage().clear();
    } else if (what == "restart") {
        link.stage().restart();
    } else if (what == "record") {
        link.recorder().start(request.at("capture").get<std::string>(),
                              request.value("log", std::string()));
        link.stage().restart();
    } else if (what == "stop") {
        return {{"ok", true}, {"frames", link.recorder().stop()}};
    } else {
        throw util::Error(fmt::format("'{}' is not a command of the link emulator", what));
    }
    return {{"ok", true}};
}

}  // namespace

Control::Control(std::string path, Switch& link)
    : path_(std::move(path)), link_(link), listener_(listen_unix(path_)) {
    link_.watch(listener_.get(), [this] { accept(); });
}

Control::~Control() {
    for (const auto& [fd, client] : clients_)
        link_.unwatch(fd);
    link_.unwatch(listener_.get());
    unlink(path_.c_str());
}

std::string Control::answer(const std::string& request) {
    Json answer;
    try {
        answer = carry_out(link_, Json::parse(request));
    } catch (const filter::SyntaxError& error) {
        answer = {{"ok", false}, {"error", error.what()}, {"marked", error.marked()}};
    } catch (const Json::exception& error) {
        answer = {{"ok", false},
                  {"error", fmt::format("the request is not valid: {}", error.what())}};
    } catch (const std::exception& error) {
        answer = {{"ok", false}, {"error", error.what()}};
    }
    return answer.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

void Control::accept() {
    util::Fd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd)
        return;
    const int number = fd.get();
    clients_.insert_or_assign(number, Client{std::move(fd), {}});
    link_.watch(number, [this, number] { read(number); });
}

void Control::read(int fd) {
    std::array<char, 4096> bytes{};
    const ssize_t got = recv(fd, bytes.data(), bytes.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    Client& client = clients_.at(fd);
    if (got <= 0 || client.request.size() > longest_request)
        return close(fd);
    client.request.append(bytes.data(), static_cast<std::size_t>(got));
    const std::size_t end = client.request.find('\n');
    if (end == std::string::npos)
        return;
    // The send does not block: a response larger than the socket's buffer is truncated.
    const std::string said = answer(client.request.substr(0, end));
    static_cast<void>(send(fd, said.data(), said.size(), MSG_NOSIGNAL));
    close(fd);
}

void Control::close(int fd) {
    link_.unwatch(fd);
    clients_.erase(fd);
}

std::string ask(const std::string& path, const std::string& request) {
    const auto nobody = [&path](const std::string& why) {
        return util::Error(fmt::format("no link emulator responds at {}: {}", path, why));
    };
    const util::Fd fd = connect_unix(path);
    if (!fd)
        throw nobody("nothing listens there");
    const std::string line = request + '\n';
    if (send(fd.get(), line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size()))
        throw nobody("it does not accept the request");
    std::string answer;
    const util::Deadline deadline = util::deadline_in(answer_time);
    while (!answer.ends_with('\n')) {
        pollfd ready{fd.get(), POLLIN, 0};
        if (poll(&ready, 1, util::poll_timeout(deadline)) <= 0)
            throw nobody("it did not respond within 2 s");
        std::array<char, 4096> bytes{};
        const ssize_t got = recv(fd.get(), bytes.data(), bytes.size(), 0);
        if (got <= 0)
            throw nobody("it closed the connection");
        answer.append(bytes.data(), static_cast<std::size_t>(got));
    }
    return answer;
}

}  // namespace emulator
