#include "trace/explain/rules.hpp"

#include <algorithm>
#include <utility>

namespace explain {

const Completion* Case::error(std::string_view status) const {
    if (direction.requester == nullptr)
        return nullptr;
    const auto& errors = direction.requester->errors;
    const auto found = std::ranges::find_if(errors, [&](const Completion& completion) {
        return !completion.is_receive && completion.status == status;
    });
    return found == errors.end() ? nullptr : &*found;
}

Cause Case::cause(Code code, Certainty certainty, std::string text) const {
    return {.code = code,
            .certainty = certainty,
            .text = std::move(text),
            .evidence = {},
            .where = direction.where()};
}

}  // namespace explain
