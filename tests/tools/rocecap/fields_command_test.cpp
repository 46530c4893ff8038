// rocecap fields: the list, and the use of its fields in filters.
#include <sstream>

#include <gtest/gtest.h>

#include "filter/field.hpp"
#include "tools/rocecap/capture_file.hpp"

namespace fields_command_test {

support::Outcome fields(support::Argv arguments = {}) {
    arguments.insert(arguments.begin(), {support::rocecap(), "fields"});
    return support::run(arguments);
}

std::vector<std::string> first_words(const std::string& text) {
    std::vector<std::string> words;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        words.push_back(line.substr(0, line.find(' ')));
    return words;
}

TEST(FieldsCommand, lists_every_field_with_its_kind_and_description) {
    const auto outcome = fields();
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");
    std::vector<std::string> names;
    for (const filter::Field& field : filter::fields())
        names.emplace_back(field.name);
    EXPECT_EQ(first_words(outcome.out), names);
    EXPECT_NE(outcome.out.find("PSN            packet sequence number\n"), std::string::npos);
}

TEST(FieldsCommand, finds_a_part_of_a_name_or_a_description) {
    EXPECT_EQ(first_words(fields({"r_key"}).out),
              (std::vector<std::string>{"reth.r_key", "atomiceth.r_key", "r_key"}));
    EXPECT_EQ(first_words(fields({"rkey to invalidate"}).out), std::vector<std::string>{"ieth"});
}

TEST(FieldsCommand, says_what_is_found_nowhere) {
    const auto outcome = fields({"nonsense"});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "rocecap: no field has 'nonsense' in its name or description.\n");
}

TEST(FieldsCommand, each_listed_name_is_understood_by_decode) {
    rocecap_test::CaptureFile file("fields.pcapng");
    file.add(rocecap_test::frame_of(0x0a));
    std::string all;
    for (const std::string& name : first_words(fields().out))
        all += (all.empty() ? "" : ",") + name;
    const auto outcome = file.run("decode", {"--fields", all, "--csv", "--header"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.all();
    EXPECT_EQ(outcome.out.substr(0, outcome.out.find('\n')), all);
}

// Users try the examples of the help text first.
TEST(FieldsCommand, the_filters_of_the_help_are_understood) {
    rocecap_test::CaptureFile file("fields.pcapng");
    file.add(rocecap_test::frame_of(0x0a));
    std::istringstream help(fields({"--help"}).out);
    int examples = 0;
    for (std::string line; std::getline(help, line);) {
        const auto gap = line.find("   ", 2);
        if (line.rfind("  ", 0) != 0 || line[2] == '-' || line[2] == ' ' ||
            gap == std::string::npos || line.find_first_of("=<{") > gap)
            continue;
        ++examples;
        const auto outcome = file.run("decode", {"--where", line.substr(2, gap - 2)});
        EXPECT_EQ(outcome.exit_code, 0) << line << outcome.all();
    }
    EXPECT_GE(examples, 3);
}

}  // namespace fields_command_test
