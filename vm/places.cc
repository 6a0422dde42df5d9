#include "vm/places.h"

#include <algorithm>

namespace relayvm::vm {

StatusPlace PlaceIn(const Program& program, uint32_t function, uint32_t pc) {
  StatusPlace place;
  if (function >= program.functions.size()) return place;
  const FunctionInfo& info = program.functions[function];
  place.function = info.name;
  place.instruction = pc;
  auto after = std::upper_bound(info.locations.begin(), info.locations.end(), pc,
                                [](uint32_t unit, const SourceLocation& l) { return unit < l.pc; });
  if (after == info.locations.begin()) return place;
  const SourceLocation& location = after[-1];
  place.file =
      location.file < program.source_files.size() ? program.source_files[location.file] : "?";
  place.line = location.line;
  place.column = location.column;
  return place;
}

}  // namespace relayvm::vm
