// docs/rocecap.md: the JSON objects and their members match the table of fields.
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "filter/field.hpp"

namespace json_keys_test {

using Objects = std::map<std::string, std::vector<std::string>>;

const std::string packet = "the packet";

std::vector<std::string> words(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

// Parses rows such as "| `eth` | `dst src type` |". The first cell may have no quotes.
Objects rows_of(const std::string& document, const std::string& head) {
    Objects objects;
    std::istringstream lines(document.substr(document.find(head)));
    const std::regex row(R"(\| (`?[^|]*) \| `([^`]*)`.*)");
    std::string line;
    std::getline(lines, line);
    std::getline(lines, line);  // the separator below the head
    for (std::smatch match; std::getline(lines, line) && std::regex_match(line, match, row);)
        objects[std::regex_replace(match[1].str(), std::regex("`"), "")] = words(match[2]);
    return objects;
}

std::string document() {
    std::ifstream file("docs/rocecap.md");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// Returns the object that contains a field: the part of its name before the last dot, if that is a
// header.
std::string object_of(const filter::Field& field) {
    const auto point = field.name.rfind('.');
    const filter::Field* header =
        point == std::string_view::npos ? nullptr : filter::find_field(field.name.substr(0, point));
    return header != nullptr && header->kind == filter::Kind::Present ? std::string(header->name)
                                                                      : packet;
}

// All elements of an array have the same members as the first.
Objects objects_of_the_table() {
    Objects objects;
    std::map<std::string, std::string> first_of;
    std::set<std::string> further;
    for (const filter::Field& field : filter::fields()) {
        const std::string object = object_of(field);
        if (field.extra.json == filter::not_in_json || further.contains(object))
            continue;
        std::string key(field.extra.json);
        if (key.ends_with("[]")) {
            if (!first_of.emplace(key, field.name).second) {
                further.insert(std::string(field.name));
                continue;
            }
            key.resize(key.size() - 2);
        }
        if (key.empty())
            key = field.name.substr(object == packet ? 0 : object.size() + 1);
        objects[object].push_back(key);
    }
    return objects;
}

TEST(JsonKeys, of_the_document_are_those_of_the_table_in_its_order) {
    const Objects documented = rows_of(document(), "| object | its members, in this order |");
    EXPECT_GT(documented.size(), 20U);
    EXPECT_EQ(documented, objects_of_the_table());
}

TEST(JsonKeys, of_the_messages_are_in_the_order_of_the_table_and_all_of_it) {
    const auto all = objects_of_the_table().at("cm");
    std::set<std::string> missing(all.begin(), all.end());
    const Objects messages = rows_of(document(), "| `cm.message` | its members");
    EXPECT_EQ(messages.size(), 10U);
    for (const auto& [message, members] : messages) {
        auto at = all.begin();
        for (const std::string& member : members) {
            at = std::find(at, all.end(), member);
            EXPECT_NE(at, all.end()) << member << " of " << message;
            missing.erase(member);
        }
    }
    EXPECT_EQ(missing, (std::set<std::string>{"message", "private"}));
}

}  // namespace json_keys_test
