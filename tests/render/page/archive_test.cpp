#include "render/page/archive.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "render/page/inflated.hpp"

namespace {

using page::Archive;
using page_test::chunks;
using page_test::inflated;
using util::Json;

TEST(Archive, closes_a_chunk_after_so_many_values_and_the_last_one_early) {
    Archive archive(3, page::encode);
    for (int i = 0; i < 7; ++i)
        archive.add(std::to_string(i));
    EXPECT_EQ(chunks(archive.take()),
              (std::vector<Json>{Json{0, 1, 2}, Json{3, 4, 5}, Json::array({6})}));
}

TEST(Archive, keeps_the_order_of_values_that_are_made_later) {
    std::vector<page::Line> begun;
    Archive archive(2, [&](page::Line make) { return begun.emplace_back(std::move(make)); });
    archive.add_later([](std::string& json) { json += "1"; });
    archive.add("2");
    archive.add("3");
    ASSERT_EQ(begun.size(), 1U);
    archive.add_later([](std::string& json) { json += "4"; });
    archive.add_later([](std::string& json) { json += "5"; });
    EXPECT_EQ(chunks(archive.take()),
              (std::vector<Json>{Json{1, 2}, Json{3, 4}, Json::array({5})}));
    EXPECT_EQ(begun.size(), 3U);
}

TEST(Archive, has_no_line_without_values) {
    EXPECT_EQ(Archive(3, page::encode).take(), "");
}

TEST(Archive, replaces_what_is_no_utf8) {
    Archive archive(1, page::encode);
    archive.add(page::json_string("a\xff\x62"));
    EXPECT_EQ(chunks(archive.take()), std::vector<Json>{Json::array({"a\ufffdb"})});
}

TEST(Archive, gives_back_values_of_every_length) {
    for (std::size_t length = 0; length < 70; ++length) {
        const std::string text(length, 'x');
        Archive archive(1, page::encode);
        archive.add(page::json_string(text));
        EXPECT_EQ(chunks(archive.take()), std::vector<Json>{Json::array({text})});
    }
}

TEST(Archive, has_nothing_that_ends_an_element_of_the_page) {
    const std::string text = page::deflated(R"("</script><script>alert(1)</script>")");
    EXPECT_EQ(
        text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="),
        std::string::npos);
    EXPECT_EQ(inflated(text), R"("</script><script>alert(1)</script>")");
}

}  // namespace
