#include "xray/layout.hpp"

#include <algorithm>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "util/error.hpp"

namespace xray {
namespace {

constexpr const char* folder = "/sys/kernel/btf/";

// The type behind names and qualifiers.
const btf_type* named(const btf* types, std::uint32_t id) {
    const btf_type* type = btf__type_by_id(types, id);
    while (type != nullptr && (btf_is_mod(type) || btf_is_typedef(type)))
        type = btf__type_by_id(types, type->type);
    return type;
}

struct Place {
    std::size_t bits = 0;
    const btf_type* type = nullptr;
};

std::optional<Place> find(const btf* types, const btf_type* outer, std::string_view name) {
    const btf_member* members = btf_members(outer);
    for (std::uint32_t i = 0; i < btf_vlen(outer); ++i) {
        const char* called = btf__name_by_offset(types, members[i].name_off);
        const btf_type* type = named(types, members[i].type);
        const std::size_t bits = btf_member_bit_offset(outer, i);
        if (called != nullptr && called == name)
            return Place{bits, type};
        if (called != nullptr && *called == '\0' && type != nullptr && btf_is_composite(type))
            if (auto inner = find(types, type, name))
                return Place{bits + inner->bits, inner->type};
    }
    return std::nullopt;
}

}  // namespace

void Layout::Free::operator()(btf* types) const {
    btf__free(types);
}

Layout Layout::of_module(const std::string& module) {
    if (!std::filesystem::exists(folder + std::string("vmlinux")))
        throw util::Error(
            "this kernel does not describe its types (/sys/kernel/btf/vmlinux): it was built "
            "without "
            "CONFIG_DEBUG_INFO_BTF");
    const std::string of_module = folder + module;
    if (!std::filesystem::exists(of_module))
        throw util::Error(
            fmt::format("the kernel module {} is not loaded, or has no type information "
                        "({}): try modprobe {}",
                        module, of_module, module));
    return {folder + std::string("vmlinux"), of_module};
}

Layout::Layout(const std::string& kernel, const std::string& module) {
    libbpf_set_print(nullptr);
    const auto load = [](const std::string& path, btf* base) {
        btf* types = btf__parse_split(path.c_str(), base);
        if (types == nullptr)
            throw util::Error(fmt::format("{} is not readable: {}", path, std::strerror(errno)));
        return types;
    };
    kernel_.reset(load(kernel, nullptr));
    if (!module.empty())
        module_.reset(load(module, kernel_.get()));
}

std::size_t Layout::offset_of(std::string_view structure, std::string_view member) const {
    const btf* types = module_ ? module_.get() : kernel_.get();
    const auto absent = [&] {
        return util::Error(
            fmt::format("this kernel has no {} in its struct {}", member, structure));
    };
    const int id = btf__find_by_name_kind(types, std::string(structure).c_str(), BTF_KIND_STRUCT);
    const btf_type* type =
        id < 0 ? nullptr : btf__type_by_id(types, static_cast<std::uint32_t>(id));
    std::size_t bits = 0;
    for (std::string_view rest = member; !rest.empty();) {
        const std::string_view name = rest.substr(0, rest.find('.'));
        rest.remove_prefix(std::min(rest.size(), name.size() + 1));
        const auto place =
            type != nullptr && btf_is_composite(type) ? find(types, type, name) : std::nullopt;
        if (!place)
            throw absent();
        bits += place->bits;
        type = place->type;
    }
    constexpr std::size_t bits_of_a_byte = 8;
    return bits / bits_of_a_byte;
}

}  // namespace xray
