// What the evaluator's parts on lists share: a list of known length is items, others are columns or
// grow in a loop (script_item.h). Tested by script_test.cc.
#pragma once

#include "compiler/import/torch/script_item.h"

namespace relayvm::import::torch {

// Null: its length is known.
inline const Columns* ColumnsIn(const Item& list) {
  return list.is(Item::Kind::kList) && list.cell != nullptr ? list.cell->content().columns.get()
                                                            : nullptr;
}

inline bool IsGrowing(const Item& list) {
  return list.is(Item::Kind::kList) && list.cell->content().growing != nullptr;
}

// A list of numbers of unknown length: the tensor that holds them.
inline const Value* NumbersIn(const Item& list) {
  const Columns* columns = ColumnsIn(list);
  const bool one = columns != nullptr && columns->values.size() == 1 &&
                   columns->values[0].is_tensor() && columns->values[0].rank() == 1;
  return one && !columns->element.plain.is_tensor() ? &columns->values[0] : nullptr;
}

}  // namespace relayvm::import::torch
