#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/import/torch/operator.h"

namespace relayvm::import::torch {

namespace {

// All rows by name, in the order of the tables.
class Table {
 public:
  static const Table& Get() {
    static const Table kTable;
    return kTable;
  }

  const std::vector<const Operator*>* Find(std::string_view name) const {
    const auto at = by_name_.find(name);
    return at == by_name_.end() ? nullptr : &at->second;
  }
  const std::vector<const Operator*>& all() const { return all_; }

 private:
  Table() {
    std::vector<OperatorTable> tables = {
        ArithmeticOperators(), UnaryOperators(),   ScalarOperators(), ReduceOperators(),
        FactoryOperators(),    ViewOperators(),    IndexOperators(),  SortOperators(),
        PartOperators(),       ProductOperators(), RestOperators()};
    for (const OperatorTable& t : NnOperatorTables()) tables.push_back(t);
    size_t count = 0;
    for (const OperatorTable& t : tables) count += t.size();
    operators_.reserve(count);
    for (const OperatorTable& t : tables) {
      for (const OperatorDef& def : t) Add(def);
    }
  }

  void Add(const OperatorDef& def) {
    auto schema = ParseSchema(def.schema);
    if (!schema.ok()) {
      fmt::print(stderr, "{}\n", schema.status().message());
      return;
    }
    operators_.push_back({&def, *std::move(schema)});
    const Operator* op = &operators_.back();
    all_.push_back(op);
    by_name_[op->schema.name].push_back(op);
  }

  std::vector<Operator> operators_;
  std::vector<const Operator*> all_;
  std::map<std::string, std::vector<const Operator*>, std::less<>> by_name_;
};

// `add_` and `add`; "__iand__" and "__and__". Empty where the name is of neither kind.
std::string FunctionalName(std::string_view name) {
  const size_t at = name.find("::");
  const std::string_view space = name.substr(0, at == std::string_view::npos ? 0 : at + 2);
  const std::string_view own = name.substr(space.size());
  if (own.starts_with("__i") && own.ends_with("__") && own != "__is__" && own != "__isnot__")
    return fmt::format("{}__{}", space, own.substr(3));
  if (own == "normal_") return fmt::format("{}normal_functional", space);
  if (own.size() < 2 || !own.ends_with("_") || own.ends_with("__")) return "";
  return fmt::format("{}{}", space, own.substr(0, own.size() - 1));
}

}  // namespace

bool IsInPlace(std::string_view name) { return !FunctionalName(name).empty(); }

std::vector<const Operator*> Overloads(std::string_view name) {
  if (const auto* rows = Table::Get().Find(name)) return *rows;
  const std::string functional = FunctionalName(name);
  const auto* rows = functional.empty() ? nullptr : Table::Get().Find(functional);
  return rows == nullptr ? std::vector<const Operator*>() : *rows;
}

const Operator* FindOperator(std::string_view name, std::string_view overload) {
  const std::vector<const Operator*> rows = Overloads(name);
  const auto named = [&](std::string_view wanted) -> const Operator* {
    for (const Operator* op : rows) {
      if (op->schema.overload == wanted) return op;
    }
    return nullptr;
  };
  if (const Operator* op = named(overload == "default" ? "" : overload)) return op;
  if (overload.ends_with("_out")) return named(overload.substr(0, overload.size() - 4));
  return overload == "out" && !rows.empty() ? rows[0] : nullptr;
}

Result<BoundCall> ChooseOverload(std::string_view name, std::span<const Argument> positional,
                                 std::span<const KeywordArgument> keywords) {
  const std::vector<const Operator*> rows = Overloads(name);
  if (rows.empty())
    return Status(StatusCode::kUnsupported, fmt::format("{} is not supported", name));
  Status first;
  for (const bool convert : {false, true}) {
    for (const Operator* op : rows) {
      auto bound = Bind(op->schema, positional, keywords, convert);
      if (bound.ok()) return BoundCall{op, *std::move(bound)};
      if (first.ok() && convert) first = bound.status();
    }
  }
  std::string kinds;
  for (const Argument& a : positional) kinds += (kinds.empty() ? "" : ", ") + KindText(a);
  for (const KeywordArgument& k : keywords)
    kinds += fmt::format("{}{}={}", kinds.empty() ? "" : ", ", k.name, KindText(k.value));
  return Status(StatusCode::kUnsupported,
                fmt::format("{}({}): no row takes these ({})", name, kinds, first.message()));
}

std::vector<const Operator*> AllOperators() { return Table::Get().all(); }

std::string OperatorList() {
  std::string text =
      "# PyTorch operators\n\nMade by `relayc --list-operators torchscript`, which is "
      "`relayc --list-operators torch_export`; of those that end with `_` or have `out=` the "
      "functional one "
      "stands here.\n\n| operator | schema |\n|---|---|\n";
  std::vector<const Operator*> all = AllOperators();
  std::stable_sort(all.begin(), all.end(), [](const Operator* x, const Operator* y) {
    return x->schema.name < y->schema.name;
  });
  for (const Operator* op : all)
    text += fmt::format("| {} | `{}` |\n", op->schema.full_name(), op->def->schema);
  return text;
}

}  // namespace relayvm::import::torch
