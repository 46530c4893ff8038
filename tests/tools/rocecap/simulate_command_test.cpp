// rocecap simulate: the model beside the runs of lesson 20's scenarios on Linux 6.1, which
// docs/on-rxe-behaviour.md has, and beside the sample of that lesson.
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "capture/pcapng_writer.hpp"
#include "support/process.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"
#include "trace/flow/feed.hpp"
#include "wire/encode.hpp"

namespace simulate_command_test {

using namespace flow_test;
using nlohmann::json;

constexpr const char* sample = "captures/samples/20_one_packet";
constexpr std::uint32_t mtu = 1024, psns = 3;
constexpr std::uint8_t write_middle = 0x07, write_last = 0x08;

struct Lesson {
    std::string op;
    std::uint32_t first_psn = 0xc19000, messages = 3;
};

// What lesson 20's client sends if nothing is lost, and one response, in a capture.
void write_capture(const Lesson& lesson, const std::string& path) {
    const Way there{.from = 2, .to = 1, .qpn = 0x71};
    const Way back{.from = 1, .to = 2, .qpn = 0x7f};
    capture::PcapngWriter writer(capture::Sink::create(path), {});
    writer.add_interface(
        {.link_type = wire::LinkType::Ethernet, .name = {}, .description = {}, .filter = {}});
    int count = 0;
    const auto add = [&](const wire::Packet& packet) {
        const auto bytes = wire::encode(packet);
        writer.packet(0, {.time = capture::Time(++count),
                          .bytes = bytes,
                          .original_length = static_cast<std::uint32_t>(bytes.size())});
    };
    const bool is_send = lesson.op == "send";
    std::uint32_t psn = lesson.first_psn;
    for (std::uint32_t message = 0; message < lesson.messages; ++message) {
        const std::uint64_t va = 0x1000 + std::uint64_t{message} * psns * mtu;
        if (lesson.op == "read") {
            auto made = read(there, psn, psns * mtu);
            made.reth->va = va;
            made.bth->a = true;
            add(made);
            psn += psns;
        } else if (lesson.op == "fetch-add") {
            auto made = packet(there, opcode::fetch_add, psn);
            made.atomic_eth = wire::AtomicEth{.va = 0x1000, .rkey = 0x77, .swapdt = 1};
            made.bth->a = true;
            add(made);
            ++psn;
        } else {
            const std::array codes{is_send ? opcode::send_first : opcode::write_first,
                                   is_send ? opcode::send_middle : write_middle,
                                   is_send ? opcode::send_last : write_last};
            for (std::uint32_t i = 0; i < psns; ++i) {
                auto made = packet(there, codes.at(i), psn++, mtu);
                made.bth->a = i + 1 == psns;
                if (!is_send && i == 0)
                    made.reth = wire::Reth{.va = va, .rkey = 0x77, .dmalen = psns * mtu};
                add(made);
            }
        }
    }
    if (lesson.op == "read") {
        auto made = packet(back, opcode::read_first, lesson.first_psn, mtu);
        made.aeth = wire::Aeth{.syndrome = syndrome::ack, .msn = 1};
        add(made);
    } else if (lesson.op == "fetch-add") {
        auto made = packet(back, opcode::atomic_acknowledge, lesson.first_psn);
        made.aeth = wire::Aeth{.syndrome = syndrome::ack, .msn = 1};
        made.atomic_ack_eth = wire::AtomicAckEth{};
        add(made);
    } else {
        add(answer(back, lesson.first_psn + psns - 1));
    }
    writer.close();
}

std::string trimmed(const std::string& text) {
    const auto begin = text.find_first_not_of(' ');
    return begin == std::string::npos ? ""
                                      : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, at);)
        parts.push_back(trimmed(part));
    return parts;
}

std::vector<std::string> lines_of(const std::string& path) {
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);)
        lines.push_back(line);
    return lines;
}

// A recovery without what differs in each run, and without deviations: "NAK 0.7 ms", "timeout →
// NAK (undetermined)", "implied NAK **read-opcode**".
std::string kind_of(const std::string& recovery) {
    static const std::regex rest(R"( [0-9.]+ ms| \([a-z ]+\)| \*\*[a-z-]+\*\*)");
    return std::regex_replace(recovery, rest, "");
}

// By scenario, with the oldest kernel, in the document's words: "lost: SEND First +3 | NAK".
std::map<std::string, std::vector<std::string>> documented() {
    std::map<std::string, std::vector<std::string>> rows;
    bool is_table = false;
    for (const std::string& line : lines_of("docs/on-rxe-behaviour.md")) {
        is_table |= line == "<!-- matrix: begin -->";
        const auto cells = split(line, '|');
        if (!is_table || cells.size() < 4)
            continue;
        const auto faults = split(cells[2], ';'), recoveries = split(cells[3], ';');
        for (std::size_t i = 0; i < faults.size() && i < recoveries.size(); ++i)
            rows[cells[1]].push_back(
                faults[i] == "none" ? "none" : faults[i] + " | " + kind_of(recoveries[i]));
    }
    return rows;
}

std::string value_after(const std::string& arguments, const std::string& option,
                        const std::string& otherwise) {
    std::istringstream words(arguments);
    for (std::string word; words >> word;)
        if (word == option && words >> word)
            return word;
    return otherwise;
}

// What check says of the model, in the document's words.
std::vector<std::string> simulated(const std::string& arguments, const std::string& rules) {
    const support::TempPath folder("simulate");
    std::filesystem::create_directory(folder.path());
    const std::string capture = folder.str() + "/base.pcapng";
    const std::string model = folder.str() + "/model";
    const Lesson lesson{
        value_after(arguments, "--op", ""),
        static_cast<std::uint32_t>(std::stoul(value_after(arguments, "--first-psn", "12685312"))),
        static_cast<std::uint32_t>(std::stoul(value_after(arguments, "--messages", "3")))};
    write_capture(lesson, capture);
    std::vector<std::string> command{support::rocecap(), "simulate", capture, "-o", model};
    for (const auto* option : {"--ack-timeout", "--retry-cnt"})
        if (const auto value = value_after(arguments, option, ""); !value.empty())
            command.insert(command.end(), {option, value});
    for (const std::string& rule : split(rules, ';'))
        if (!rule.empty())
            command.push_back(rule);
    const auto run = support::run(command);
    EXPECT_EQ(run.exit_code, 0) << run.all();
    const auto check = support::run({support::rocecap(), "check", "--json", model});
    EXPECT_EQ(check.exit_code, 0) << check.all();
    const json report = json::parse(check.out);
    EXPECT_EQ(report["deviations"], json::array());
    // Packets with the same fault and recovery, one after the other, are one row.
    std::vector<std::pair<std::array<json, 4>, std::vector<std::string>>> groups;
    for (const json& one : report["recoveries"]) {
        const std::array kind{one["event"], one["predicted"], one["seen"], one["verdict"]};
        if (groups.empty() || groups.back().first != kind)
            groups.push_back({kind, {}});
        groups.back().second.push_back(
            fmt::format("{} +{}", one["opcode_name"].get<std::string>().substr(sizeof "RC"),
                        (one["psn"].get<std::uint32_t>() - lesson.first_psn) & wire::Psn::mask));
    }
    std::vector<std::string> rows;
    rows.reserve(groups.size());
    for (const auto& [kind, packets] : groups)
        rows.push_back(fmt::format("{}: {} | {}{}", kind[0].get<std::string>(),
                                   packets.size() > 2 ? fmt::format("{} packets", packets.size())
                                                      : fmt::format("{}", fmt::join(packets, ", ")),
                                   kind[1] == kind[2] ? "" : kind[1].get<std::string>() + " → ",
                                   kind[2].get<std::string>()));
    if (rows.empty())
        rows.emplace_back("none");
    return rows;
}

// Where the model's recovery is another one than that of the documented run, and both are right.
const std::map<std::string, std::vector<std::string>>& differences() {
    // The packet comes so soon behind the one that overtook it that the NAK for it is still on its
    // way; a second one asks for the one that was discarded.
    static const auto asked_for_another = [](const std::string& packet) {
        return std::vector{"reordered: " + packet + " | NAK → nothing"};
    };
    static const std::map<std::string, std::vector<std::string>> all{
        {"late SEND middle", asked_for_another("SEND Middle +4")},
        {"late WRITE first", asked_for_another("RDMA WRITE First +3")},
        {"late READ request", asked_for_another("RDMA READ Request +3")},
        {"late ATOMIC request", asked_for_another("FetchAdd +1")},
        // In the documented run, the NAK came before the 5th packet, which was a retransmission.
        {"lose WRITE two apart", {"lost: RDMA WRITE Middle +1, RDMA WRITE Middle +4 | NAK"}},
        // Receives are always ready.
        {"not ready, NAK lost", {"none"}}};
    return all;
}

TEST(SimulateCommand, recovers_as_linux_does_in_each_scenario) {
    const auto real = documented();
    int compared = 0;
    for (const std::string& line : lines_of("examples/20_one_packet/scenarios")) {
        const auto parts = split(line, '|');
        if (line.starts_with("#") || parts.size() < 2)
            continue;
        const std::string& name = parts[0];
        SCOPED_TRACE(name);
        ASSERT_TRUE(real.contains(name));
        const auto other = differences().find(name);
        EXPECT_EQ(simulated(parts[1], parts.size() > 2 ? parts[2] : ""),
                  other == differences().end() ? real.at(name) : other->second);
        ++compared;
    }
    EXPECT_EQ(compared, 55);
}

support::Outcome simulate(const std::string& input, const std::string& output,
                          const std::vector<std::string>& rules) {
    std::vector<std::string> command{support::rocecap(), "simulate", input, "-o", output};
    command.insert(command.end(), rules.begin(), rules.end());
    return support::run(command);
}

// The packets of a reliable connection from one host, in order.
std::string sent(const std::string& capture, const std::string& host) {
    const auto outcome =
        support::run({support::rocecap(), "decode", capture, "--fields",
                      "bth.opcode_name,bth.psn,bth.a,reth.va,reth.dmalen,aeth.type,aeth.msn",
                      "--where", "bth and not deth and ip.src == " + host});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    return outcome.out;
}

TEST(SimulateCommand, sends_what_was_sent_in_the_sample) {
    const support::TempPath model("simulate");
    const auto outcome = simulate(sample, model.str(), {"drop the 5th packet from client"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_TRUE(outcome.out.starts_with("A model, not a capture")) << outcome.out;
    for (const auto* host : {"192.0.2.1", "192.0.2.2"}) {
        const std::string real = sent(std::string(sample) + "/annotated.pcapng", host);
        EXPECT_GE(std::ranges::count(real, '\n'), 4);
        EXPECT_EQ(sent(model.str() + "/wire.pcapng", host), real);
    }
}

TEST(SimulateCommand, retransmits_nothing_without_a_rule) {
    const support::TempPath model("simulate");
    EXPECT_EQ(simulate(sample, model.str(), {}).exit_code, 0);
    EXPECT_EQ(std::ranges::count(sent(model.str() + "/wire.pcapng", "192.0.2.2"), '\n'), 9);
    EXPECT_EQ(std::ranges::count(sent(model.str() + "/wire.pcapng", "192.0.2.1"), '\n'), 3);
}

TEST(SimulateCommand, gives_up_after_the_retries) {
    const support::TempPath model("simulate");
    const auto outcome = simulate(sample, model.str(), {"drop packets from server"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_NE(outcome.err.find("192.0.2.2 gives up: its message 1 of 3 has failed"),
              std::string::npos)
        << outcome.all();
    // Nine packets, and seven times again.
    EXPECT_EQ(std::ranges::count(sent(model.str() + "/link.pcapng", "192.0.2.2"), '\n'), 2 * 8 * 9);
    const auto explained = support::run({support::rocecap(), "explain", "--json", model.str()});
    EXPECT_NE(explained.out.find("acks-lost"), std::string::npos) << explained.all();
}

TEST(SimulateCommand, writes_a_run_that_the_other_commands_read) {
    const support::TempPath model("simulate");
    simulate(sample, model.str(), {"drop the 9th packet from client"});
    const auto quiz = support::run(
        {"bash", "-c", "echo q | '" + support::rocecap() + "' predict " + model.str()});
    EXPECT_NE(quiz.out.find("drop      RC RDMA WRITE Last PSN +8"), std::string::npos)
        << quiz.all();
    for (const auto* command : {"flows", "explain", "psns", "timeline", "report"})
        EXPECT_LE(support::run({support::rocecap(), command, model.str()}).exit_code, 1) << command;
    std::ifstream file(model.path() / "report.html");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NE(page.find("<h1>A model of 20_one_packet</h1>"), std::string::npos);
}

// The server's capture has no packet that shows the gap: the link emulator's log does.
TEST(SimulateCommand, has_an_explanation_if_the_last_packet_is_lost) {
    const support::TempPath model("simulate");
    simulate(sample, model.str(), {"drop the 9th packet from client"});
    const auto explained = support::run({support::rocecap(), "explain", "--json", model.str()});
    const json causes = json::parse(explained.out)["causes"];
    ASSERT_EQ(causes.size(), 1U) << explained.all();
    EXPECT_EQ(causes[0]["code"], "loss");
    EXPECT_EQ(causes[0]["certainty"], "likely");
    EXPECT_NE(
        causes[0]["text"].get<std::string>().find("`drop the 9th packet from client`, did it"),
        std::string::npos)
        << explained.out;
}

TEST(SimulateCommand, replaces_a_model_and_nothing_else) {
    const support::TempPath model("simulate");
    EXPECT_EQ(simulate(sample, model.str() + "/a/b", {}).exit_code, 0);
    EXPECT_EQ(simulate(sample, model.str() + "/a/b", {}).exit_code, 0);
    const auto refused = simulate(sample, model.str() + "/a", {});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_EQ(refused.err, "rocecap: " + model.str() +
                               "/a is not empty: give -o a folder that does not exist.\n");
    EXPECT_EQ(simulate(sample, "captures/samples/20_one_packet", {}).exit_code, 2)
        << "a run is no model";
}

TEST(SimulateCommand, says_in_one_sentence_what_it_cannot_model) {
    const support::TempPath model("simulate");
    const auto no_rule = simulate(sample, model.str(), {"lose the 5th packet"});
    EXPECT_EQ(no_rule.exit_code, 2);
    EXPECT_TRUE(no_rule.err.starts_with("rocecap: a rule begins with an action: drop, "))
        << no_rule.err;
    const auto no_host = simulate(sample, model.str(), {"drop packets from client2"});
    EXPECT_EQ(no_host.exit_code, 2) << no_host.all();
    const auto encrypted = simulate("captures/samples/18_roce_in_esp", model.str(), {});
    EXPECT_EQ(encrypted.exit_code, 2) << encrypted.all();
    EXPECT_NE(encrypted.err.find("has no messages for a model"), std::string::npos)
        << encrypted.err;
    EXPECT_FALSE(std::filesystem::exists(model.path()));
}

TEST(SimulateCommand, refuses_what_was_refused) {
    const support::TempPath model("simulate");
    const auto outcome = simulate("captures/samples/04_access_denied", model.str(), {});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_NE(outcome.out.find("NAK remote access error"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.err.find("gives up"), std::string::npos) << outcome.err;
}

}  // namespace simulate_command_test
