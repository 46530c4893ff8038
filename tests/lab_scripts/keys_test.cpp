// Which of the secrets that programs log the lab stores: lab/lib/keys.sh.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "runlog/event.hpp"
#include "support/process.hpp"
#include "support/temp_path.hpp"

namespace {

namespace fs = std::filesystem;

class TlsKeys : public testing::Test {
  protected:
    TlsKeys() {
        fs::create_directories(path_);
        for (const char* role : {"server", "client"})
            std::ofstream(path_ / (std::string(role) + ".jsonl")) << "";
    }

    void log(const std::string& role, const std::string& event, const std::string& line) const {
        std::ofstream(path_ / (role + ".jsonl"), std::ios::app)
            << runlog::to_json({1, role, event, {{"line", line}}}) << '\n';
    }
    void keep() const {
        const auto outcome = support::run(
            {"bash", "-c",
             "set -euo pipefail; . lab/lib/common.sh; . lab/lib/keys.sh; RUN_DIR=$1; keep_keys",
             "-", path_.string()});
        EXPECT_EQ(outcome.all(), "exit 0\n");
    }
    std::string kept() const {
        std::ostringstream text;
        text << std::ifstream(path_ / "tls-keys.log").rdbuf();
        return text.str();
    }

    support::TempPath temp_{"tls_keys"};
    fs::path path_ = temp_.str();
};

TEST_F(TlsKeys, are_each_line_of_both_logs_once_and_for_the_owner_alone) {
    log("client", "tls_secret", "CLIENT_TRAFFIC_SECRET_0 aa 01");
    log("client", "tls_secret", "SERVER_TRAFFIC_SECRET_0 aa 02");
    log("client", "note", "CLIENT_TRAFFIC_SECRET_0 aa 03");
    log("server", "tls_secret", "CLIENT_TRAFFIC_SECRET_0 aa 01");
    log("server", "tls_secret", "EXPORTER_SECRET aa 04");
    std::ofstream(path_ / "server.jsonl", std::ios::app)
        << "[1]\nno JSON\n{\"event\":\"tls_secret\",\"line\":7}\n{\"event\":\"tls_sec";
    keep();
    EXPECT_EQ(kept(),
              "CLIENT_TRAFFIC_SECRET_0 aa 01\nEXPORTER_SECRET aa 04\n"
              "SERVER_TRAFFIC_SECRET_0 aa 02\n");
    EXPECT_EQ(fs::status(path_ / "tls-keys.log").permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(TlsKeys, make_no_file_where_there_are_none) {
    log("client", "note", "hello");
    keep();
    EXPECT_FALSE(fs::exists(path_ / "tls-keys.log"));
    EXPECT_FALSE(fs::exists(path_ / "tls-keys.log.new"));
}

}  // namespace
