// A page in the harness can open only its own file, and its attempts to use the network are
// recorded.
#include <algorithm>
#include <cerrno>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <vector>

#include <gtest/gtest.h>

#include "browser/browser_fixture.hpp"
#include "util/check.hpp"
#include "util/fd.hpp"

namespace {

using browser_test::contains;

class Network : public browser_test::BrowserTest {};

bool asked_for(support::Page& page, const std::string& url) {
    return std::ranges::count(page.requests(), url) > 0;
}

// A server that any connection to its port would reach.
class Listener {
  public:
    Listener() {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* raw = reinterpret_cast<sockaddr*>(&address);
        socklen_t size = sizeof address;
        CHECK_ERRNO(bind(fd_.get(), raw, size));
        CHECK_ERRNO(listen(fd_.get(), 1));
        CHECK_ERRNO(getsockname(fd_.get(), raw, &size));
        port = std::to_string(ntohs(address.sin_port));
    }

    bool has_a_caller() const {
        return accept(fd_.get(), nullptr, nullptr) >= 0 || errno != EAGAIN;
    }

    std::string port;

  private:
    util::Fd fd_{CHECK_ERRNO(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0))};
};

std::string outcome_of_fetch(const std::string& url) {
    return "fetch('" + url +
           "', {mode: 'no-cors'}).then(() => 'arrived', (error) => error.message)";
}

TEST_F(Network, a_fetch_is_recorded_and_fails) {
    auto page = this->page("");
    EXPECT_EQ(page.evaluate(outcome_of_fetch("http://192.0.2.1/data")), "Failed to fetch");
    EXPECT_TRUE(asked_for(page, "http://192.0.2.1/data"));
    ASSERT_EQ(page.errors().size(), 1U);
    EXPECT_TRUE(contains(page.errors().front(), "net::ERR_"));
    EXPECT_TRUE(contains(page.errors().front(), "(http://192.0.2.1/data)"));
}

TEST_F(Network, what_the_markup_names_is_recorded_and_fails) {
    auto page = this->page(
        "<link rel=stylesheet href=https://fonts.example/css><img src=http://192.0.2.1/dot.png "
        "onerror='window.failed = true'><iframe src=http://192.0.2.2/frame></iframe>"
        "<script src=//cdn.example/lib.js></script>");
    page.wait_until("window.failed");
    EXPECT_TRUE(asked_for(page, "https://fonts.example/css"));
    EXPECT_TRUE(asked_for(page, "http://192.0.2.1/dot.png"));
    EXPECT_TRUE(asked_for(page, "http://192.0.2.2/frame"));
}

TEST_F(Network, not_even_this_machine_is_reached) {
    const Listener server;
    auto page = this->page("");
    for (const char* host : {"127.0.0.1", "localhost"}) {
        const std::string place = std::string(host) + ":" + server.port + "/";
        EXPECT_EQ(page.evaluate(outcome_of_fetch("http://" + place)), "Failed to fetch");
        EXPECT_EQ(
            page.evaluate("new Promise((done) => { const socket = new WebSocket('ws://" + place +
                          "'); socket.onopen = () => done('arrived'); "
                          "socket.onerror = () => done('failed') })"),
            "failed");
        EXPECT_TRUE(asked_for(page, "http://" + place));
        EXPECT_TRUE(asked_for(page, "ws://" + place));
    }
    EXPECT_FALSE(server.has_a_caller());
}

TEST_F(Network, what_a_worker_asks_for_is_recorded_and_fails) {
    auto page = this->page("");
    EXPECT_EQ(
        page.evaluate("new Promise((done) => { const code = `" +
                      outcome_of_fetch("http://192.0.2.1/worker") +
                      ".then(postMessage)`; const worker = new Worker(URL.createObjectURL("
                      "new Blob([code]))); worker.onmessage = (event) => done(event.data) })"),
        "Failed to fetch");
    EXPECT_TRUE(asked_for(page, "http://192.0.2.1/worker"));
}

TEST_F(Network, a_link_to_elsewhere_is_recorded) {
    auto page = this->page("<a href=http://192.0.2.1/manual target=_blank>Manual</a>");
    page.click("a");
    EXPECT_TRUE(asked_for(page, "http://192.0.2.1/manual"));
}

}  // namespace
