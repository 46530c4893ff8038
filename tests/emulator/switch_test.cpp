#include "emulator/switch.hpp"

#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "capture/file_source.hpp"
#include "emulator/link_switch.hpp"
#include "support/error_text.hpp"

namespace switch_test {

using namespace link_switch;

TEST_F(LinkSwitch, forgets_a_client_that_leaves_without_a_request) {
    const auto open_files = [] {
        const std::filesystem::directory_iterator all("/proc/self/fd");
        return std::distance(begin(all), end(all));
    };
    const auto become = [&](std::ptrdiff_t count) {
        const auto deadline = util::Clock::now() + 5s;
        while (open_files() != count && util::Clock::now() < deadline)
            std::this_thread::yield();
        return open_files() == count;
    };
    const std::ptrdiff_t before = open_files();
    util::Fd end = connect_unix(dir_.str() + "/control");
    EXPECT_TRUE(become(before + 2));
    end.reset();
    EXPECT_TRUE(become(before));
}

TEST_F(LinkSwitch, floods_until_it_has_learned_where_a_host_is) {
    const Bytes to_two = host(0).frame(2, roce_frame(1));
    host(0).send(to_two);
    EXPECT_EQ(host(1).receive(), to_two);
    EXPECT_EQ(host(2).receive(), to_two);
    const Bytes answer = host(2).frame(0, roce_frame(2));
    host(2).send(answer);
    EXPECT_EQ(host(0).receive(), answer);
    host(0).send(to_two);
    EXPECT_EQ(host(2).receive(), to_two);
    const Bytes to_all = host(0).frame(255, arp_frame());
    host(0).send(to_all);
    EXPECT_EQ(host(1).receive(), to_all) << "of what was between others it has seen nothing";
    EXPECT_EQ(host(2).receive(), to_all);
}

TEST_F(LinkSwitch, keeps_the_order_and_every_byte) {
    host(1).send(host(1).frame(255, arp_frame()));
    host(0).receive();
    host(2).receive();
    constexpr std::uint32_t frames = 20'000;
    std::thread sender([&] {
        for (std::uint32_t psn = 0; psn < frames;)
            if (host(0).send(host(0).frame(1, roce_frame(psn))))
                ++psn;
    });
    for (std::uint32_t psn = 0; psn < frames; ++psn)
        ASSERT_EQ(psn_of(host(1).receive()), psn);
    sender.join();
    EXPECT_EQ(counter(0, "frames_in"), frames);
    EXPECT_EQ(counter(1, "frames_out"), frames);
}

TEST_F(LinkSwitch, takes_rules_while_it_runs_and_records_both_sides_of_them) {
    const std::string capture = dir_.str() + "/link.pcapng";
    const std::string log = dir_.str() + "/link.jsonl";
    EXPECT_EQ(ask({{"do", "add"},
                   {"rules", {"drop the 2nd packet from h0", "mark the 3rd packet"}}})["added"],
              (nlohmann::json{1, 2}));
    EXPECT_EQ(ask({{"do", "record"}, {"capture", capture}, {"log", log}})["ok"], true);
    for (const std::uint32_t psn : {1U, 2U, 3U})
        host(0).send(host(0).frame(255, roce_frame(psn)));
    EXPECT_EQ(psn_of(host(1).receive()), 1U);
    EXPECT_EQ(psn_of(host(1).receive()), 3U);
    EXPECT_EQ(ask({{"do", "stop"}})["frames"], 5);

    capture::FileSource source(capture);
    std::vector<std::pair<std::uint32_t, int>> packets;
    while (const auto frame = source.next()) {
        const auto packet = decoded(frame->bytes);
        packets.emplace_back(packet.bth->psn.value(), packet.ipv4->ecn());
    }
    const int ecn = packets.at(0).second;
    EXPECT_EQ(packets, (std::vector<std::pair<std::uint32_t, int>>{
                           {1, ecn}, {1, ecn}, {2, ecn}, {3, ecn}, {3, 3}}));
    std::ifstream lines(log);
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    const auto drop = nlohmann::json::parse(line);
    EXPECT_EQ(drop["role"], "link");
    EXPECT_EQ(drop["event"], "drop");
    EXPECT_EQ(drop["rule"], 1);
    EXPECT_EQ(drop["psn"], 2);
    EXPECT_EQ(drop["frame"], 3) << "of the file, from 1";
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_EQ(nlohmann::json::parse(line)["event"], "mark");
    EXPECT_FALSE(std::getline(lines, line));
}

TEST_F(LinkSwitch, counts_the_packets_that_a_capture_on_each_host_must_have) {
    ask({{"do", "add"}, {"rules", {"drop the 2nd packet", "duplicate 2 times the 3rd packet"}}});
    const auto counts = [&] {
        std::vector<std::uint64_t> found;
        for (unsigned number = 0; number < 3; ++number)
            found.push_back(counter(number, "recorded_packets"));
        return found;
    };
    ask({{"do", "record"}, {"capture", dir_.str() + "/link.pcapng"}});
    host(0).send(host(0).frame(255, roce_frame(1)));
    EXPECT_EQ(psn_of(host(1).receive()), 1U);
    EXPECT_EQ(counts(), (std::vector<std::uint64_t>{1, 0, 0}))
        << "a host may ignore what is to all";
    for (const Bytes& frame : {roce_frame(2), roce_frame(3), arp_frame()})
        host(1).send(host(1).frame(0, frame));
    for (int i = 0; i < 4; ++i)
        EXPECT_FALSE(host(0).receive().empty());
    EXPECT_EQ(counts(), (std::vector<std::uint64_t>{4, 2, 0}));
    ask({{"do", "record"}, {"capture", dir_.str() + "/link.pcapng"}});
    EXPECT_EQ(counts(), (std::vector<std::uint64_t>{0, 0, 0}));
}

TEST_F(LinkSwitch, logs_what_rules_do_later_with_the_frame_of_this_recording) {
    ask({{"do", "add"},
         {"rules", {"duplicate the 1st packet", "delay 60s packets", "drop the 1st packet"}}});
    const auto events_of = [](const std::string& log) {
        std::ifstream file(log);
        std::vector<nlohmann::json> events;
        for (std::string line; std::getline(file, line);)
            events.push_back(nlohmann::json::parse(line));
        return events;
    };
    const auto record = [&](const std::string& log, std::uint32_t psn) {
        ask({{"do", "record"}, {"capture", dir_.str() + "/link.pcapng"}, {"log", log}});
        host(0).send(host(0).frame(255, roce_frame(psn)));
        while (events_of(log).size() < 3)
            std::this_thread::yield();
    };
    record(dir_.str() + "/1.jsonl", 1);
    record(dir_.str() + "/2.jsonl", 2);
    stop();  // lets go what is held
    EXPECT_EQ(events_of(dir_.str() + "/1.jsonl").size(), 3U);
    const auto events = events_of(dir_.str() + "/2.jsonl");
    ASSERT_EQ(events.size(), 7U);
    for (std::size_t i = 0; i < events.size(); ++i) {
        const bool is_old = i == 3 || i == 4;
        EXPECT_EQ(events[i]["event"], i == 0 ? "duplicate" : i < 3 ? "delay" : "drop");
        EXPECT_EQ(events[i]["psn"], is_old ? 1 : 2);
        EXPECT_EQ(events[i].contains("frame"), !is_old) << "it is in the previous recording";
        EXPECT_EQ(events[i].value("frame", 1), 1);
        EXPECT_EQ(events[i].value("copy", 0), i == 2 || i == 4 || i == 6 ? 1 : 0);
    }
    EXPECT_LT(events[5]["t_ns"].get<std::int64_t>() - events[1]["t_ns"].get<std::int64_t>(),
              60'000'000'000)
        << "when it was done, not when it was due";
}

TEST_F(LinkSwitch, adds_all_rules_of_a_request_or_none) {
    const auto answer = ask({{"do", "add"}, {"rules", {"drop packets", "drop it"}}});
    EXPECT_EQ(answer["ok"], false);
    EXPECT_EQ(answer["marked"], "  drop it\n       ^~\n");
    EXPECT_TRUE(ask({{"do", "status"}})["rules"].empty());
}

TEST_F(LinkSwitch, answers_what_it_does_not_understand) {
    EXPECT_EQ(ask({{"do", "dance"}})["error"], "'dance' is not a command of the link emulator");
    EXPECT_EQ(ask({{"do", "remove"}, {"rule", 5}})["error"], "there is no rule 5");
    EXPECT_EQ(ask(nlohmann::json::array())["ok"], false);
    EXPECT_EQ(ask({{"do", "record"}, {"capture", "/nowhere/file"}})["ok"], false);
    EXPECT_EQ(ask({{"do", "status"}})["recording"], nullptr);
    EXPECT_EQ(ask({{"do", "status"}})["ok"], true);
}

TEST_F(LinkSwitch, lets_go_at_its_end_what_its_rules_held) {
    ask({{"do", "add"}, {"rules", {"delay 60s packets"}}});
    host(0).send(host(0).frame(255, roce_frame(7)));
    while (ask({{"do", "status"}})["held"] == 0)
        std::this_thread::yield();
    stop();
    EXPECT_EQ(psn_of(host(1).receive()), 7U);
}

TEST(LinkControl, says_that_nobody_is_there) {
    EXPECT_EQ(support::error_text([] { ask("/nowhere/control", "{}"); }),
              "no link emulator responds at /nowhere/control: nothing listens there");
}

}  // namespace switch_test
