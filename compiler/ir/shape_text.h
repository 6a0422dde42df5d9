// What relayc's --shape says of a parameter's dims, as text: "1x?x300", or "(n, ?, 300)" with
// names. A name is one size wherever it stands; `?` keeps what is declared. "?<=512" and "n<=512"
// plan memory for at most that many. Tested by shape_text_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"

namespace relayvm::ir {

struct DimText {
  std::optional<int64_t> size;
  std::string name;              // where there is no size: or empty, `?`
  std::optional<int64_t> bound;  // where there is no size
};

// Fails with a message that says how a shape is written.
Result<std::vector<DimText>> ParseShapeText(std::string_view text);

}  // namespace relayvm::ir
