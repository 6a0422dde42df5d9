// Loops. Turns that are known are straight code while that is short; else a loop carries what its
// body changes: variables, lists and attributes, tensors that it writes in place. What that is, and
// what type it has, is found by evaluating the body until nothing more changes.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/composite/loops.h"
#include "compiler/import/torch/script_evaluator.h"

namespace relayvm::import::torch {

namespace {

// Straight code has at most so many nodes, or turns that make none.
constexpr uint32_t kStraightScript = 6000;
constexpr int64_t kMostTurns = 20'000;
// Turns that are straight code however long they are.
constexpr int64_t kFewTurns = 4;
constexpr int kMostTries = 40;

void AssignedNames(const std::vector<Stmt>& body, std::set<std::string>* names) {
  for (const Stmt& s : body) {
    if (s.kind == Stmt::Kind::kAssign || s.kind == Stmt::Kind::kFor) {
      for (const Expr& target : s.targets) {
        if (target.kind == Expr::Kind::kName) names->insert(target.text);
      }
    }
    AssignedNames(s.body, names);
    AssignedNames(s.orelse, names);
  }
}

bool AreEqualTypes(const ir::Type& x, const ir::Type& y) {
  return x == nullptr || y == nullptr ? x == y : ir::TypeEquals(x, y);
}

bool AreEqualShapes(const Item& x, const Item& y) {
  if (x.form != y.form || x.kind != y.kind || x.items.size() != y.items.size()) return false;
  if (x.form == Item::Form::kItself) return Shapes::AreSame(x, y);
  if (x.form == Item::Form::kValue)
    return x.plain.kind == y.plain.kind && AreEqualTypes(x.leaf_type, y.leaf_type);
  for (size_t i = 0; i < x.items.size(); ++i) {
    if (!AreEqualShapes(x.items[i], y.items[i])) return false;
  }
  return true;
}

}  // namespace

// What a loop carries.
struct Evaluator::Slot {
  enum class Kind : uint8_t { kName, kCell, kAttribute, kStorage };
  Kind kind = Kind::kName;
  std::string name;  // of a variable, of an attribute
  std::shared_ptr<Cell> cell;
  std::shared_ptr<Storage> storage;
  Item shape;
  Item first;            // as it is before the loop
  bool growing = false;  // a list to which each turn appends one element
  uint64_t reads = 0;    // of it, before a turn
  Item element;          // the shape of what is appended

  bool IsFor(const Slot& other) const {
    return kind == other.kind && name == other.name && cell == other.cell &&
           storage == other.storage;
  }
};

struct Evaluator::Loop {
  const Stmt* statement = nullptr;
  bool counted = false;
  Value count;      // of a counted loop
  Value condition;  // of the first turn, where it is not known to hold
  std::vector<Slot> slots;
  std::set<std::string> assigned;
  std::set<const Cell*> spoiled;  // lists that do not only grow
  std::optional<Raised> raised;   // by every turn
  size_t sized = 0;
};

void Evaluator::For(const Stmt& s, Frame& f) {
  // range(n), range(first, end, step).
  const Expr& range = s.value;
  std::vector<Item> limits;
  if (range.kind != Expr::Kind::kCall || DottedName(range.children[0]) != "range" ||
      range.children.size() < 2 || s.targets[0].kind != Expr::Kind::kName) {
    Unsupported("a loop over what is no range");
    return;
  }
  for (size_t i = 1; i < range.children.size(); ++i)
    limits.push_back(NumberAs(Evaluate(range.children[i], f), ScriptType::Kind::kInt));
  if (Stopped()) return;
  here_ = {f.file, s.offset};
  SetPlace("for");
  if (limits.size() != 1) {
    Unsupported("a range with a start");
    return;
  }
  const Item& count = limits[0];
  if (count.is(Item::Kind::kUnknown)) {
    std::set<std::string> names;
    AssignedNames(s.body, &names);
    f.names[s.targets[0].text] = Item::Unknown();
    RunArm([&] {
      Run(s.body, f);
      return std::vector<Item>();
    });
    for (const std::string& name : names) f.names[name] = Item::Unknown();
    return;
  }
  if (count.is_known_int() && Unroll(s, f, count.plain.integer)) return;
  if (Stopped()) return;
  Loop loop;
  loop.statement = &s;
  loop.counted = true;
  loop.count = ScalarOf(count, DType::kInt64);
  RunLoopOf(loop, f);
}

// False: it would be too long, and nothing was done.
bool Evaluator::Unroll(const Stmt& s, Frame& f, int64_t turns) {
  if (turns > kMostTurns) return false;
  uint32_t made = 0;
  for (int64_t i = 0; i < turns; ++i) {
    f.names[s.targets[0].text] = Item::Int(i);
    const uint32_t from = b_.Int(0).node;
    if (i == 0 && turns > kFewTurns) {
      const Names before = f.names;
      Arm arm = RunArm([&] {
        Run(s.body, f);
        return std::vector<Item>();
      });
      made = b_.Int(0).node - from;
      if (made > 3 && static_cast<int64_t>(made) * turns > kStraightScript) {
        f.names = before;
        return !fatal_.ok();
      }
      Apply(arm);
      if (arm.raised) raised_ = arm.raised;
    } else {
      Run(s.body, f);
    }
    if (Stopped() || f.returned) return true;
  }
  return true;
}

void Evaluator::While(const Stmt& s, Frame& f) {
  uint32_t made = 0;
  for (int64_t turn = 0;; ++turn) {
    const Item item = Evaluate(s.value, f);
    if (Stopped()) return;
    here_ = {f.file, s.offset};
    SetPlace("while");
    const Condition c = ConditionOf(item);
    if (c.known && !*c.known) return;
    if (c.unknown) {
      std::set<std::string> names;
      AssignedNames(s.body, &names);
      RunArm([&] {
        Run(s.body, f);
        return std::vector<Item>();
      });
      for (const std::string& name : names) f.names[name] = Item::Unknown();
      return;
    }
    if (c.known) {
      // One turn more as straight code, if it is known afterwards whether there is another.
      const Names before = f.names;
      const uint32_t from = b_.Int(0).node;
      bool known = false;
      Arm arm = RunArm([&] {
        Run(s.body, f);
        if (Stopped()) return std::vector<Item>();
        const Item again = Evaluate(s.value, f);
        known = again.is_known_number() || again.is(Item::Kind::kUnknown);
        return std::vector<Item>();
      });
      made += b_.Int(0).node - from;
      if (arm.raised || (known && made <= kStraightScript && turn < kMostTurns) || !fatal_.ok()) {
        Apply(arm);
        if (arm.raised) raised_ = arm.raised;
        if (Stopped() || f.returned) return;
        continue;
      }
      f.names = before;
      here_ = {f.file, s.offset};
    }
    Loop loop;
    loop.statement = &s;
    loop.condition = c.value;
    RunLoopOf(loop, f);
    return;
  }
}

// --- What a loop carries ---

Item Evaluator::SlotItem(const Slot& slot, const Names& names) {
  switch (slot.kind) {
    case Slot::Kind::kName: {
      const auto at = names.find(slot.name);
      return at == names.end() ? Item::Unknown() : at->second;
    }
    case Slot::Kind::kCell: {
      Item item;
      item.kind = slot.first.kind;
      item.type = slot.first.type;
      item.cell = heap_.New(slot.cell->content());
      return item;
    }
    case Slot::Kind::kAttribute: {
      const auto at = slot.cell->content().attributes.find(slot.name);
      return at == slot.cell->content().attributes.end()
                 ? Item::Unknown()
                 : Resolved(*slot.cell, slot.name, at->second);
    }
    case Slot::Kind::kStorage:
      return Item(aliases_.Fresh(slot.storage->value));
  }
  return Item::Unknown();
}

// The same after a turn.
Item Evaluator::ArmItem(const Slot& slot, const Arm& arm) {
  if (slot.kind == Slot::Kind::kName) return SlotItem(slot, arm.names);
  if (slot.kind == Slot::Kind::kStorage) {
    for (const auto& [storage, value] : arm.storages) {
      if (storage == slot.storage) return Item(aliases_.Fresh(value));
    }
    return SlotItem(slot, arm.names);
  }
  for (const auto& [cell, content] : arm.cells) {
    if (cell != slot.cell) continue;
    if (slot.kind == Slot::Kind::kAttribute) {
      const auto at = content.attributes.find(slot.name);
      return at == content.attributes.end() ? Item::Unknown()
                                            : Resolved(*cell, slot.name, at->second);
    }
    Item item;
    item.kind = slot.first.kind;
    item.type = slot.first.type;
    item.cell = heap_.New(content);
    return item;
  }
  return SlotItem(slot, arm.names);
}

void Evaluator::SetSlots(Loop& loop, Frame& f, std::span<const Value> values, const Value& i) {
  size_t at = 0;
  for (Slot& slot : loop.slots) {
    if (slot.growing) {
      CellContent content;
      auto growing = std::make_shared<CellContent::Growing>();
      growing->before = slot.first.cell->content().items;
      growing->turns = i;
      content.growing = std::move(growing);
      heap_.Set(*slot.cell, std::move(content));
      slot.reads = slot.cell->reads;
      continue;
    }
    Item item = shapes_.Build(slot.shape, values, &at);
    switch (slot.kind) {
      case Slot::Kind::kName:
        f.names[slot.name] = std::move(item);
        break;
      case Slot::Kind::kCell:
        if (item.cell != nullptr) heap_.Set(*slot.cell, item.cell->content());
        break;
      case Slot::Kind::kAttribute:
        heap_.Change(*slot.cell).attributes[slot.name] = std::move(item);
        break;
      case Slot::Kind::kStorage:
        aliases_.Set(*slot.storage, aliases_.Read(item.plain));
        break;
    }
  }
}

// False with a problem.
bool Evaluator::WidenSlot(Loop& loop, Slot slot, const Item& before, const Item& after) {
  const auto known = std::ranges::find_if(loop.slots, [&](const Slot& s) { return s.IsFor(slot); });
  if (known != loop.slots.end()) {
    if (known->growing) return false;
    Item wide = shapes_.Widen(known->shape, after);
    const bool changed = !AreEqualShapes(wide, known->shape);
    known->shape = std::move(wide);
    return changed;
  }
  if (Shapes::AreSame(before, after)) return false;
  slot.first = before;
  slot.shape = shapes_.Widen(before, after);
  if (!Shapes::HasValues(slot.shape)) return false;
  loop.slots.push_back(std::move(slot));
  return true;
}

// Whether a turn's changes need more than the slots have.
bool Evaluator::WidenSlots(Loop& loop, const Arm& arm, const Names& before) {
  bool changed = false;
  for (const std::string& name : loop.assigned) {
    const auto first = before.find(name), last = arm.names.find(name);
    if (first == before.end() || last == arm.names.end()) continue;
    Slot slot;
    slot.name = name;
    changed |= WidenSlot(loop, std::move(slot), first->second, last->second);
  }
  for (const auto& [cell, content] : arm.cells) {
    const CellContent& first = cell->content();
    if (!first.attributes.empty() || !content.attributes.empty()) {
      for (const auto& [name, value] : content.attributes) {
        const auto at = first.attributes.find(name);
        if (at == first.attributes.end()) continue;
        Slot slot;
        slot.kind = Slot::Kind::kAttribute;
        slot.cell = cell;
        slot.name = name;
        changed |= WidenSlot(loop, std::move(slot), Resolved(*cell, name, at->second),
                             Resolved(*cell, name, value));
      }
      continue;
    }
    Slot slot;
    slot.kind = Slot::Kind::kCell;
    slot.cell = cell;
    slot.first.kind =
        first.entries.empty() && content.entries.empty() ? Item::Kind::kList : Item::Kind::kDict;
    Item old = slot.first, now = slot.first;
    old.cell = heap_.New(first);
    now.cell = heap_.New(content);
    slot.first = old;
    const auto known =
        std::ranges::find_if(loop.slots, [&](const Slot& s) { return s.IsFor(slot); });
    const bool is_list =
        slot.first.is(Item::Kind::kList) && first.columns == nullptr && content.columns == nullptr;
    if (known != loop.slots.end() && known->growing) {
      if (content.growing != nullptr && content.items.size() == 1 && cell->reads == known->reads) {
        Item element = shapes_.AllValues(content.items[0]);
        if (!AreEqualShapes(element, known->element))
          element = shapes_.Widen(known->element, element);
        changed |= !AreEqualShapes(element, known->element);
        known->element = std::move(element);
        continue;
      }
      loop.spoiled.insert(cell.get());
      loop.slots.erase(known);
      changed = true;
      continue;
    }
    // Only appended to: rows that the loop collects.
    if (is_list && known == loop.slots.end() && !loop.spoiled.contains(cell.get()) &&
        first.growing == nullptr && content.items.size() == first.items.size() + 1) {
      bool same = true;
      for (size_t i = 0; i < first.items.size(); ++i)
        same = same && Shapes::AreSame(first.items[i], content.items[i]);
      if (same) {
        slot.growing = true;
        slot.element = shapes_.AllValues(content.items.back());
        loop.slots.push_back(std::move(slot));
        changed = true;
        continue;
      }
    }
    if (first.growing != nullptr) {
      ++cell->reads;  // it grows by more than one element a turn
      continue;
    }
    changed |= WidenSlot(loop, std::move(slot), old, now);
  }
  for (const auto& [storage, value] : arm.storages) {
    Slot slot;
    slot.kind = Slot::Kind::kStorage;
    slot.storage = storage;
    changed |= WidenSlot(loop, std::move(slot), Item(aliases_.Fresh(storage->value)),
                         Item(aliases_.Fresh(value)));
  }
  return changed;
}

// One turn on new variables, whose code is not used. Whether the slots had to change.
bool Evaluator::ScratchTurn(Loop& loop, Frame& f) {
  const Names before = f.names;
  const std::vector<Problem> problems = problems_;
  std::vector<ir::Type> types;
  for (const Slot& slot : loop.slots) {
    if (!slot.growing) Shapes::Types(slot.shape, &types);
  }
  TypedBuilder::State values;
  for (const ir::Type& t : types) {
    if (t == nullptr) {
      Unsupported("what a loop changes has no type that is known");
      return false;
    }
    values.push_back(b_.Use(b_.NewVar("", b_.Open(t))));
  }
  const Value i = b_.Use(b_.NewVar("", ir::MakeScalarType(DType::kInt64)));
  Arm arm = RunArm([&] {
    SetSlots(loop, f, values, i);
    if (loop.counted) f.names[loop.statement->targets[0].text] = Number(i);
    Run(loop.statement->body, f);
    if (!loop.counted && !Stopped()) Evaluate(loop.statement->value, f);
    return std::vector<Item>();
  });
  arm.names = std::exchange(f.names, before);
  loop.raised = arm.raised;
  bool changed = false;
  if (!arm.raised && fatal_.ok()) changed = WidenSlots(loop, arm, before);
  const std::string problem = shapes_.TakeProblem();
  if (fatal_.ok()) problems_ = problems;
  if (!problem.empty()) {
    Unsupported("a loop: {}", problem);
    return false;
  }
  return changed;
}

// Lists of tensors whose sizes may differ from turn to turn are no rows. Whether there is one.
bool Evaluator::SpoilUneven(Loop& loop) {
  for (auto slot = loop.slots.begin(); slot != loop.slots.end(); ++slot) {
    if (!slot->growing) continue;
    std::vector<ir::Type> types;
    Shapes::Types(slot->element, &types);
    bool even = true;
    for (const ir::Type& t : types) {
      const auto* tensor = t == nullptr ? nullptr : t->As<TensorType>();
      even = even && tensor != nullptr;
      for (size_t i = 0; even && i < tensor->shape.size(); ++i)
        even = b_.ValueOfDim(tensor->shape[i], loop.sized).has_value();
    }
    if (even) continue;
    loop.spoiled.insert(slot->cell.get());
    loop.slots.erase(slot);
    return true;
  }
  return false;
}

bool Evaluator::FindSlots(Loop& loop, Frame& f) {
  AssignedNames(loop.statement->body, &loop.assigned);
  const size_t before = problems_.size();
  for (int tries = 0; ScratchTurn(loop, f) || SpoilUneven(loop); ++tries) {
    if (tries < kMostTries) continue;
    Unsupported("what a loop changes finds no end");
    return false;
  }
  return fatal_.ok() && problems_.size() == before;
}

// --- The loop ---

Turn Evaluator::LoopTurn(Loop& loop, Frame& f, const Value& i, const TypedBuilder::State& state) {
  const Names before = f.names;
  Condition again;
  again.known = true;
  Arm arm = RunArm([&] {
    SetSlots(loop, f, state, i);
    if (loop.counted) f.names[loop.statement->targets[0].text] = Number(i);
    Run(loop.statement->body, f);
    if (!loop.counted && !Stopped()) again = ConditionOf(Evaluate(loop.statement->value, f));
    return std::vector<Item>();
  });
  arm.names = std::exchange(f.names, before);
  Turn turn;
  if (!loop.counted && !again.unknown) turn.again = BoolOf(again);
  for (const Slot& slot : loop.slots) {
    const Item item = ArmItem(slot, arm);
    if (!slot.growing) {
      shapes_.Flatten(slot.shape, item, &turn.next);
      continue;
    }
    const auto& items = item.cell->content().items;
    const size_t had = turn.rows.size();
    if (!items.empty()) shapes_.Flatten(slot.element, items.back(), &turn.rows);
    std::vector<ir::Type> types;
    Shapes::Types(slot.element, &types);
    if (turn.rows.size() - had != types.size())
      b_.Fail(StatusCode::kUnsupported, "a list that grows in a loop holds elements that differ");
  }
  // One that carries nothing has the guards alone.
  if (state.size() > turn.next.size()) turn.next.push_back(state.back());
  if (arm.raised) b_.Fail(StatusCode::kUnsupported, "a turn of a loop always fails");
  for (const Guard& g : arm.guards) {
    if (turn.next.empty()) break;
    const ir::Span span = b_.span();
    b_.SetSpan(g.span);
    turn.next[0] = InRange(b_, g.holds, turn.next[0]);
    b_.SetSpan(span);
  }
  if (const std::string problem = shapes_.TakeProblem(); !problem.empty())
    b_.Fail(StatusCode::kUnsupported, problem);
  return turn;
}

void Evaluator::RunLoopOf(Loop& loop, Frame& f) {
  const Here here = here_;
  loop.sized = b_.num_sized();
  const std::set<std::string> unknown_names = [&] {
    std::set<std::string> names;
    AssignedNames(loop.statement->body, &names);
    return names;
  }();
  const auto give_up = [&] {
    for (const std::string& name : unknown_names) f.names[name] = Item::Unknown();
  };
  if (!FindSlots(loop, f)) return give_up();
  here_ = here;
  SetPlace(loop.counted ? "for" : "while");
  if (loop.raised) {
    const Value none = loop.counted     ? b_.Op("less", {loop.count, b_.Int(1)})
                       : loop.condition ? b_.Op("logical_not", {loop.condition})
                                        : b_.Scalar(0, DType::kBool);
    AddGuard(none, *loop.raised);
    return;
  }
  TypedBuilder::State initial;
  for (Slot& slot : loop.slots) {
    if (!slot.growing) shapes_.Flatten(slot.shape, slot.first, &initial);
  }
  if (initial.empty()) initial.push_back(b_.Int(0));
  CountedLoop counted;
  counted.count = loop.counted ? loop.count : Value{};
  counted.condition = loop.condition;
  counted.initial = std::move(initial);
  counted.body = [&](const Value& i, const TypedBuilder::State& state) {
    return LoopTurn(loop, f, i, state);
  };
  if (TakeError()) return give_up();
  const TypedBuilder::State out = RunLoop(b_, counted);
  here_ = here;
  SetPlace(loop.counted ? "for" : "while");
  if (TakeError()) return give_up();
  FinishLoop(loop, f, out);
}

void Evaluator::FinishLoop(Loop& loop, Frame& f, const TypedBuilder::State& out) {
  std::vector<Slot> grown;
  std::vector<Slot> kept;
  for (Slot& slot : loop.slots) (slot.growing ? grown : kept).push_back(slot);
  loop.slots = std::move(kept);
  SetSlots(loop, f, out, {});
  // Rows come after the state, one for each value of an element.
  std::vector<ir::Type> types;
  for (const Slot& slot : loop.slots) Shapes::Types(slot.shape, &types);
  size_t at = std::max<size_t>(types.size(), 1);
  for (Slot& slot : grown) {
    auto columns = std::make_shared<Columns>();
    columns->element = slot.element;
    std::vector<ir::Type> own;
    Shapes::Types(slot.element, &own);
    for (size_t k = 0; k < own.size() && at < out.size(); ++k) columns->values.push_back(out[at++]);
    const std::vector<Item> before = slot.first.cell->content().items;
    std::vector<std::vector<Value>> prefix(own.size());
    for (const Item& item : before) {
      TypedBuilder::State values;
      shapes_.Flatten(slot.element, item, &values);
      for (size_t k = 0; k < values.size() && k < prefix.size(); ++k)
        prefix[k].push_back(b_.ExpandDims(values[k], 0));
    }
    for (size_t k = 0; k < columns->values.size(); ++k) {
      if (prefix[k].empty()) continue;
      prefix[k].push_back(columns->values[k]);
      columns->values[k] = b_.Concat(prefix[k], 0);
    }
    CellContent content;
    content.columns = std::move(columns);
    heap_.Set(*slot.cell, std::move(content));
  }
  TakeError();
}

}  // namespace relayvm::import::torch
