#include "compiler/import/torch/export_guards.h"

#include <fmt/format.h>

#include <utility>

#include "compiler/import/checked.h"
#include "compiler/import/control_flow.h"
#include "compiler/import/torch/export_symbols.h"

namespace relayvm::import::torch {

namespace {

// PyTorch lets sizes of 0 and 1 pass where the range begins at 2: it says so of all sizes that were
// not 0 or 1 when the program was exported.
constexpr int64_t kUsualLeast = 2;

// The number that all terms of a sum but its constant are multiples of; 1: none but 1.
struct Multiple {
  int64_t of = 1, rest = 0;
};
Multiple MultipleOf(const Dim& d) {
  const auto factor = [](const Dim& term) -> int64_t {
    if (term.kind() != Dim::Kind::kMul) return 1;
    for (const Dim& x : term.operands()) {
      if (x.is_const()) return x.value();
    }
    return 1;
  };
  if (d.kind() != Dim::Kind::kAdd) return {factor(d), 0};
  Multiple m{0, 0};
  for (const Dim& term : d.operands()) {
    if (term.is_const()) {
      m.rest = term.value();
    } else if (m.of != 0 && factor(term) != m.of) {
      return {};
    } else {
      m.of = factor(term);
    }
  }
  return m;
}

}  // namespace

Result<Dim> ExportGuards::Parsed(std::string_view text) {
  return ParseSymbolic(text, [&](const std::string& name) {
    const auto [at, inserted] = symbols_.try_emplace(name);
    if (inserted) at->second = Dim::Symbol(b_.module().ids->Next(), name);
    return at->second;
  });
}

Dim ExportGuards::SizeOf(const Json& size) {
  const auto [kind, v] = UnionOf(size);
  if (kind == "as_int") return {IntOf(*v).value_or(0)};
  const auto parsed = Parsed(TextOf(Member(*v, "expr_str")));
  return parsed.ok() ? *parsed : Dim::Any();
}

Status ExportGuards::ReadRanges(const Json& constraints) {
  if (!constraints.is_object()) return OkStatus();
  for (const auto& [key, range] : constraints.items()) {
    const auto size = Parsed(key);
    if (!size.ok()) return size.status();
    if (size->ContainsAny()) continue;
    SizeRange r;
    r.least = IntOf(Member(range, "min_val")).value_or(0);
    r.most = IntOf(Member(range, "max_val")).value_or(INT64_MAX);
    if (r.least > r.most) {
      return {StatusCode::kInvalidInput,
              fmt::format("range_constraints: '{}' is at least {} and at most {}", key, r.least,
                          r.most)};
    }
    ranges_[*size] = r;
  }
  return OkStatus();
}

void ExportGuards::Place(const std::string& input, const std::string& what) {
  b_.SetSpan(b_.module().sources->NodeSpan(file_, input, "input", what));
}

void ExportGuards::Check(const Value& v, int64_t least, int64_t most) {
  if (!b_.status().ok()) return;
  const int64_t end = most == INT64_MAX ? most : most + 1;
  checked_.push_back(b_.Op("range_checked", {v, b_.Ints({least}), b_.Ints({end})}));
}

void ExportGuards::CheckMultiple(const std::string& input, const std::string& of, const Value& v,
                                 const Dim& size) {
  const Multiple m = MultipleOf(size);
  if (m.of <= 1) return;
  const std::string formula = m.rest == 0
                                  ? fmt::format("a multiple of {}", m.of)
                                  : fmt::format("{} more than a multiple of {}", m.rest, m.of);
  Place(input, fmt::format("{} must be {}; its rest", of, formula));
  if (!b_.status().ok()) return;
  const Multiple whole{m.of, ((m.rest % m.of) + m.of) % m.of};
  // What the size is called says that it is a multiple: the number is asked as one of which nothing
  // is known.
  const Value number = b_.Op("range_checked", {v, b_.Ints({0}), b_.Ints({INT64_MAX})});
  Check(b_.Op("floor_mod", {number, b_.Ints({whole.of})}), whole.rest, whole.rest);
}

void ExportGuards::AddSize(const std::string& input, const Value& v, int axis, const Json& said) {
  const Dim size = SizeOf(said);
  if (size.is_const() || size.is_any() || !b_.status().ok()) return;
  const std::string of = fmt::format("dimension {}", axis);
  const auto found = ranges_.find(size);
  const SizeRange r = found == ranges_.end() ? SizeRange{} : found->second;
  const int64_t least = r.least > kUsualLeast ? r.least : 0;
  const Dim now = v.dim(axis);
  if (now.is_const()) {
    const Multiple m = MultipleOf(size);
    Place(input, of);
    if (now.value() < least || now.value() > r.most) {
      b_.Fail(StatusCode::kInvalidArgument, "{} of input '{}' is {}, the model was exported for {}",
              of, input, now.value(),
              r.most == INT64_MAX ? fmt::format("{} or more", least)
                                  : fmt::format("{} to {}", least, r.most));
    } else if (m.of > 1 && (now.value() - m.rest) % m.of != 0) {
      b_.Fail(StatusCode::kInvalidArgument, "{} of input '{}' is {}, the model was exported for {}",
              of, input, now.value(), size.ToString());
    }
    return;
  }
  const Value number = b_.DimOf(v, axis);
  if (least > 0 || r.most != INT64_MAX) {
    Place(input, of);
    Check(number, least, r.most);
  }
  CheckMultiple(input, of, number, size);
}

void ExportGuards::AddInteger(const std::string& input, const Value& v, const Json& size) {
  const auto found = ranges_.find(SizeOf(size));
  if (found == ranges_.end() || !b_.status().ok()) return;
  const SizeRange& r = found->second;
  if (r.least <= kUsualLeast && r.most == INT64_MAX) return;
  Place(input, "");
  Check(b_.Reshape(v, {1}), r.least > kUsualLeast ? r.least : INT64_MIN, r.most);
}

void ExportGuards::AddNumber(const std::string& input, const Value& v, const Argument& number) {
  if (!b_.status().ok()) return;
  if (number.is_float()) {
    const std::string what = fmt::format("must be {}, as when it was exported", number.real);
    Place(input, what);
    const Value same = number.real != number.real
                           ? b_.Op("not_equal", {v, v})
                           : b_.Op("equal", {v, ScalarValue(b_, number, v.dtype())});
    conditions_.push_back({input, what, same});
    return;
  }
  Place(input, "a number that the model was exported with");
  Check(b_.Reshape(b_.Cast(v, DType::kInt64), {1}), number.integer, number.integer);
}

Value ExportGuards::Applied(const Value& v) {
  Value out = v;
  for (const Condition& c : conditions_) {
    Place(c.input, c.what);
    out = InRange(b_, c.holds, out);
  }
  if (checked_.empty() || !b_.status().ok()) return out;
  Place("main", "");
  const Value all = b_.Concat(checked_, 0);
  const Value holds = b_.Op("all", {b_.Op("greater_equal", {all, b_.Ints({INT64_MIN})})},
                            {{"axis", AttrList{0}}, {"keepdims", false}});
  return InRange(b_, holds, out);
}

}  // namespace relayvm::import::torch
