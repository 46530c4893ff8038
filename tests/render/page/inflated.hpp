// Reads the lines of an archive back, with OpenSSL's base64 and zlib's inflate.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <zlib.h>

#include "util/json.hpp"

namespace page_test {

inline std::string inflated(const std::string& line) {
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

inline std::vector<util::Json> chunks(const std::string& lines) {
    std::vector<util::Json> found;
    std::istringstream stream(lines);
    for (std::string line; std::getline(stream, line);)
        found.push_back(util::Json::parse(inflated(line)));
    return found;
}

/// The values of all chunks.
inline util::Json values(const std::string& lines) {
    util::Json all = util::Json::array();
    for (const util::Json& chunk : chunks(lines))
        all.insert(all.end(), chunk.begin(), chunk.end());
    return all;
}

}  // namespace page_test
