// The other commands find the same in the output of rocecap anonymize as in the capture of a real
// run, apart from what is replaced.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "anonymize/frame.hpp"
#include "capture/pcapng_writer.hpp"
#include "support/temp_path.hpp"
#include "support/tool.hpp"
#include "tools/rocecap/real_captures.hpp"

namespace anonymize_findings_test {

namespace fs = std::filesystem;
using rocecap_test::captures;
using rocecap_test::read;
using support::rocecap;

// The frames that have an anonymous copy, as they were. So frames have the same number in both.
void write_kept(const std::string& from, const std::string& to) {
    capture::PcapngWriter writer(capture::Sink::create(to), {});
    std::map<std::string, std::uint32_t> interfaces;
    anonymize::Anonymizer anonymizer(anonymize::Data::Replaced);
    read(from, [&](const capture::Frame& frame, const wire::Packet& packet) {
        if (!anonymizer.frame(packet, frame.bytes, frame.link_type))
            return;
        const std::string name(frame.notes.interface_name);
        const auto [known, is_new] = interfaces.try_emplace(name);
        if (is_new)
            known->second = writer.add_interface(
                {.link_type = frame.link_type, .name = name, .description = {}, .filter = {}});
        writer.packet(known->second, frame);
    });
    writer.close();
}

// The texts of a packet's values that are replaced. Numbers have no leading zeros.
std::vector<std::string> texts_of(const wire::Packet& packet) {
    std::vector<std::string> texts;
    const auto memory = [&](const auto& header) {
        if (header) {
            texts.push_back(fmt::format("{:#x}", header->va));
            texts.push_back(fmt::format("{:#x}", header->rkey));
            texts.push_back(fmt::format("{}", header->rkey));
        }
    };
    const auto addresses = [&](const auto& ip) {
        if (ip) {
            texts.push_back(text(ip->src));
            texts.push_back(text(ip->dst));
        }
    };
    addresses(packet.ipv4);
    addresses(packet.ipv6);
    memory(packet.reth);
    memory(packet.atomic_eth);
    return texts;
}

std::vector<std::vector<std::string>> texts_in(const std::string& path) {
    std::vector<std::vector<std::string>> all;
    read(path, [&](const capture::Frame& /*frame*/, const wire::Packet& packet) {
        all.push_back(texts_of(packet));
    });
    return all;
}

using Originals = std::map<std::string, std::string>;

// Fails unless equal pseudonyms have equal originals.
Originals originals_of(const std::string& kept, const std::string& anonymous) {
    Originals originals;
    const auto before = texts_in(kept);
    const auto after = texts_in(anonymous);
    EXPECT_EQ(before.size(), after.size());
    for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
        EXPECT_EQ(before[i].size(), after[i].size());
        for (std::size_t j = 0; j < std::min(before[i].size(), after[i].size()); ++j)
            EXPECT_EQ(originals.try_emplace(after[i][j], before[i][j]).first->second, before[i][j]);
    }
    return originals;
}

bool is_part_of_value(char one) {
    return std::isalnum(static_cast<unsigned char>(one)) != 0 || one == '.' || one == ':';
}

std::string without_zeros(const std::string& value) {
    if (!value.starts_with("0x"))
        return value;
    const std::size_t digit = value.find_first_not_of('0', 2);
    return "0x" + (digit == std::string::npos ? "0" : value.substr(digit));
}

// The words of the text, with originals in place of their pseudonyms.
std::vector<std::string> words_of(const std::string& text, const Originals& originals) {
    std::vector<std::string> words;
    std::istringstream stream(text);
    for (std::string word; stream >> word;) {
        std::string result;
        for (std::size_t i = 0; i < word.size(); ++i) {
            std::size_t end = i;
            while (end < word.size() && is_part_of_value(word[end]))
                ++end;
            const std::string part = word.substr(i, end - i);
            const std::size_t size = part.find_last_not_of(".:") + 1;
            const std::string value = without_zeros(part.substr(0, size));
            const auto found = originals.find(value);
            result += (found != originals.end() ? found->second : value) + part.substr(size);
            if (end < word.size())
                result += word[end];
            i = end;
        }
        words.push_back(result);
    }
    return words;
}

// The first words that differ, with those before them; empty: none.
std::string difference(const std::vector<std::string>& before,
                       const std::vector<std::string>& after) {
    constexpr std::ptrdiff_t context = 8;
    const auto [one, other] =
        std::mismatch(before.begin(), before.end(), after.begin(), after.end());
    if (one == before.end() && other == after.end())
        return {};
    const auto first = one - std::min(context, one - before.begin());
    return fmt::format("{} | {} | {}", fmt::join(first, one, " "),
                       fmt::join(one, one + std::min(context, before.end() - one), " "),
                       fmt::join(other, other + std::min(context, after.end() - other), " "));
}

class AnonymousSample : public testing::TestWithParam<std::string> {};

TEST_P(AnonymousSample, has_the_same_findings) {
    const support::TempPath folder("anonymous");
    fs::create_directories(folder.path());
    const std::string kept = folder.str() + "/kept.pcapng";
    const std::string anonymous = folder.str() + "/anonymous.pcapng";
    write_kept(GetParam(), kept);
    const auto outcome = rocecap({"anonymize", GetParam(), anonymous});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.all();
    Originals originals = originals_of(kept, anonymous);
    EXPECT_GE(originals.size(), 2U);
    originals["anonymous.pcapng"] = "kept.pcapng";
    for (const support::Argv& command : {support::Argv{"check", "--all"},
                                         {"explain", "--why"},
                                         {"flows", "--icrc", "--json"},
                                         {"psns"},
                                         {"verify"}}) {
        support::Argv argv = command;
        argv.insert(argv.begin() + 1, kept);
        const auto before = rocecap(argv);
        argv[1] = anonymous;
        const auto after = rocecap(argv);
        EXPECT_EQ(before.exit_code, after.exit_code) << command[0];
        EXPECT_EQ(difference(words_of(before.out + before.err, {}),
                             words_of(after.out + after.err, originals)),
                  "")
            << command[0];
    }
}

INSTANTIATE_TEST_SUITE_P(Captures, AnonymousSample, testing::ValuesIn(captures()),
                         [](const auto& test) {
                             std::string name = fs::path(test.param).parent_path().filename() /
                                                fs::path(test.param).stem();
                             for (char& one : name)
                                 one =
                                     std::isalnum(static_cast<unsigned char>(one)) != 0 ? one : '_';
                             return name;
                         });

}  // namespace anonymize_findings_test
