#include "tools/rocewire/listing.hpp"

#include <cstdint>

#include <fmt/format.h>

#include "util/json.hpp"
#include "util/printable.hpp"

namespace rocewire {
namespace {

using util::Json;

std::uint64_t number(const Json& object, const char* key) {
    return object.at(key).get<std::uint64_t>();
}

std::string text(const Json& object, const char* key) {
    return util::printable(object.at(key).get<std::string>());
}

std::string mib(std::uint64_t bytes) {
    return fmt::format("{:.2f}", static_cast<double>(bytes) / (1 << 20));
}

std::string host_line(const Json& host, const Json* before) {
    std::string line = fmt::format(
        "{:<10} {:<13} {:>11} {:>11} {:>11} {:>11} {:>9} {:>8}", text(host, "name"),
        host.at("connected") == true ? "connected" : "disconnected", number(host, "frames_in"),
        mib(number(host, "bytes_in")), number(host, "frames_out"), mib(number(host, "bytes_out")),
        number(host, "waiting"), number(host, "undelivered"));
    if (before != nullptr)
        line += fmt::format("\n{:<24} {:>11} {:>11} {:>11} {:>11}", "  in the last second",
                            number(host, "frames_in") - number(*before, "frames_in"),
                            mib(number(host, "bytes_in") - number(*before, "bytes_in")),
                            number(host, "frames_out") - number(*before, "frames_out"),
                            mib(number(host, "bytes_out") - number(*before, "bytes_out")));
    return line + '\n';
}

// The same host a second ago. nullptr: it was not there, or another link emulator counts since then.
const Json* earlier(const Json& host, const Json& before) {
    if (before.is_null())
        return nullptr;
    for (const Json& one : before.at("hosts")) {
        if (one.at("name") != host.at("name"))
            continue;
        for (const char* key : {"frames_in", "bytes_in", "frames_out", "bytes_out"})
            if (number(host, key) < number(one, key))
                return nullptr;
        return &one;
    }
    return nullptr;
}

}  // namespace

std::string listing(const Json& now, const Json& before) {
    std::string out =
        fmt::format("{:<24} {:>11} {:>11} {:>11} {:>11} {:>9} {:>8}\n", "host", "frames from",
                    "MiB from", "frames to", "MiB to", "B waiting", "dropped");
    for (const Json& host : now.at("hosts"))
        out += host_line(host, earlier(host, before));
    out += now.at("rules").empty() ? "\nno rules\n" : "\nrule    seen   taken\n";
    for (const Json& rule : now.at("rules"))
        out += fmt::format("{:>4} {:>7} {:>7}  {}\n", number(rule, "rule"), number(rule, "seen"),
                           number(rule, "taken"), text(rule, "text"));
    if (now.at("recording").is_string())
        out += fmt::format("\nrecording: {} frames in {}\n", number(now, "recorded"),
                           text(now, "recording"));
    return out;
}

}  // namespace rocewire
