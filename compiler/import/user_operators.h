// Operators of a model that its importer asks its caller for, before its own table: by name
// ("aten::relu"), a function that writes the call with the builder. See user_call.h.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace relayvm::import {

class TypedBuilder;
struct UserArgument;
struct UserCall;

// What the call gives. Errors are the builder's. It is called on the importing thread.
using UserConverter = std::function<UserArgument(TypedBuilder& b, const UserCall& call)>;
using UserOperators = std::map<std::string, UserConverter, std::less<>>;

}  // namespace relayvm::import
