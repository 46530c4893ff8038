// Included first in all sources that clang compiles if g++ compiles others (SANITIZE=1), so that
// JSON objects have the same layout in both. nlohmann/json 3.11.3 tests
// __has_attribute(no_unique_address), which is true in g++ and false in clang, although both have
// the attribute. An object would then have 24 bytes in one and 32 in the other.
#pragma once

#if __has_include(<nlohmann/thirdparty/hedley/hedley.hpp>)
#include <nlohmann/thirdparty/hedley/hedley.hpp>
#undef JSON_HEDLEY_HAS_ATTRIBUTE
#define JSON_HEDLEY_HAS_ATTRIBUTE(attribute) JSON_HEDLEY_HAS_CPP_ATTRIBUTE(attribute)
#endif
