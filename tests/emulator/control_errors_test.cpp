// Requests to the link emulator that fail, at either end.
#include <poll.h>
#include <sys/socket.h>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "emulator/control.hpp"
#include "emulator/unix_socket.hpp"
#include "support/error_text.hpp"
#include "support/temp_path.hpp"

namespace control_errors_test {

using nlohmann::json;

TEST(Control, without_a_link_emulator_the_path_is_named) {
    const support::TempPath path("control");
    EXPECT_EQ(support::error_text([&] { emulator::ask(path.str(), "{}"); }),
              "no link emulator responds at " + path.str() + ": nothing listens there");
}

// Accepts one connection, reads the request if asked to, and responds with `answer`.
class Responder {
  public:
    Responder(std::string answer, bool closes)
        : thread_([this, answer = std::move(answer), closes] {
              pollfd ready{listener_.get(), POLLIN, 0};
              EXPECT_EQ(poll(&ready, 1, 5000), 1);
              const util::Fd client(accept(listener_.get(), nullptr, nullptr));
              std::array<char, 100> request{};
              const ssize_t got = recv(client.get(), request.data(), request.size(), 0);
              request_.assign(request.data(), static_cast<std::size_t>(got));
              EXPECT_EQ(::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL),
                        static_cast<ssize_t>(answer.size()));
              if (!closes) {
                  ready = {client.get(), POLLIN, 0};
                  EXPECT_EQ(poll(&ready, 1, 5000), 1);
              }
          }) {}
    ~Responder() { join(); }
    Responder(const Responder&) = delete;
    Responder& operator=(const Responder&) = delete;
    Responder(Responder&&) = delete;
    Responder& operator=(Responder&&) = delete;

    void join() {
        if (thread_.joinable())
            thread_.join();
    }
    std::string path() const { return path_.str(); }
    const std::string& request() const { return request_; }

  private:
    support::TempPath path_{"responder"};
    util::Fd listener_ = emulator::listen_unix(path_.str());
    std::string request_;
    std::thread thread_;
};

TEST(Control, an_answer_ends_with_its_line_feed) {
    Responder responder("{\"ok\":true}\n", false);
    EXPECT_EQ(emulator::ask(responder.path(), "{}"), "{\"ok\":true}\n");
    responder.join();
    EXPECT_EQ(responder.request(), "{}\n");
}

TEST(Control, a_connection_that_closes_early_is_an_error) {
    const Responder responder("{\"ok\":", true);
    EXPECT_EQ(support::error_text([&] { emulator::ask(responder.path(), "{}"); }),
              "no link emulator responds at " + responder.path() + ": it closed the connection");
}

TEST(Control, no_answer_within_two_seconds_is_an_error) {
    const Responder responder("", false);
    const auto begin = util::Clock::now();
    EXPECT_EQ(
        support::error_text([&] { emulator::ask(responder.path(), "{}"); }),
        "no link emulator responds at " + responder.path() + ": it did not respond within 2 s");
    EXPECT_GE(util::Clock::now() - begin, std::chrono::milliseconds(1990));
}

class ControlAnswer : public testing::Test {
  protected:
    ControlAnswer() {
        std::vector<emulator::Port> ports;
        ports.emplace_back("h1", path_.str() + "1");
        ports.emplace_back("h2", path_.str() + "2");
        link_ = std::make_unique<emulator::Switch>(std::move(ports), [](const std::string&) {});
        control_ = std::make_unique<emulator::Control>(path_.str(), *link_);
    }
    json answer(const std::string& request) {
        const std::string line = control_->answer(request);
        EXPECT_TRUE(line.ends_with('\n'));
        return json::parse(line);
    }

    support::TempPath path_{"answer"};
    std::unique_ptr<emulator::Switch> link_;
    std::unique_ptr<emulator::Control> control_;
};

TEST_F(ControlAnswer, each_command_does_what_it_says) {
    const json added = answer(R"({"do":"add","rules":["drop the 1st packet","drop frames"]})");
    EXPECT_EQ(added, json::parse(R"({"ok":true,"added":[1,2]})"));
    const json before = answer(R"({"do":"status"})");
    EXPECT_EQ(before["ok"], true);
    EXPECT_EQ(before["held"], 0);
    EXPECT_EQ(before["recording"], json());
    EXPECT_EQ(before["recorded"], 0);
    EXPECT_EQ(before["hosts"], json::parse(R"([
        {"name":"h1","address":")" + path_.str() +
                                           R"(1","connected":false,"frames_in":0,
         "bytes_in":0,"frames_out":0,"bytes_out":0,"waiting":0,"undelivered":0,"too_short":0,"recorded_packets":0},
        {"name":"h2","address":")" + path_.str() +
                                           R"(2","connected":false,"frames_in":0,
         "bytes_in":0,"frames_out":0,"bytes_out":0,"waiting":0,"undelivered":0,"too_short":0,"recorded_packets":0}])"));
    EXPECT_EQ(before["rules"], json::parse(R"([
        {"rule":1,"text":"drop the 1st packet","seen":0,"taken":0},
        {"rule":2,"text":"drop frames","seen":0,"taken":0}])"));
    EXPECT_EQ(answer(R"({"do":"remove","rule":1})"), json::parse(R"({"ok":true})"));
    EXPECT_EQ(answer(R"({"do":"status"})")["rules"].size(), 1U);
    EXPECT_EQ(answer(R"({"do":"remove","rule":1})"),
              json::parse(R"({"ok":false,"error":"there is no rule 1"})"));
    EXPECT_EQ(answer(R"({"do":"restart"})"), json::parse(R"({"ok":true})"));
    EXPECT_EQ(answer(R"({"do":"clear"})"), json::parse(R"({"ok":true})"));
    EXPECT_EQ(answer(R"({"do":"status"})")["rules"].size(), 0U);
}

TEST_F(ControlAnswer, a_request_that_is_not_valid_is_refused) {
    EXPECT_EQ(answer(R"({"do":"dance"})"), json::parse(R"({"ok":false,
                              "error":"'dance' is not a command of the link emulator"})"));
    for (const char* request : {"", "{", "{}", R"({"do":1})", R"({"do":"remove"})"}) {
        const json refused = answer(request);
        EXPECT_EQ(refused["ok"], false);
        EXPECT_TRUE(refused["error"].get<std::string>().starts_with("the request is not valid: "))
            << refused;
        EXPECT_FALSE(refused.contains("marked"));
    }
}

TEST_F(ControlAnswer, a_rule_with_an_error_is_marked_and_none_is_added) {
    const json refused = answer(R"({"do":"add","rules":["drop the 1st packet","dropp"]})");
    EXPECT_EQ(refused["ok"], false);
    EXPECT_NE(refused["marked"].get<std::string>().find("dropp"), std::string::npos) << refused;
    EXPECT_NE(refused["marked"].get<std::string>().find("^"), std::string::npos) << refused;
    EXPECT_EQ(answer(R"({"do":"status"})")["rules"].size(), 0U);
}

}  // namespace control_errors_test
