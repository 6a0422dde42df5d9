// What the tests of operator definitions share: a TypeContext without a type checker, and CheckOp,
// which runs a definition twice on plain data, first with static shapes, then with a symbol for
// each dim and each element of a shape operand. For tests only.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernels/op/op.h"
#include "kernels/te/evaluate.h"
#include "kernels/te/scalar.h"

namespace relayvm::op_testing {

// --- Data ---

inline HostTensor Host(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values) {
  HostTensor t{dtype, std::move(shape), {}};
  REQUIRE(t.size() == static_cast<int64_t>(values.size()));
  t.data = SharedBytes::Zeros(values.size() * static_cast<size_t>(DTypeBytes(dtype)));
  for (size_t i = 0; i < values.size(); ++i) {
    te::Scalar s = IsFloat(dtype) ? te::FloatScalar(te::RoundToDType(values[i], dtype))
                                  : te::IntScalar(static_cast<int64_t>(values[i]));
    te::WriteElement(dtype, s,
                     t.data.Mutable().data() + i * static_cast<size_t>(DTypeBytes(dtype)));
  }
  return t;
}
inline HostTensor F32(std::vector<int64_t> shape, const std::vector<double>& values) {
  return Host(DType::kFloat32, std::move(shape), values);
}
inline HostTensor I32(std::vector<int64_t> shape, const std::vector<double>& values) {
  return Host(DType::kInt32, std::move(shape), values);
}
inline HostTensor I64(std::vector<int64_t> shape, const std::vector<double>& values) {
  return Host(DType::kInt64, std::move(shape), values);
}
inline HostTensor Bool(std::vector<int64_t> shape, const std::vector<double>& values) {
  return Host(DType::kBool, std::move(shape), values);
}

// 0, 1, 2, ...
inline std::vector<double> Iota(int64_t n, double start = 0) {
  std::vector<double> v;
  for (int64_t i = 0; i < n; ++i) v.push_back(start + static_cast<double>(i));
  return v;
}

inline std::vector<te::Scalar> Elements(const HostTensor& t) {
  std::vector<te::Scalar> out;
  const auto bytes = static_cast<size_t>(DTypeBytes(t.dtype));
  for (size_t i = 0; i < static_cast<size_t>(t.size()); ++i)
    out.push_back(te::ReadElement(t.dtype, t.data.data() + i * bytes));
  return out;
}

inline std::vector<double> Values(const HostTensor& t) {
  std::vector<double> out;
  for (const te::Scalar& s : Elements(t))
    out.push_back(IsFloat(t.dtype) ? s.f : static_cast<double>(s.i));
  return out;
}

// --- Context ---

struct Guard {
  enum Kind { kEqual, kBroadcast, kAtLeast } kind;
  Dim a, b;
  std::string what;
};

class FakeContext final : public TypeContext {
 public:
  FakeContext(Attrs attrs, std::vector<ArgType> args)
      : elements(args.size()),
        floats(args.size()),
        attrs_(std::move(attrs)),
        args_(std::move(args)) {}

  // What is known of the contents of each argument.
  std::vector<std::optional<std::vector<Dim>>> elements;
  std::vector<std::optional<std::vector<double>>> floats;
  std::vector<Guard> guards;                                            // what could not be proved
  std::function<Result<Dim>(std::span<const ScalarStep>)> compute_dim;  // null: refuses
  std::function<Result<std::vector<Dim>>(const RuledShape&)> shape_by_rule;  // the same

  const Attrs& attrs() const override { return attrs_; }
  size_t num_args() const override { return args_.size(); }
  const ArgType& arg(size_t i) const override { return args_[i]; }

  Result<std::vector<Dim>> Elements(size_t i) override {
    if (elements[i]) return *elements[i];
    return Status(StatusCode::kUnsupported, "unknown elements");
  }
  std::optional<std::vector<int64_t>> ConstantElements(size_t i) override {
    if (!elements[i]) return std::nullopt;
    std::vector<int64_t> out;
    for (const Dim& d : *elements[i]) {
      if (!d.is_const()) return std::nullopt;
      out.push_back(d.value());
    }
    return out;
  }
  std::optional<std::vector<double>> ConstantFloats(size_t i) override { return floats[i]; }
  Dim FreshSymbol(std::string_view name) override {
    return Dim::Symbol(next_++, std::string(name));
  }
  Result<Dim> ComputeDim(std::span<const ScalarStep> steps) override {
    return compute_dim ? compute_dim(steps) : TypeContext::ComputeDim(steps);
  }
  Result<std::vector<Dim>> ShapeByRule(const RuledShape& shape) override {
    return shape_by_rule ? shape_by_rule(shape) : TypeContext::ShapeByRule(shape);
  }

  Status RequireEqual(const Dim& a, const Dim& b, std::string_view what) override {
    if (a == b) return OkStatus();
    if (Dim::ProvablyDifferent(a, b)) return Fail(a, b, what, " differ");
    guards.push_back({Guard::kEqual, a, b, std::string(what)});
    return OkStatus();
  }
  Result<Dim> Broadcast(const Dim& a, const Dim& b, std::string_view what) override {
    if (a.is_const(1) || a == b) return b;
    if (b.is_const(1)) return a;
    if (a.is_const() && b.is_const()) return Fail(a, b, what, " do not broadcast");
    guards.push_back({Guard::kBroadcast, a, b, std::string(what)});
    if (a.is_const()) return a;
    if (b.is_const()) return b;
    return Dim::Max(a, b) * Dim::Min(Dim(1), Dim::Min(a, b));
  }
  Status RequireAtLeast(const Dim& a, const Dim& b, std::string_view what) override {
    auto low = (a - b).LowerBound();
    if (low && *low >= 0) return OkStatus();
    auto high = (a - b).UpperBound();
    if (high && *high < 0) {
      return {StatusCode::kInvalidInput, std::string(what) + ": expected at least " + b.ToString() +
                                             ", found " + a.ToString()};
    }
    guards.push_back({Guard::kAtLeast, a, b, std::string(what)});
    return OkStatus();
  }

 private:
  static Status Fail(const Dim& a, const Dim& b, std::string_view what, std::string_view end) {
    return {StatusCode::kInvalidInput,
            std::string(what) + ": " + a.ToString() + " and " + b.ToString() + std::string(end)};
  }

  Attrs attrs_;
  std::vector<ArgType> args_;
  uint32_t next_ = 1 << 20;
};

// --- Running a definition ---

// The result of scalar steps for these arguments. `dim` gives the values of dims.
inline HostTensor RunSteps(std::span<const ScalarStep> steps,
                           const std::vector<const HostTensor*>& args,
                           const std::function<int64_t(const Dim&)>& dim) {
  std::vector<HostTensor> results;
  for (const ScalarStep& step : steps) {
    std::vector<HostTensor> operands;
    for (const ScalarStep::Operand& o : step.operands) {
      if (auto* argument = std::get_if<ScalarStep::Argument>(&o)) {
        operands.push_back(*args.at(argument->index));
      } else if (auto* earlier = std::get_if<ScalarStep::Earlier>(&o)) {
        operands.push_back(results.at(earlier->index));
      } else if (auto* d = std::get_if<Dim>(&o)) {
        operands.push_back(I64({}, {static_cast<double>(dim(*d))}));
      } else {
        operands.push_back(Host(DType::kFloat64, {}, {std::get<double>(o)}));
      }
    }
    std::vector<te::Tensor> inputs;
    std::vector<const HostTensor*> data;
    for (const HostTensor& t : operands) {
      CHECK(t.shape.empty());
      CHECK(t.dtype == operands[0].dtype);
      inputs.push_back(te::Placeholder("s", {}, t.dtype, static_cast<int>(inputs.size())));
      data.push_back(&t);
    }
    Attrs attrs;
    if (step.dtype) attrs.Set("dtype", std::string(DTypeName(*step.dtype)));
    const TensorType out{{}, step.dtype.value_or(operands[0].dtype)};
    const OpDef* op = OpTable::Get().Find(step.op);
    REQUIRE_MESSAGE(op != nullptr, step.op);
    results.push_back(
        *te::Evaluate(op->compute({attrs, inputs, std::span(&out, 1)})[0], data, nullptr));
  }
  return results.back();
}

// The dims that the rule gives. `dim` gives the values of dims, `symbol` a dim of a value.
inline Result<std::vector<Dim>> RunRule(const RuledShape& shape,
                                        const std::function<int64_t(const Dim&)>& dim,
                                        const std::function<Dim(int64_t)>& symbol) {
  std::vector<int64_t> data, numbers, values(shape.rank);
  for (const Dim& d : shape.data) data.push_back(dim(d));
  for (const Dim& d : shape.numbers) numbers.push_back(dim(d));
  RELAYVM_RETURN_IF_ERROR(ApplyShapeRule(shape.rule, data, numbers, shape.zeros, values));
  std::vector<Dim> dims;
  for (int64_t v : values) dims.push_back(symbol(v));
  return dims;
}

struct Arg {
  bool is_tuple = false;
  std::vector<HostTensor> tensors;
  Arg(HostTensor t) : tensors{std::move(t)} {}  // NOLINT(google-explicit-constructor)
  static Arg Tuple(std::vector<HostTensor> ts) {
    Arg a(HostTensor{});
    a.is_tuple = true;
    a.tensors = std::move(ts);
    return a;
  }
};

// A call of static types that a test has evaluated, and what is known of its arguments' contents.
struct KnownCall {
  Attrs attrs;
  std::vector<ArgType> args;
  std::vector<std::optional<std::vector<Dim>>> elements;
  std::vector<std::optional<std::vector<double>>> floats;
};

// One call of each operator that the tests of this program have evaluated; op_table_test.cc asks
// for all and walks them.
inline std::map<std::string, KnownCall, std::less<>>& KnownCalls() {
  static std::map<std::string, KnownCall, std::less<>> calls;
  return calls;
}

using AttrMap = std::map<std::string, AttrValue>;

inline AttrValue List(const std::vector<int64_t>& v) {
  AttrList list;
  for (int64_t x : v) list.emplace_back(x);
  return AttrValue(std::move(list));
}

struct Options {
  bool symbolic = true;  // also run with symbols
  // Arguments whose elements are known at compile time in the symbolic run, and those whose dims
  // are.
  std::set<size_t> constant_args;
  std::set<size_t> static_args;
  double tolerance = 1e-6;  // relative, and absolute below 1
};

inline Result<std::vector<HostTensor>> RunOp(const std::string& name, const AttrMap& given,
                                             const std::vector<Arg>& args, bool symbolic,
                                             const Options& options = {}) {
  const OpDef* op = OpTable::Get().Find(name);
  REQUIRE_MESSAGE(op != nullptr, name);
  Attrs partial;
  for (const auto& [key, value] : given) partial.Set(key, value);
  RELAYVM_ASSIGN_OR_RETURN(Attrs attrs, CompleteAttrs(*op, partial));

  std::map<uint32_t, int64_t> symbols;
  auto symbol = [&](int64_t value, bool nonnegative) {
    auto id = static_cast<uint32_t>(symbols.size() + 1);
    symbols[id] = value;
    return Dim::Symbol(id, "s" + std::to_string(id), nonnegative);
  };
  std::vector<ArgType> types;
  std::vector<te::Tensor> inputs;
  std::vector<const HostTensor*> data;
  for (size_t i = 0; i < args.size(); ++i) {
    ArgType type{args[i].is_tuple, {}};
    for (const HostTensor& t : args[i].tensors) {
      TensorType tensor{{}, t.dtype};
      bool dims =
          symbolic && !options.static_args.contains(i) && !options.constant_args.contains(i);
      // A vector of integers may hold a shape, whose length is static.
      dims = dims && (IsFloat(t.dtype) || t.shape.size() > 1 || args.size() == 1 || i == 0);
      for (int64_t d : t.shape) tensor.shape.push_back(dims ? symbol(d, true) : Dim(d));
      inputs.push_back(
          te::Placeholder("p", tensor.shape, t.dtype, static_cast<int>(inputs.size())));
      data.push_back(&t);
      type.tensors.push_back(std::move(tensor));
    }
    types.push_back(std::move(type));
  }
  RELAYVM_RETURN_IF_ERROR(CheckArgs(*op, types));
  FakeContext ctx(attrs, types);
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].is_tuple) continue;
    const HostTensor& t = args[i].tensors[0];
    bool known = !symbolic || options.constant_args.contains(i);
    if (IsFloat(t.dtype)) {
      if (known) ctx.floats[i] = Values(t);
      continue;
    }
    std::vector<Dim>& elements = ctx.elements[i].emplace();
    for (const te::Scalar& s : Elements(t)) {
      elements.push_back(known ? Dim(s.i) : symbol(s.i, false));
    }
  }
  auto lookup = [&](uint32_t id) -> std::optional<int64_t> {
    auto it = symbols.find(id);
    if (it == symbols.end()) return std::nullopt;
    return it->second;
  };
  ctx.compute_dim = [&](std::span<const ScalarStep> steps) -> Result<Dim> {
    HostTensor t = RunSteps(steps, data, [&](const Dim& d) { return *d.Evaluate(lookup); });
    CHECK(t.dtype == DType::kInt64);
    return symbol(te::ReadElement(t.dtype, t.data.data()).i, false);
  };
  ctx.shape_by_rule = [&](const RuledShape& shape) {
    return RunRule(
        shape, [&](const Dim& d) { return *d.Evaluate(lookup); },
        [&](int64_t value) { return symbol(value, true); });
  };
  RELAYVM_ASSIGN_OR_RETURN(OpResult result, op->infer(ctx));
  for (const Guard& g : ctx.guards) {
    auto a = g.a.Evaluate(lookup);
    auto b = g.b.Evaluate(lookup);
    bool holds = a && b &&
                 (*a == *b || (g.kind == Guard::kBroadcast && (*a == 1 || *b == 1)) ||
                  (g.kind == Guard::kAtLeast && *a >= *b));
    if (!holds) {
      return Status(StatusCode::kFailedPrecondition,
                    g.what + ": " + g.a.ToString() + " and " + g.b.ToString());
    }
  }
  REQUIRE_MESSAGE(op->compute, name);
  // The compiler drops operands that only the relation reads: neither their elements nor their
  // shape may matter to what is computed.
  const HostTensor dropped{DType::kInt64, {0}, {}};
  for (int i : op->shape_args) {
    auto k = static_cast<size_t>(i);
    if (k >= args.size()) continue;
    REQUIRE_MESSAGE(inputs.size() == args.size(), name);
    inputs[k] = te::Placeholder("dropped", {Dim(0)}, inputs[k]->dtype, i);
    data[k] = &dropped;
  }
  ComputeContext compute{attrs, inputs, result.tensors};
  std::vector<te::Tensor> tensors = op->compute(compute);
  REQUIRE(tensors.size() == result.tensors.size());
  std::vector<HostTensor> out;
  for (size_t k = 0; k < tensors.size(); ++k) {
    CHECK(tensors[k]->shape == result.tensors[k].shape);
    CHECK(tensors[k]->dtype == result.tensors[k].dtype);
    RELAYVM_ASSIGN_OR_RETURN(HostTensor t, te::Evaluate(tensors[k], data, lookup));
    out.push_back(std::move(t));
  }
  if (!symbolic) KnownCalls().try_emplace(name, attrs, types, ctx.elements, ctx.floats);
  return out;
}

inline void CompareTensors(const HostTensor& actual, const HostTensor& expected, double tolerance) {
  CHECK(DTypeName(actual.dtype) == DTypeName(expected.dtype));
  CHECK(actual.shape == expected.shape);
  if (actual.shape != expected.shape) return;
  std::vector<double> a = Values(actual);
  std::vector<double> e = Values(expected);
  for (size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    if (std::isnan(e[i]) || std::isinf(e[i]) || !IsFloat(expected.dtype)) {
      CHECK((std::isnan(e[i]) ? std::isnan(a[i]) : a[i] == e[i]));
    } else {
      CHECK(std::abs(a[i] - e[i]) <= tolerance * std::max(1.0, std::abs(e[i])));
    }
  }
}

// The definition gives `expected`, with static and with symbolic shapes.
inline void CheckOp(const std::string& name, const AttrMap& attrs, const std::vector<Arg>& args,
                    const std::vector<HostTensor>& expected, const Options& options = {}) {
  for (bool symbolic : {false, true}) {
    if (symbolic && !options.symbolic) continue;
    CAPTURE(name);
    CAPTURE(symbolic);
    auto result = RunOp(name, attrs, args, symbolic, options);
    CHECK_MESSAGE(result.ok(), result.status().ToString());
    if (!result.ok()) continue;
    REQUIRE(result->size() == expected.size());
    for (size_t k = 0; k < expected.size(); ++k) {
      CompareTensors((*result)[k], expected[k], options.tolerance);
    }
  }
}

// The definition refuses the call with a message that contains `message`.
inline void CheckFails(const std::string& name, const AttrMap& attrs, const std::vector<Arg>& args,
                       const std::string& message, bool symbolic = false) {
  CAPTURE(name);
  auto result = RunOp(name, attrs, args, symbolic);
  REQUIRE(!result.ok());
  CHECK_MESSAGE(result.status().message().find(message) != std::string::npos,
                result.status().ToString());
}

}  // namespace relayvm::op_testing
