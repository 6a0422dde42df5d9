// What the evaluator of TorchScript computes with: numbers, strings, tensors, lists, objects, each
// known as far as the program is known when compiling. Not thread-safe.
//
// Lists, dictionaries and objects are cells that several items share, as in Python: what is done to
// one is seen through all. Cells are written through Heap only, which takes back what an arm of a
// branch did before the other arm runs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/import/torch/argument.h"
#include "compiler/import/torch/script_type.h"

namespace relayvm::import {
struct PickleValue;
}

namespace relayvm::import::torch {

struct Cell;
struct Frame;
struct ScriptFile;

// A function of the code, and where it stands.
struct Callable {
  const FunctionDef* function = nullptr;
  const ScriptFile* file = nullptr;
  std::shared_ptr<Frame> closure;  // of a function in a function: what its names mean
};

struct Item {
  enum class Kind : uint8_t {
    kPlain,     // `plain`: a number, a string, a tensor, None, a device, packed weights
    kTuple,     // `items`; `type` where it has names
    kList,      // `cell`, `type`
    kDict,      // `cell`, `type`
    kObject,    // `cell`, `type`
    kMaybe,     // `items[0]` where `condition` holds, else None; leaves are Optional values
    kEither,    // `items[0]` where `condition` holds, else `items[1]`
    kFunction,  // `callable`
    kClass,     // `type`
    kStored,    // `stored`: of the file, not yet looked at
    kUninitialised,
    kUnknown  // what an operator that is not supported gave: errors were noted
  };

  Item() = default;
  Item(Argument a) : plain(std::move(a)) {}  // NOLINT(google-explicit-constructor)
  static Item None() { return {}; }
  static Item Bool(bool v) { return Argument::Bool(v); }
  static Item Int(int64_t v) { return Argument::Int(v); }
  static Item Float(double v) { return Argument::Float(v); }
  static Item String(std::string v) { return Argument::String(std::move(v)); }
  static Item Tuple(std::vector<Item> items);
  static Item Unknown();

  bool is(Kind k) const { return kind == k; }
  bool plain_is(Argument::Kind k) const { return kind == Kind::kPlain && plain.is(k); }
  bool is_none() const { return plain_is(Argument::Kind::kNone); }
  bool is_tensor() const { return plain_is(Argument::Kind::kTensor); }
  bool is_string() const { return plain_is(Argument::Kind::kString); }  // that is known
  bool is_text() const { return kind == Kind::kPlain && plain.is_text(); }
  bool is_number() const { return kind == Kind::kPlain && plain.is_number(); }
  bool is_known_number() const { return kind == Kind::kPlain && plain.is_known_number(); }
  bool is_known_int() const {
    return plain_is(Argument::Kind::kInt) || plain_is(Argument::Kind::kBool);
  }

  Kind kind = Kind::kPlain;
  Argument plain;
  std::vector<Item> items;
  Value condition;
  std::shared_ptr<Cell> cell;
  ScriptType type;
  Callable callable;
  const PickleValue* stored = nullptr;
  // Of shapes of items (script_shapes.h): what of it may differ.
  enum class Form : uint8_t {
    kItself,   // nothing
    kValue,    // a value of the graph stands here; `plain` says which kind, `leaf_type` its type
    kParts,    // `items` (of lists, tuples, what is perhaps there), `entries`, `attributes`
    kColumns,  // a list of any length: `items[0]` is an element's shape
  };
  Form form = Form::kItself;
  ir::Type leaf_type;
  std::vector<std::string> names;  // of the attributes that `items` are the shapes of
  std::vector<Item> keys;          // of the entries
  bool content_only = false;       // a cell made for what another holds
};

// The elements of a list whose length only running tells, by columns: one for each value that an
// element is made of.
struct Columns {
  Item element;  // its shape (script_join.h)
  // Tensors whose rows are the elements' values, or Sequences (control_flow.h).
  std::vector<Value> values;
};

// For messages: "a list", "Tensor[(2, 3), float32]".
std::string ObjectTypeText(const Item& item);

struct CellContent {
  std::vector<Item> items;                              // of lists of known length
  std::vector<std::pair<Item, Item>> entries;           // of dictionaries, in order
  std::map<std::string, Item, std::less<>> attributes;  // of objects
  std::shared_ptr<const Columns> columns;               // of lists of unknown length
  // A list that turns of a loop append one element to each: those before the loop are `before`,
  // and `items` those of this turn.
  struct Growing {
    std::vector<Item> before;
    Value turns;
  };
  std::shared_ptr<const Growing> growing;
};

struct Cell : std::enable_shared_from_this<Cell> {
  uint64_t id = 0;  // in the order of their making
  uint64_t version = 0;
  std::string path;    // of what the file holds: "layers.0.state"
  uint64_t reads = 0;  // but for its length and what is appended
  // Cells of which it is one or the other, as they were then: who writes one of them is not seen.
  std::vector<std::pair<std::weak_ptr<Cell>, uint64_t>> made_of;
  bool is_copy = false;  // of what an optional value or a list of unknown length holds
  const CellContent& content() const { return content_; }

 private:
  friend class Heap;
  CellContent content_;
};

class Heap {
 public:
  std::shared_ptr<Cell> New(CellContent content);
  // To change it; REQUIRES: the reference is used before anything else is done with the heap.
  CellContent& Change(Cell& cell);
  // The same without a note: what was found out of a content that stays what it is.
  CellContent& Refine(Cell& cell) { return cell.content_; }

  struct Changed {
    std::shared_ptr<Cell> cell;
    CellContent before;
    uint64_t version = 0;
  };
  // Cells that are changed while `run` runs, but for those made in it.
  std::vector<Changed> During(const std::function<void()>& run);
  void Set(Cell& cell, CellContent content);
  // As it was before it was changed.
  void Restore(const Changed& changed);
  uint64_t next() const { return next_; }  // the number of the next cell

 private:
  struct Log {
    uint64_t from;
    std::vector<Changed> changed;
  };
  void Note(Cell& cell);

  uint64_t next_ = 1;
  std::vector<Log> logs_;
};

}  // namespace relayvm::import::torch
