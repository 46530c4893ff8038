#include "render/page/archive.hpp"

#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <zlib.h>

#include "util/json.hpp"

namespace {

using page::Archive;
using util::Json;

// Decodes with OpenSSL's base64 and zlib's inflate.
std::string inflated(const std::string& line) {
    std::vector<unsigned char> bytes(line.size());
    const int size =
        EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(line.data()),
                        static_cast<int>(line.size()));
    EXPECT_GE(size, 0) << line;
    std::vector<unsigned char> out(1 << 20);
    uLongf length = out.size();
    EXPECT_EQ(uncompress(out.data(), &length, bytes.data(), static_cast<uLong>(size)), Z_OK);
    return {reinterpret_cast<const char*>(out.data()), length};
}

std::vector<Json> chunks(const std::string& lines) {
    std::vector<Json> found;
    std::istringstream stream(lines);
    for (std::string line; std::getline(stream, line);)
        found.push_back(Json::parse(inflated(line)));
    return found;
}

TEST(Archive, closes_a_chunk_after_so_many_values_and_the_last_one_early) {
    Archive archive(3);
    for (int i = 0; i < 7; ++i)
        archive.add(Json(i));
    EXPECT_EQ(chunks(archive.take()),
              (std::vector<Json>{Json{0, 1, 2}, Json{3, 4, 5}, Json::array({6})}));
}

TEST(Archive, has_no_line_without_values) {
    EXPECT_EQ(Archive(3).take(), "");
}

TEST(Archive, replaces_what_is_no_utf8) {
    Archive archive(1);
    archive.add("a\xff\x62");
    EXPECT_EQ(chunks(archive.take()), std::vector<Json>{Json::array({"a\ufffdb"})});
}

TEST(Archive, gives_back_values_of_every_length) {
    for (std::size_t length = 0; length < 70; ++length) {
        const std::string text(length, 'x');
        Archive archive(1);
        archive.add(text);
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
