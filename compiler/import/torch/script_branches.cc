// Branches on conditions that only running tells: both arms are evaluated, each from the same
// start, and what they give and did is joined by one If.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/composite/loops.h"
#include "compiler/import/torch/script_evaluator.h"

namespace relayvm::import::torch {

Evaluator::Condition Evaluator::ConditionOf(const Item& item) {
  Condition c;
  if (item.is_known_number()) {
    c.known = item.plain.number() != 0;
  } else if (item.is_number()) {
    c.value = ScalarOf(item, DType::kBool);
    const auto assumed = assumed_.find(c.value.node);
    if (assumed != assumed_.end()) c.known = assumed->second;
  } else if (item.is_none()) {
    c.known = false;
  } else if (item.is_tensor()) {
    return ConditionOf(NumberAs(item, ScriptType::Kind::kBool));
  } else if (item.is(Item::Kind::kEither)) {
    return ConditionOf(
        Fork(item.condition, [&] { return item.items[0]; }, [&] { return item.items[1]; }));
  } else {
    c.unknown = true;
    if (!item.is(Item::Kind::kUnknown)) Unsupported("a condition that is no bool");
  }
  if (TakeError()) c.unknown = true;
  return c;
}

Value Evaluator::BoolOf(const Condition& c) {
  return c.known ? b_.Scalar(*c.known ? 1 : 0, DType::kBool) : c.value;
}

void Evaluator::Implies(const Value& condition, bool when, const Value& other, bool is) {
  if (condition.node != other.node) {
    implications_[condition.node].push_back({when, other.node, is});
  }
}

void Evaluator::Assume(ir::NodeId condition, bool is, int depth) {
  constexpr int kDeepest = 100;
  if (depth > kDeepest || !assumed_.try_emplace(condition, is).second) return;
  const auto known = implications_.find(condition);
  if (known == implications_.end()) return;
  const std::vector<Implication> all = known->second;
  for (const Implication& i : all) {
    if (i.when == is) Assume(i.other, i.is, depth + 1);
  }
}

Evaluator::Arm Evaluator::RunArmWhere(const Value& condition, bool is,
                                      const std::function<std::vector<Item>()>& run) {
  const auto before = assumed_;
  Assume(condition.node, is);
  Arm arm = RunArm(run);
  assumed_ = before;
  return arm;
}

void Evaluator::AddGuard(Value holds, const Raised& raised) {
  if (const auto known = KnownNumber(b_, holds)) {
    if (*known == 0) Raise(raised.message);
    return;
  }
  guards_.push_back({std::move(holds), raised.message, raised.span});
}

void Evaluator::ExpectNone(const Item& maybe, const std::string& message) {
  if (maybe.is(Item::Kind::kMaybe))
    AddGuard(b_.Op("logical_not", {maybe.condition}), {message, b_.span()});
}

uint64_t Evaluator::StorageMark() {
  return aliases_.Fresh(b_.Scalar(0, DType::kBool)).alias->storage()->id;
}

Evaluator::Arm Evaluator::RunArm(const std::function<std::vector<Item>()>& run) {
  Arm arm;
  std::vector<Guard> outside = std::exchange(guards_, {});
  const Here here = here_;
  std::vector<Heap::Changed> cells;
  const std::vector<Aliases::Written> storages =
      aliases_.During([&] { cells = heap_.During([&] { arm.results = run(); }); });
  arm.raised = std::exchange(raised_, std::nullopt);
  arm.guards = std::exchange(guards_, std::move(outside));
  for (const auto& c : cells) {
    arm.cells.emplace_back(c.cell, c.cell->content());
    heap_.Restore(c);
  }
  for (const auto& s : storages) {
    arm.storages.emplace_back(s.storage, s.storage->value);
    aliases_.Set(*s.storage, s.before);
  }
  here_ = here;
  return arm;
}

void Evaluator::Apply(const Arm& arm) {
  for (const auto& [cell, content] : arm.cells) heap_.Set(*cell, content);
  for (const auto& [storage, value] : arm.storages) aliases_.Set(*storage, value);
  guards_.insert(guards_.end(), arm.guards.begin(), arm.guards.end());
}

namespace {

// The content of a cell as an item of its own.
Item ContentItem(Heap& heap, const CellContent& content) {
  Item item;
  item.kind = !content.attributes.empty() ? Item::Kind::kObject
              : !content.entries.empty()  ? Item::Kind::kDict
                                          : Item::Kind::kList;
  item.cell = heap.New(content);
  item.content_only = true;
  return item;
}

}  // namespace

// Cells and storages that either wrote: pairs of what they hold, and who takes what they become.
void Evaluator::JoinEffects(const Arm& yes, const Arm& no, const Value& condition,
                            std::vector<std::pair<Item, Item>>* pairs,
                            std::vector<std::function<void(Item)>>* set) {
  static_cast<void>(condition);
  std::vector<std::shared_ptr<Cell>> cells;
  std::vector<std::shared_ptr<Storage>> storages;
  for (const Arm* arm : {&yes, &no}) {
    for (const auto& [cell, content] : arm->cells) {
      if (std::ranges::find(cells, cell) == cells.end()) cells.push_back(cell);
    }
    for (const auto& [storage, value] : arm->storages) {
      if (std::ranges::find(storages, storage) == storages.end()) storages.push_back(storage);
    }
  }
  for (const auto& cell : cells) {
    const auto content = [&](const Arm& arm) {
      const auto at =
          std::ranges::find(arm.cells, cell, &std::pair<std::shared_ptr<Cell>, CellContent>::first);
      return at == arm.cells.end() ? cell->content() : at->second;
    };
    CellContent p = content(yes), q = content(no);
    // Attributes one by one: most are as they were.
    if (!p.attributes.empty() || !q.attributes.empty()) {
      for (const auto& [name, value] : p.attributes) {
        const auto other = q.attributes.find(name);
        if (other == q.attributes.end()) continue;
        pairs->emplace_back(Resolved(*cell, name, value), Resolved(*cell, name, other->second));
        set->push_back([this, cell, name](Item joined) {
          heap_.Change(*cell).attributes[name] = std::move(joined);
        });
      }
      continue;
    }
    Item x = ContentItem(heap_, p), y = ContentItem(heap_, q);
    if (x.kind != y.kind) x.kind = y.kind = Item::Kind::kDict;  // one of them is empty
    pairs->emplace_back(std::move(x), std::move(y));
    set->push_back([this, cell](Item joined) {
      if (joined.cell == nullptr) {
        Unsupported(
            "a dictionary or a list that is changed in one arm of a branch in a way that only "
            "running tells");
        return;
      }
      heap_.Set(*cell, joined.cell->content());
    });
  }
  for (const auto& storage : storages) {
    const auto value = [&](const Arm& arm) {
      const auto at = std::ranges::find(arm.storages, storage,
                                        &std::pair<std::shared_ptr<Storage>, Value>::first);
      return Item(aliases_.Fresh(at == arm.storages.end() ? storage->value : at->second));
    };
    pairs->emplace_back(value(yes), value(no));
    set->push_back([this, storage](Item joined) {
      if (joined.is_tensor()) aliases_.Set(*storage, aliases_.Read(joined.plain));
    });
  }
}

// Who is one of two that were there before: what is written to one of them is not seen.
void Evaluator::Entangle(const Item& x, const Item& y, const Item& joined, uint64_t first_cell,
                         uint64_t first_storage) {
  if (joined.is(Item::Kind::kEither)) return;
  for (const Item* side : {&x, &y}) {
    if (joined.cell != nullptr && side->cell != nullptr && side->cell != joined.cell &&
        side->cell->id < first_cell) {
      joined.cell->made_of.emplace_back(side->cell, side->cell->version);
    }
    if (!joined.is_tensor() || !side->is_tensor() || joined.plain.alias == nullptr ||
        side->plain.alias == nullptr)
      continue;
    const auto& mine = joined.plain.alias->storage();
    const auto& other = side->plain.alias->storage();
    if (mine == other || other->id >= first_storage) continue;
    tangles_[mine.get()].push_back({other, other->value.node});
    tangles_[other.get()].push_back({mine, mine->value.node});
    tangled_.push_back(mine);
    tangled_.push_back(other);
  }
  for (size_t i = 0; i < joined.items.size() && i < x.items.size() && i < y.items.size(); ++i)
    Entangle(x.items[i], y.items[i], joined.items[i], first_cell, first_storage);
}

// What the condition must have been, by the bools that the arms gave.
void Evaluator::NoteImplications(const Value& condition, const Item& x, const Item& y,
                                 const Item& joined) {
  if (!joined.plain_is(Argument::Kind::kSymBool)) return;
  const Value& value = joined.plain.value;
  for (const bool when : {false, true}) {
    // One arm gave the other bool: the other arm was taken, and gave this one.
    const bool not_x = x.is_known_number() && (x.plain.integer != 0) != when;
    const bool not_y = y.is_known_number() && (y.plain.integer != 0) != when;
    if (not_x) Implies(value, when, condition, false);
    if (not_y) Implies(value, when, condition, true);
    if (not_x && y.plain_is(Argument::Kind::kSymBool)) Implies(value, when, y.plain.value, when);
    if (not_y && x.plain_is(Argument::Kind::kSymBool)) Implies(value, when, x.plain.value, when);
  }
}

std::vector<Item> Evaluator::Join(const Value& condition, Arm yes, Arm no) {
  const size_t count = std::max(yes.results.size(), no.results.size());
  if (!fatal_.ok()) return std::vector<Item>(count, Item::Unknown());
  if (yes.raised && no.raised) {
    raised_ = yes.raised;
    return std::vector<Item>(count, Item::Unknown());
  }
  if (yes.raised || no.raised) {
    const Raised& raised = yes.raised ? *yes.raised : *no.raised;
    const ir::Span span = b_.span();
    b_.SetSpan(raised.span);
    AddGuard(yes.raised ? b_.Op("logical_not", {condition}) : condition, raised);
    b_.SetSpan(span);
    Arm& other = yes.raised ? no : yes;
    Apply(other);
    return other.results;
  }
  const uint64_t first_cell = heap_.next(), first_storage = StorageMark();
  std::vector<std::pair<Item, Item>> pairs;
  std::vector<std::function<void(Item)>> set;
  for (size_t i = 0; i < count; ++i) pairs.emplace_back(yes.results[i], no.results[i]);
  JoinEffects(yes, no, condition, &pairs, &set);
  std::vector<Item> shapes;
  TypedBuilder::State from_yes, from_no;
  for (const auto& [x, y] : pairs) {
    shapes.push_back(shapes_.Widen(x, y, condition));
    shapes_.Flatten(shapes.back(), x, &from_yes);
    shapes_.Flatten(shapes.back(), y, &from_no);
  }
  const Value holds = b_.Scalar(1, DType::kBool);
  for (const Guard& g : yes.guards) {
    from_yes.push_back(g.holds);
    from_no.push_back(holds);
  }
  for (const Guard& g : no.guards) {
    from_yes.push_back(holds);
    from_no.push_back(g.holds);
  }
  if (const std::string problem = shapes_.TakeProblem(); !problem.empty())
    Unsupported("a branch on what only running tells: {}", problem);
  if (TakeError() || from_yes.size() != from_no.size())
    return std::vector<Item>(count, Item::Unknown());
  std::optional<std::vector<Value>> values = std::vector<Value>();
  if (!from_yes.empty()) values = Branches(b_, condition, from_yes, from_no);
  if (TakeError()) return std::vector<Item>(count, Item::Unknown());
  if (!values) {
    Unsupported("the arms of a branch on what only running tells give values of different types");
    return std::vector<Item>(count, Item::Unknown());
  }
  size_t at = 0;
  std::vector<Item> results;
  for (size_t i = 0; i < pairs.size(); ++i) {
    Item joined = shapes_.Build(shapes[i], *values, &at);
    if (i < count) {
      NoteImplications(condition, pairs[i].first, pairs[i].second, joined);
      results.push_back(std::move(joined));
    } else {
      set[i - count](std::move(joined));
    }
  }
  for (size_t i = 0; i < count; ++i) {
    Entangle(pairs[i].first, pairs[i].second, results[i], first_cell, first_storage);
  }
  for (const auto* guards : {&yes.guards, &no.guards}) {
    for (const Guard& g : *guards) guards_.push_back({(*values)[at++], g.message, g.span});
  }
  return results;
}

Item Evaluator::Fork(const Value& condition, const std::function<Item()>& yes,
                     const std::function<Item()>& no) {
  if (const auto known = KnownNumber(b_, condition)) return *known != 0 ? yes() : no();
  const auto one = [](const std::function<Item()>& run) {
    return [&run] { return std::vector<Item>{run()}; };
  };
  if (const auto known = assumed_.find(condition.node); known != assumed_.end()) {
    return known->second ? yes() : no();
  }
  ++alternatives_;
  Arm first = RunArmWhere(condition, true, one(yes));
  Arm second = RunArmWhere(condition, false, one(no));
  --alternatives_;
  // Numbers that are known in one of both stay so: what is decided by them says which it was.
  const auto pure = [](const Arm& arm) {
    return !arm.raised && arm.guards.empty() && arm.cells.empty() && arm.storages.empty() &&
           arm.results.size() == 1;
  };
  if (pure(first) && pure(second)) {
    const Item &x = first.results[0], &y = second.results[0];
    const bool numbers = x.is_number() && y.is_number() && !x.plain.is_bool() && !y.plain.is_bool();
    if (numbers && !Shapes::AreSame(x, y) && (x.is_known_number() || y.is_known_number())) {
      Item either;
      either.kind = Item::Kind::kEither;
      either.condition = condition;
      either.items = {x, y};
      return either;
    }
  }
  std::vector<Item> joined = Join(condition, std::move(first), std::move(second));
  return joined.empty() ? Item::Unknown() : std::move(joined[0]);
}

void Evaluator::If(const Stmt& s, Frame& f) {
  const Item item = Evaluate(s.value, f);
  if (Stopped()) return;
  here_ = {f.file, s.offset};
  SetPlace("if");
  const Condition c = ConditionOf(item);
  if (c.known) {
    Run(*c.known ? s.body : s.orelse, f);
    return;
  }
  const Names before = f.names;
  const auto run = [&](const std::vector<Stmt>& body, bool is) {
    Arm arm = RunArmWhere(c.value, is, [&] {
      Run(body, f);
      return std::vector<Item>();
    });
    arm.names = std::exchange(f.names, before);
    return arm;
  };
  Arm yes = run(s.body, true), no = run(s.orelse, false);
  here_ = {f.file, s.offset};
  SetPlace("if");
  if (f.returned) {
    Unsupported("a return within a branch on what only running tells");
    f.returned = false;
  }
  if (c.unknown) {
    for (const Arm* arm : {&yes, &no}) {
      for (const auto& [name, value] : arm->names) {
        const auto known = before.find(name);
        if (known == before.end() || !Shapes::AreSame(known->second, value))
          f.names[name] = Item::Unknown();
      }
    }
    return;
  }
  if (yes.raised || no.raised) {
    f.names = yes.raised ? no.names : yes.names;
    Join(c.value, std::move(yes), std::move(no));
    return;
  }
  std::vector<std::string> names;
  for (const auto& [name, value] : yes.names) {
    const auto other = no.names.find(name);
    if (other == no.names.end()) continue;
    if (Shapes::AreSame(value, other->second)) {
      f.names[name] = value;
      continue;
    }
    names.push_back(name);
    yes.results.push_back(value);
    no.results.push_back(other->second);
  }
  std::vector<Item> joined = Join(c.value, std::move(yes), std::move(no));
  for (size_t i = 0; i < names.size() && i < joined.size(); ++i)
    f.names[names[i]] = std::move(joined[i]);
}

}  // namespace relayvm::import::torch
