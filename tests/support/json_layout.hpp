// Included before all else in what clang compiles beside g++ (SANITIZE=1): one layout of JSON
// objects for both. nlohmann/json 3.11.3 asks __has_attribute(no_unique_address), which g++ affirms
// and clang denies, although both know the attribute. An object then has 24 bytes in one and 32 in
// the other.
#pragma once

#if __has_include(<nlohmann/thirdparty/hedley/hedley.hpp>)
#include <nlohmann/thirdparty/hedley/hedley.hpp>
#undef JSON_HEDLEY_HAS_ATTRIBUTE
#define JSON_HEDLEY_HAS_ATTRIBUTE(attribute) JSON_HEDLEY_HAS_CPP_ATTRIBUTE(attribute)
#endif
