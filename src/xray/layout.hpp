// Where a kernel's structures have their members, by the kernel's own type information (BTF).
// Source: kernel documentation, bpf/btf.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct btf;

namespace xray {

class Layout {
  public:
    /// That of the running kernel and of a module of it. Throws util::Error if the kernel has no BTF, or
    /// if the module is not loaded.
    static Layout of_module(const std::string& module);
    /// That of two files: the kernel's BTF, and a module's; empty: the kernel's alone.
    Layout(const std::string& kernel, const std::string& module);

    /// The bytes from the beginning of a structure to a member, such as "rxe_qp" and "ibqp.qp_num". Members
    /// of unnamed structures and unions belong to the outer one. Throws util::Error if there is none.
    std::size_t offset_of(std::string_view structure, std::string_view member) const;

  private:
    struct Free {
        void operator()(btf* types) const;
    };
    std::unique_ptr<btf, Free> kernel_, module_;
};

}  // namespace xray
