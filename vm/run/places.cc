#include "vm/run/places.h"

#include <algorithm>

namespace relayvm::vm {

StatusPlace PlaceIn(const Program& program, uint32_t function, uint32_t pc, int64_t check) {
  StatusPlace place;
  if (function >= program.functions.size()) return place;
  const FunctionInfo& info = program.functions[function];
  place.function = info.name;
  place.instruction = pc;
  auto after = std::upper_bound(info.locations.begin(), info.locations.end(), pc,
                                [](uint32_t unit, const SourceLocation& l) { return unit < l.pc; });
  if (after == info.locations.begin()) return place;
  // Those of a kernel's checks stand before the instruction's own.
  auto own = after - 1;
  for (auto first = own; check > 0 && first->pc == pc; --first) {
    if (first == info.locations.begin() || first[-1].pc != pc) {
      if (own - first >= check) own = first + (check - 1);
      break;
    }
  }
  const SourceLocation& location = *own;
  place.file =
      location.file < program.source_files.size() ? program.source_files[location.file] : "?";
  place.line = location.line;
  place.column = location.column;
  return place;
}

}  // namespace relayvm::vm
