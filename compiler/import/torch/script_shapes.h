// Shapes of items: what two arms of a branch, or a loop before and after a turn, have in common,
// with a value of the graph wherever they differ. The shape of (1, x) and (2, x) is a tuple of an
// int value and x itself; that of None and a tensor is what may be left out; that of lists of two
// and three tensors is a list of any length. Not thread-safe. Tested by script_test.cc.
#pragma once

#include <span>
#include <string>

#include "compiler/import/control_flow.h"
#include "compiler/import/torch/aliases.h"
#include "compiler/import/torch/script_item.h"

namespace relayvm::import::torch {

// Tensors of rank 0: of a list of them the column is a tensor.
inline bool IsNumberType(const ir::Type& type) {
  const auto* tensor = type == nullptr ? nullptr : type->As<TensorType>();
  return tensor != nullptr && tensor->rank() == 0;
}

class Shapes {
 public:
  Shapes(TypedBuilder& b, Aliases& aliases, Heap& heap) : b_(b), aliases_(aliases), heap_(heap) {}

  // Nothing of it differs: the same number, tensor, cell.
  static bool AreSame(const Item& x, const Item& y);
  // The shape of both; `x` may be a shape. What has no common shape is an Either by `condition`,
  // or, where there is none, noted as a problem.
  Item Widen(const Item& x, const Item& y, const Value& condition = {});
  // The shape in which all that can be a value is one.
  Item AllValues(const Item& x);
  // Whether values of a graph stand in it.
  static bool HasValues(const Item& shape);
  // The values of an item of that shape, behind those of `out`.
  void Flatten(const Item& shape, const Item& item, TypedBuilder::State* out);
  // An item of that shape of those values, from `at` on; cells are new.
  Item Build(const Item& shape, std::span<const Value> values, size_t* at);
  // The types of the values, in Flatten's order.
  static void Types(const Item& shape, std::vector<ir::Type>* out);
  // What an item that may be left out holds, where it is there.
  Item HeldItem(const Item& maybe);

  // Element `i` (int64, checked) of a list of unknown length.
  Item ElementAt(const Columns& columns, const Value& i);
  Value LengthOf(const Columns& columns);
  // A list's elements as columns of an element shape that fits.
  std::shared_ptr<const Columns> ColumnsOf(const Item& list);
  // Those of both lists, one after the other.
  std::shared_ptr<const Columns> Joined(const Columns& x, const Item& element);
  // The elements of a column from `start` on (int64, in range), `count` of them, each `step` on.
  Value PartOf(const Value& column, const Value& start, const Value& count, int64_t step);
  // All of one column, then all of another.
  Value ConcatColumns(const Value& x, const Value& y);
  Item ListOf(std::shared_ptr<const Columns> columns, const ScriptType& type);
  Value NoneValue();

  // What went wrong since it was last asked; empty: nothing.
  std::string TakeProblem() { return std::exchange(problem_, {}); }

 private:
  Item Problem(std::string text);
  Item WidenPlain(const Item& x, const Item& y, const Value& condition);
  Item WidenLists(const Item& x, const Item& y, const Value& condition);
  Item WidenMaybe(const Item& x, const Item& y);
  Item WidenCells(const Item& x, const Item& y, const Value& condition);
  Item Either(const Item& x, const Item& y, const Value& condition);
  Item OptionalLeaves(Item shape);
  Item ElementShape(const Item& list);
  Value AsElements(const Value& rows);
  Value ColumnOf(const ir::Type& type, const std::vector<Value>& elements);
  void FlattenColumns(const Item& shape, const Item& list, TypedBuilder::State* out);
  void FlattenNone(const Item& shape, TypedBuilder::State* out);
  void FlattenValue(const Item& shape, const Item& item, TypedBuilder::State* out);
  Value Filler(const Item& leaf);

  TypedBuilder& b_;
  Aliases& aliases_;
  Heap& heap_;
  std::string problem_;
};

}  // namespace relayvm::import::torch
