// The records of the data path as JSON, written member by member: building a JSON tree for each
// takes ten times as long, and rocetrace shares the CPUs with the program.
#include <array>
#include <charconv>
#include <concepts>

#include "rocetrace/tracelog/data_record.hpp"
#include "rocetrace/tracelog/decode.hpp"

namespace tracelog {
namespace {

struct AppendMember {
    std::string& out;

    template <std::integral Number>
    void operator()(std::string_view member, Number value) const {
        std::array<char, 24> digits;  // NOLINT(cppcoreguidelines-pro-type-member-init): see below
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        out.append(member).append(digits.data(), end);
    }

    void operator()(std::string_view member, bool value) const {
        out.append(member).append(value ? "true" : "false");
    }

    void operator()(std::string_view member, std::span<const Sge> sges) const {
        out.append(member);
        std::string_view begin = R"([{"addr":)";
        for (const Sge& sge : sges) {
            (*this)(begin, sge.addr);
            (*this)(R"(,"length":)", sge.length);
            (*this)(R"(,"lkey":)", sge.lkey);
            out.push_back('}');
            begin = R"(,{"addr":)";
        }
        out.push_back(']');
    }

    // The names of enumerators, which need no escape.
    void operator()(std::string_view member, std::string_view value) const {
        out.append(member).append(value).push_back('"');
    }
};

}  // namespace

JsonRenderer::JsonRenderer(std::string role) : role_(std::move(role)) {
    // Rendered once, with JSON's escapes.
    const std::string line = runlog::to_json({0, role_, "", {}});
    const std::string_view begin = R"({"t_ns":0,"role":)";
    quoted_role_ = line.substr(begin.size(), line.rfind(",\"event\"") - begin.size());
}

bool JsonRenderer::append(std::string& out, std::span<const std::byte> bytes,
                          const Writer& writer) const {
    const AppendMember add{out};
    const bool is_data = visit_data(bytes, [&](const auto& record, std::string_view name) {
        add(R"({"t_ns":)", record.header.t_ns);
        out.append(R"(,"role":)").append(quoted_role_);
        add(R"(,"event":")", name);
        each_field(record,
                   [&](const Member& member, const auto& value) { add(member.json, value); });
        add(R"(,"pid":)", writer.pid);
        add(R"(,"tid":)", writer.tid);
        out.append("}\n");
    });
    if (is_data)
        return true;
    const auto event = decode(bytes, role_, writer);
    if (!event)
        return false;
    out.append(runlog::to_json(*event)).push_back('\n');
    return true;
}

}  // namespace tracelog
