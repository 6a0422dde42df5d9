#include "vm/border/signature_dims.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "bytecode/base/message.h"
#include "bytecode/dim_names.h"
#include "vm/memory/object.h"

namespace relayvm::vm {

// --- What is to be compared ---

// Walks the types. Their depth is limited by the verifier.
class SignatureDims::Collector {
 public:
  Collector(std::span<const ValueType> params, SignatureDims* dims) : dims_(*dims) {
    // Formulas count names in this order; what stands elsewhere only comes after them.
    for (const std::string_view name : DimNames(params)) SlotOf(name);
  }

  void Add(const ValueType& type) {
    const auto value = static_cast<uint32_t>(dims_.types_.size());
    dims_.types_.push_back(&type);
    path_.clear();
    Visit(type, value);
  }

  void Finish() {
    dims_.num_slots_ = static_cast<uint32_t>(slots_.size());
    std::vector<uint32_t> uses(slots_.size());
    const auto count = [&](const SizeFormula& formula) {
      for (const SizeStep& step : formula) {
        if (step.kind == SizeStep::Kind::kScalar) ++uses[static_cast<size_t>(step.value)];
      }
    };
    for (const auto& [slot, place] : named_) ++uses[slot];
    for (const uint32_t place : formulas_) count(FormulaAt(place));
    for (const auto& [type, inside] : dims_.inside_) {
      for (const InsideDim& dim : inside) {
        if (dim.formula != nullptr) count(*dim.formula);
        // Several tensors may have this type.
        if (dim.formula == nullptr) uses[dim.slot] += 2;
      }
    }
    std::vector<bool> bound(slots_.size());
    for (const auto& [slot, place] : named_) {
      if (uses[slot] < 2) continue;
      const auto kind = bound[slot] ? DimCheck::Kind::kCompare : DimCheck::Kind::kBind;
      dims_.checks_.push_back({kind, slot, place});
      bound[slot] = true;
    }
    for (const uint32_t place : formulas_)
      dims_.checks_.push_back({DimCheck::Kind::kEvaluate, 0, place});
  }

 private:
  uint32_t SlotOf(std::string_view name) {
    return slots_.emplace(name, static_cast<uint32_t>(slots_.size())).first->second;
  }

  const SizeFormula& FormulaAt(uint32_t place) const {
    const Place& at = dims_.places_[place];
    return at.type->dim_formulas[at.dim];
  }

  void Visit(const ValueType& type, uint32_t value) {
    if (type.kind == ValueType::Kind::kTensor) return VisitTensor(type, value);
    if (type.kind == ValueType::Kind::kAdt) {
      const size_t before = dims_.inside_.size();
      for (const ValueType& arg : type.args) VisitInside(arg);
      const bool has_names = dims_.inside_.size() > before;
      if (has_names && (dims_.data_.empty() || dims_.data_.back() != value))
        dims_.data_.push_back(value);
    }
    if (type.kind != ValueType::Kind::kTuple) return;
    for (uint32_t i = 0; i < type.args.size(); ++i) {
      path_.push_back(i);
      Visit(type.args[i], value);
      path_.pop_back();
    }
  }

  void VisitTensor(const ValueType& type, uint32_t value) {
    for (uint32_t i = 0; i < type.dims.size(); ++i) {
      const bool formula = IsDimFormula(type, i);
      if (!formula && !IsDimName(type, i)) continue;
      const auto place = static_cast<uint32_t>(dims_.places_.size());
      dims_.places_.push_back({value, i, path_, &type});
      if (formula) {
        formulas_.push_back(place);
      } else {
        named_.emplace_back(SlotOf(type.dim_names[i]), place);
      }
    }
  }

  void VisitInside(const ValueType& type) {
    for (const ValueType& arg : type.args) VisitInside(arg);
    if (type.kind != ValueType::Kind::kTensor) return;
    for (uint32_t i = 0; i < type.dims.size(); ++i) {
      if (IsDimFormula(type, i)) {
        dims_.inside_[&type].push_back({i, 0, &type.dim_formulas[i]});
      } else if (IsDimName(type, i)) {
        dims_.inside_[&type].push_back({i, SlotOf(type.dim_names[i]), nullptr});
      }
    }
  }

  SignatureDims& dims_;
  std::map<std::string_view, uint32_t> slots_;
  std::vector<std::pair<uint32_t, uint32_t>> named_;  // slot and place
  std::vector<uint32_t> formulas_;                    // places
  std::vector<uint32_t> path_;
};

SignatureDims::SignatureDims(std::span<const ValueType> params, const ValueType* result) {
  Collector collector(params, this);
  for (const ValueType& type : params) collector.Add(type);
  if (result != nullptr) collector.Add(*result);
  collector.Finish();
}

// --- Comparing ---

std::string SignatureDims::DimNameAt(const Place& place) {
  const std::vector<std::string>& names = place.type->dim_names;
  return place.dim < names.size() && !names[place.dim].empty() ? names[place.dim] : "?";
}

// Null where the value is of another type.
const Tensor* SignatureDims::TensorAt(const Object* object, const Place& place) {
  for (const uint32_t field : place.path) {
    if (object == nullptr || object->kind != ObjectKind::kAdt) return nullptr;
    const auto* tuple = static_cast<const Adt*>(object);
    if (field >= tuple->num_fields) return nullptr;
    object = tuple->fields[field];
  }
  if (object == nullptr || !IsTensor(object)) return nullptr;
  const auto* tensor = static_cast<const Tensor*>(object);
  return place.dim < tensor->rank ? tensor : nullptr;
}

bool SignatureDims::Agree(std::span<const Value> values) const {
  if (!data_.empty()) return false;
  constexpr size_t kFewSlots = 32;
  std::array<int64_t, kFewSlots> few;
  std::vector<int64_t> many(num_slots_ > few.size() ? num_slots_ : 0);
  int64_t* slots = many.empty() ? few.data() : many.data();
  for (const DimCheck& check : checks_) {
    const Place& place = places_[check.place];
    const Tensor* tensor = TensorAt(values[place.value].object(), place);
    if (tensor == nullptr) return false;
    const int64_t found = tensor->dims[place.dim];
    switch (check.kind) {
      case DimCheck::Kind::kBind:
        slots[check.slot] = found;
        break;
      case DimCheck::Kind::kCompare:
        if (slots[check.slot] != found) return false;
        break;
      case DimCheck::Kind::kEvaluate:
        if (EvaluateSize(place.type->dim_formulas[place.dim], slots) != found) return false;
        break;
    }
  }
  return true;
}

// With where each name was bound.
class SignatureDims::Run {
 public:
  Run(size_t num_slots, std::span<const std::string> names, size_t num_values)
      : names_(names), num_values_(num_values), slots_(num_slots), bound_(num_slots) {}

  // Where a place says another number than it should; empty: it does not.
  std::string Name(uint32_t slot, int64_t found, const Place& place, bool inside) {
    if (bound_[slot].empty()) {
      slots_[slot] = found;
      bound_[slot] = Describe(place, found, inside);
      return "";
    }
    if (slots_[slot] == found) return "";
    expected_ = slots_[slot];
    return fmt::format("{}, {}", bound_[slot], Describe(place, found, inside));
  }
  std::string Formula(const SizeFormula& formula, int64_t found, const Place& place, bool inside) {
    std::string of;
    for (const SizeStep& step : formula) {
      if (step.kind != SizeStep::Kind::kScalar) continue;
      const std::string& one = bound_[static_cast<size_t>(step.value)];
      if (one.empty()) return "";  // of a value of another type
      if (of.find(one) == std::string::npos) of += (of.empty() ? "" : ", ") + one;
    }
    const std::optional<int64_t> value = EvaluateSize(formula, slots_.data());
    if (value == found) return "";
    expected_ = value.value_or(-1);
    return fmt::format("{}, {}", of, Describe(place, found, inside));
  }
  int64_t expected() const { return expected_; }

  // "x", "x.0" for a field of a tuple.
  std::string NameOf(const Place& place) const {
    std::string name;
    if (place.value < names_.size()) name = names_[place.value];
    if (name.starts_with('%')) name.erase(0, 1);
    if (name.empty()) {
      name = place.value < num_values_ ? fmt::format("argument {}", place.value)
                                       : std::string("the result");
    }
    for (const uint32_t field : place.path) name += fmt::format(".{}", field);
    return name;
  }

 private:
  std::string Describe(const Place& place, int64_t found, bool inside) const {
    return fmt::format("{}{}'s dim {} ({}) is {}", inside ? "a tensor in " : "", NameOf(place),
                       place.dim, DimNameAt(place), found);
  }

  std::span<const std::string> names_;
  size_t num_values_;
  std::vector<int64_t> slots_;
  std::vector<std::string> bound_;  // where; empty: nowhere yet
  int64_t expected_ = 0;
};

SignatureDims::Mismatch SignatureDims::Check(const Program& program, std::span<const Value> values,
                                             const Object* result,
                                             std::span<const std::string> names,
                                             BorderPoll* poll) const {
  Run run(num_slots_, names, values.size());
  const auto object_at = [&](uint32_t value) {
    return value < values.size() ? values[value].object() : result;
  };
  const auto wrong = [&](std::string text, const Place& place, int64_t found, bool inside) {
    Mismatch mismatch;
    mismatch.text = std::move(text);
    mismatch.detail.subject = run.NameOf(place);
    mismatch.detail.expected = {run.expected()};
    mismatch.detail.found = {found};
    if (inside || !place.path.empty() || place.value >= values.size()) return mismatch;
    std::vector<std::string> dims;
    for (size_t i = 0; i < place.type->dims.size(); ++i)
      dims.push_back(place.type->dims[i] < 0 ? "?" : std::to_string(place.type->dims[i]));
    const std::string name = DimNameAt(place);
    const bool is_word =
        std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    dims[place.dim] = (is_word ? name : std::string("n")) + "_2";
    mismatch.other_name =
        fmt::format("{}='({}{})'", run.NameOf(place), Joined(dims), dims.size() == 1 ? "," : "");
    return mismatch;
  };
  for (const DimCheck& check : checks_) {
    const Place& place = places_[check.place];
    const Tensor* tensor = TensorAt(object_at(place.value), place);
    if (tensor == nullptr) continue;
    const int64_t found = tensor->dims[place.dim];
    std::string text =
        check.kind == DimCheck::Kind::kEvaluate
            ? run.Formula(place.type->dim_formulas[place.dim], found, place, /*inside=*/false)
            : run.Name(check.slot, found, place, /*inside=*/false);
    if (!text.empty()) return wrong(std::move(text), place, found, /*inside=*/false);
  }
  Mismatch mismatch;
  // Names, and then what stands for numbers over them, wherever these are.
  const auto compare = [&](uint32_t value, bool formulas) {
    const TensorVisitor visitor = [&](const ValueType& type, const Tensor& tensor) -> std::string {
      const auto dims = inside_.find(&type);
      if (dims == inside_.end()) return "";
      for (const InsideDim& dim : dims->second) {
        if ((dim.formula != nullptr) != formulas) continue;
        const Place place{value, dim.dim, {}, &type};
        const int64_t found = tensor.dims[dim.dim];
        std::string text = dim.formula != nullptr
                               ? run.Formula(*dim.formula, found, place, /*inside=*/true)
                               : run.Name(dim.slot, found, place, /*inside=*/true);
        if (text.empty()) continue;
        mismatch = wrong(std::move(text), place, found, /*inside=*/true);
        return mismatch.text;
      }
      return "";
    };
    if (object_at(value) != nullptr)
      VisitTensors(program, object_at(value), *types_[value], visitor, poll);
    return mismatch.text.empty() && !poll->stopped();
  };
  bool has_names = false, has_formulas = false;
  for (const auto& [type, dims] : inside_) {
    for (const InsideDim& dim : dims) (dim.formula != nullptr ? has_formulas : has_names) = true;
  }
  for (const bool formulas : {false, true}) {
    if (!(formulas ? has_formulas : has_names)) continue;
    for (const uint32_t value : data_) {
      if (!compare(value, formulas)) return mismatch;
    }
  }
  return mismatch;
}

}  // namespace relayvm::vm
