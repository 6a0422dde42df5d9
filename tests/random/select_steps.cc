// Steps that choose elements, or make tensors.
#include <fmt/format.h>

#include "tests/random/generator.h"

namespace relayvm::random_programs {

bool Generator::TakeStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value& x) { return !x.type->shape.empty(); });
  std::optional<Value> index = PickTensor(scope, [](const Value& x) {
    return (x.type->dtype == DType::kInt32 || x.type->dtype == DType::kInt64) &&
           x.type->shape.size() <= 1;
  });
  if (!v || !index) return false;
  const Shape& x = v->type->shape;
  auto axis = static_cast<size_t>(Below(static_cast<int>(x.size())));
  if (x[axis].Smallest() < 1) return false;
  Shape out(x.begin(), x.begin() + static_cast<int64_t>(axis));
  out.insert(out.end(), index->type->shape.begin(), index->type->shape.end());
  out.insert(out.end(), x.begin() + static_cast<int64_t>(axis) + 1, x.end());
  if (LargestCount(out) > kLargestTensor || out.size() > 4) return false;
  return Add(scope, "take",
             fmt::format("take({}, {}, axis={}, mode=\"{}\")", v->text, index->text, axis,
                         Chance(50) ? "clip" : "wrap"),
             TensorType(v->type->dtype, out, v->type->range));
}

bool Generator::SliceStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value& x) { return !x.type->shape.empty(); });
  if (!v) return false;
  Shape out = v->type->shape;
  std::vector<int64_t> begins, ends, strides, axes;
  for (size_t d = 0; d < out.size(); ++d) {
    if (!Chance(60)) continue;
    int64_t begin = Between(-3, 3), end = Chance(30) ? INT32_MAX : Between(-2, 6),
            stride = Between(1, 2);
    if (Chance(20)) {
      stride = -Between(1, 2);
      begin = Between(-2, 5);
      end = Chance(50) ? -INT32_MAX : Between(0, 2);
    }
    for (int64_t& n : out[d].at) {
      int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? n : n - 1;
      int64_t b = std::clamp(begin < 0 ? begin + n : begin, low, std::max(low, high));
      int64_t e = std::clamp(end < 0 ? end + n : end, low, std::max(low, high));
      int64_t span = stride > 0 ? e - b : b - e;
      n = span <= 0 ? 0 : (span + std::abs(stride) - 1) / std::abs(stride);
    }
    if (!out[d].known()) out[d].unknown = next_unknown_++;
    begins.push_back(begin);
    ends.push_back(end);
    strides.push_back(stride);
    axes.push_back(static_cast<int64_t>(d));
  }
  if (axes.empty()) return false;
  return Add(scope, "strided_slice",
             fmt::format("strided_slice({}, begin={}, end={}, strides={}, axes={})", v->text,
                         Ints(begins), Ints(ends), Ints(strides), Ints(axes)),
             TensorType(v->type->dtype, out, v->type->range));
}

bool Generator::CreateStep(Scope& scope) {
  std::optional<Value> v = PickTensor(scope, [](const Value&) { return true; });
  if (!v) return false;
  DType dtype = v->type->dtype;
  Range range = IsFloat(dtype) ? Range{2, 0, 0.25} : Range{};
  switch (Below(4)) {
    case 0:
      return Add(scope, "op.zeros_like", fmt::format("zeros_like({})", v->text),
                 TensorType(dtype, v->type->shape, range));
    case 1:
      return Add(scope, "op.full_like",
                 fmt::format("full_like({}, {})", v->text, SmallNumber(dtype)),
                 TensorType(dtype, v->type->shape, range));
    case 2: {
      int n = Between(1, 4), m = Between(1, 5);
      return Add(scope, "op.ones",
                 fmt::format("ones(shape=[{}, {}], dtype=\"{}\")", n, m, DTypeName(dtype)),
                 TensorType(dtype, {StaticSize(n), StaticSize(m)}, range));
    }
    default: {
      std::optional<Value> index = PickTensor(
          scope, [](const Value& x) { return IsInt(x.type->dtype) && x.type->shape.size() <= 2; });
      if (!index) return false;
      Shape out = index->type->shape;
      out.push_back(StaticSize(4));
      return Add(
          scope, "op.one_hot",
          fmt::format("one_hot({}, 1f, 0f, depth=4, axis=-1, dtype=\"float32\")", index->text),
          TensorType(DType::kFloat32, out, {1, 0, 1}));
    }
  }
}

bool Generator::DataShapeStep(Scope& scope) {
  std::optional<Value> v =
      PickTensor(scope, [](const Value& x) { return !x.type->shape.empty() && IsComparable(x); });
  if (!v) return false;
  Size found;
  found.unknown = next_unknown_++;
  return Add(
      scope, "data_dependent", fmt::format("argwhere({})", v->text),
      TensorType(DType::kInt32, {found, StaticSize(static_cast<int64_t>(v->type->shape.size()))}));
}

}  // namespace relayvm::random_programs
