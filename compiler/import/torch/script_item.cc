#include "compiler/import/torch/script_item.h"

#include <algorithm>

namespace relayvm::import::torch {

Item Item::Tuple(std::vector<Item> items) {
  Item t;
  t.kind = Kind::kTuple;
  t.items = std::move(items);
  return t;
}

Item Item::Unknown() {
  Item t;
  t.kind = Kind::kUnknown;
  return t;
}

std::string ObjectTypeText(const Item& item) {
  switch (item.kind) {
    case Item::Kind::kPlain:
      return KindText(item.plain);
    case Item::Kind::kTuple:
      return "a tuple";
    case Item::Kind::kList:
      return "a list";
    case Item::Kind::kDict:
      return "a dictionary";
    case Item::Kind::kObject:
      return item.type.name;
    case Item::Kind::kMaybe:
      return "an optional value";
    case Item::Kind::kClass:
      return TypeText(item.type);
    default:
      return "a value";
  }
}

std::shared_ptr<Cell> Heap::New(CellContent content) {
  auto cell = std::make_shared<Cell>();
  cell->id = next_++;
  cell->content_ = std::move(content);
  return cell;
}

CellContent& Heap::Change(Cell& cell) {
  Note(cell);
  ++cell.version;
  return cell.content_;
}

void Heap::Set(Cell& cell, CellContent content) { Change(cell) = std::move(content); }

void Heap::Restore(const Changed& changed) {
  Note(*changed.cell);
  changed.cell->content_ = changed.before;
  changed.cell->version = changed.version;
}

void Heap::Note(Cell& cell) {
  if (logs_.empty() || cell.id >= logs_.back().from) return;
  auto& changed = logs_.back().changed;
  const bool known =
      std::ranges::any_of(changed, [&](const Changed& c) { return c.cell.get() == &cell; });
  if (!known) changed.push_back({cell.shared_from_this(), cell.content_, cell.version});
}

std::vector<Heap::Changed> Heap::During(const std::function<void()>& run) {
  logs_.push_back({next_, {}});
  run();
  std::vector<Changed> changed = std::move(logs_.back().changed);
  logs_.pop_back();
  if (!logs_.empty()) {
    auto& outer = logs_.back().changed;
    for (const Changed& c : changed) {
      const bool known =
          c.cell->id >= logs_.back().from ||
          std::ranges::any_of(outer, [&](const Changed& o) { return o.cell == c.cell; });
      if (!known) outer.push_back(c);
    }
  }
  return changed;
}

}  // namespace relayvm::import::torch
