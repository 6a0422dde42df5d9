// Steps that combine elements along axes: reductions, scans, sorts, matrix products.
#include <fmt/format.h>

#include "tests/random/generator.h"

namespace relayvm::random_programs {
namespace {

bool IsFloat32Or64(const Value& v) {
  return v.type->dtype == DType::kFloat32 || v.type->dtype == DType::kFloat64;
}

}  // namespace

bool Generator::Reduced(const Type& x, std::string* attrs, Shape* out, int64_t* count,
                        bool* empty) {
  auto rank = static_cast<int>(x.shape.size());
  std::vector<bool> reduced(x.shape.size(), false);
  bool keepdims = Chance(30), exclude = rank > 1 && Chance(15);
  *attrs = "";
  if (Chance(25)) {
    reduced.assign(x.shape.size(), true);
  } else {
    std::vector<int64_t> axes;
    for (int d = 0; d < rank; ++d) {
      if (!Chance(50)) continue;
      reduced[static_cast<size_t>(d)] = true;
      axes.push_back(Chance(20) ? d - rank : d);
    }
    if (axes.empty()) {
      axes = {rank - 1};
      reduced.back() = true;
    }
    *attrs += ", axis=" + Ints(axes);
    if (exclude) {
      reduced.flip();
      *attrs += ", exclude=True";
    }
  }
  if (keepdims) *attrs += ", keepdims=True";
  *count = 1;
  *empty = false;
  for (size_t d = 0; d < x.shape.size(); ++d) {
    if (!reduced[d]) {
      out->push_back(x.shape[d]);
      continue;
    }
    *count *= x.shape[d].Largest();
    *empty = *empty || x.shape[d].Smallest() == 0;
    if (keepdims) out->push_back(StaticSize(1));
  }
  return true;
}

bool Generator::ReduceStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value& x) { return !x.type->shape.empty(); });
  if (!v) return false;
  const Type& t = *v->type;
  std::string attrs;
  Shape shape;
  int64_t count = 1;
  bool empty = false;
  Reduced(t, &attrs, &shape, &count, &empty);
  std::vector<std::string> ops = {"sum", "sum", "max", "min"};
  if (t.dtype == DType::kBool) ops = {"all", "any"};
  if (t.dtype == DType::kFloat32 || t.dtype == DType::kFloat64) ops.push_back("mean");
  if (IsInt(t.dtype)) ops.push_back("prod");
  const std::string& op = OneOf(ops);
  bool defined = !empty || op == "sum" || op == "prod" || op == "all" || op == "any";
  if (!defined) return false;
  Range r = t.range;
  if (op == "sum") {
    r.bound *= static_cast<double>(count);
    r.err *= static_cast<double>(count);
  }
  std::optional<Range> rounded = Rounded(t.dtype, r, op != "mean");
  if (!rounded || (op == "sum" && t.dtype == DType::kFloat16 && !rounded->exact())) return false;
  Use("op." + op);
  return Add(scope, "reduce", fmt::format("{}({}{})", op, v->text, attrs),
             TensorType(t.dtype, shape, *rounded));
}

bool Generator::ArgReduceStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value& x) {
    return !x.type->shape.empty() && IsComparable(x) && x.type->dtype != DType::kBool &&
           Smallest(x.type->shape) > 0;
  });
  if (!v) return false;
  auto axis = static_cast<size_t>(Below(static_cast<int>(v->type->shape.size())));
  Shape shape = v->type->shape;
  bool keepdims = Chance(30);
  if (keepdims) {
    shape[axis] = StaticSize(1);
  } else {
    shape.erase(shape.begin() + static_cast<int64_t>(axis));
  }
  const char* op = Chance(50) ? "argmax" : "argmin";
  return Add(
      scope, fmt::format("op.{}", op),
      fmt::format("{}({}, axis=[{}]{}{})", op, v->text, axis, keepdims ? ", keepdims=True" : "",
                  Chance(30) ? ", select_last_index=True" : ""),
      TensorType(DType::kInt32, shape));
}

bool Generator::SoftmaxStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value& x) {
    return !x.type->shape.empty() && IsFloat32Or64(x) && Smallest(x.type->shape) > 0;
  });
  if (!v) return false;
  bool log = Chance(30);
  Range r = v->type->range;
  r.err *= 2;
  r.bound = log ? 2 * r.bound + 10 : 1;
  std::optional<Range> rounded = Rounded(v->type->dtype, r);
  if (!rounded) return false;
  int axis = Chance(50) ? -1 : Below(static_cast<int>(v->type->shape.size()));
  return Add(scope, "softmax",
             fmt::format("nn.{}softmax({}, axis={})", log ? "log_" : "", v->text, axis),
             TensorType(v->type->dtype, v->type->shape, *rounded));
}

bool Generator::DenseStep(Scope& scope) {
  bool batch = Chance(30);
  size_t rank = batch ? 3 : 2;
  std::optional<Value> a = PickTensor(scope, [&](const Value& v) {
    return v.type->shape.size() == rank && IsFloat32Or64(v) && AllKnown(v.type->shape);
  });
  if (!a) return false;
  const Shape& x = a->type->shape;
  const Size& k = x.back();
  std::optional<Value> b = PickTensor(scope, [&](const Value& v) {
    const Shape& y = v.type->shape;
    return y.size() == rank && v.type->dtype == a->type->dtype && y.back() == k &&
           y.back().is_static == k.is_static && AllKnown(y) && (!batch || y[0] == x[0]);
  });
  if (!b && !batch && k.is_static) {
    int units = Between(1, 9);
    Shape weight = {StaticSize(units), k};
    std::string_view name = DTypeName(a->type->dtype);
    b = Let(scope,
            fmt::format("full({}, shape=[{}, {}], dtype=\"{}\")", SmallNumber(a->type->dtype),
                        units, k.at[0], name),
            TensorType(a->type->dtype, weight, {2, 0, 0.25}), true);
  }
  if (!b) return false;
  const Shape& y = b->type->shape;
  auto n = static_cast<double>(std::max<int64_t>(k.Largest(), 1));
  Range p = a->type->range, q = b->type->range;
  std::optional<Range> rounded = Rounded(
      a->type->dtype,
      {n * p.bound * q.bound, n * (p.bound * q.err + q.bound * p.err), p.quantum * q.quantum},
      true);
  if (!rounded) return false;
  if (batch) {
    Size first = x[0];
    first.is_static = x[0].is_static || y[0].is_static;
    return Add(scope, "contraction",
               fmt::format("nn.batch_matmul({}, {}, transpose_b=True)", a->text, b->text),
               TensorType(a->type->dtype, {first, x[1], y[1]}, *rounded));
  }
  std::string units = y[0].is_static ? std::to_string(y[0].at[0]) : "None";
  return Add(scope, "contraction",
             fmt::format("nn.dense({}, {}, units={})", a->text, b->text, units),
             TensorType(a->type->dtype, {x[0], y[0]}, *rounded));
}

bool Generator::ScanStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value& x) {
    return !x.type->shape.empty() && x.type->dtype != DType::kBool &&
           x.type->dtype != DType::kFloat16;
  });
  if (!v) return false;
  auto axis = static_cast<size_t>(Below(static_cast<int>(v->type->shape.size())));
  auto n = static_cast<double>(v->type->shape[axis].Largest());
  Range r = v->type->range;
  std::optional<Range> rounded = Rounded(v->type->dtype, {r.bound * n, r.err * n, r.quantum}, true);
  if (!rounded) return false;
  return Add(scope, "op.cumsum",
             fmt::format("cumsum({}, axis={}, dtype=\"{}\", exclusive={})", v->text, axis,
                         DTypeName(v->type->dtype), Chance(30) ? "True" : "False"),
             TensorType(v->type->dtype, v->type->shape, *rounded));
}

bool Generator::SortStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value& x) {
    return !x.type->shape.empty() && IsComparable(x) && x.type->dtype != DType::kBool &&
           x.type->dtype != DType::kFloat16;
  });
  if (!v) return false;
  Shape shape = v->type->shape;
  int axis = Below(static_cast<int>(shape.size()));
  const char* ascending = Chance(50) ? "True" : "False";
  Use("sort");
  if (Chance(50)) {
    return Add(scope, "op.sort",
               fmt::format("sort({}, axis={}, is_ascend={})", v->text, axis, ascending), v->type);
  }
  Size& s = shape[static_cast<size_t>(axis)];
  if (s.Smallest() < 1) return false;
  s = StaticSize(1);
  return Add(scope, "op.topk",
             fmt::format("topk({}, k=1, axis={}, ret_type=\"values\", is_ascend={})", v->text, axis,
                         ascending),
             TensorType(v->type->dtype, shape, v->type->range));
}

}  // namespace relayvm::random_programs
