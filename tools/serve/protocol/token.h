// The token that requests carry ("Authorization: Bearer TOKEN"), as --token-file has it. Pure
// functions; thread-safe. Tested by token_test.cc.
#pragma once

#include <string>
#include <string_view>

#include "bytecode/base/status.h"

namespace relayvm::serve {

// A file's only line: 8 to 4096 printable characters without a space. kInvalidInput.
Result<std::string> ReadToken(const std::string& path);

// Whether a header's value is the token's, in a time that does not depend on where they differ.
bool HasToken(std::string_view authorization, std::string_view token);

}  // namespace relayvm::serve
