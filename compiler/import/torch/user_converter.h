// Operators that the importer's caller writes (user_operators.h), as both evaluators call them.
#pragma once

#include <span>
#include <string_view>

#include "compiler/import/torch/aliases.h"
#include "compiler/import/user_operators.h"

namespace relayvm::import::torch {

// By the operator's name; `add_` finds `add`. Null: there is none.
const UserConverter* FindUserConverter(const UserOperators& all, std::string_view name);

// What the call gives, tensors with storages of their own. Where `name` is an in-place operator and
// its converter the plain one's, argument 0 takes the result. The converter is given the arguments
// as the operator's schema has them, if the table has one that fits, else as they are written.
Argument RunUserConverter(TypedBuilder& b, Aliases& aliases, const UserOperators& all,
                          std::string_view name, std::span<const Argument> positional,
                          std::span<const KeywordArgument> keywords);

}  // namespace relayvm::import::torch
