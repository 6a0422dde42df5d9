// Steps whose sizes are decided by what tensors hold: a number is computed from values in scope and
// becomes a dim, by ranges, fills, slices, tiles and views.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tests/random/generator.h"

namespace relayvm::random_programs {
namespace {

// Sizes are 0 to 7.
constexpr int kMostSize = 7;

bool IsNumber(const Value& v) {
  return v.type->dtype != DType::kBool && (!IsFloat(v.type->dtype) || v.type->range.exact());
}

}  // namespace

// A number from the contents of some tensor, as a scalar of any dtype but float16.
bool Generator::SizeStep(Scope& scope) {
  static const std::vector<DType> kDTypes = {DType::kInt32,  DType::kInt32,   DType::kInt64,
                                             DType::kInt64,  DType::kInt8,    DType::kUInt8,
                                             DType::kInt16,  DType::kUInt32,  DType::kUInt16,
                                             DType::kUInt64, DType::kFloat32, DType::kFloat64};
  DType dtype = OneOf(kDTypes);
  std::optional<Value> v = PickTensor(scope, [](const Value& x) {
    int64_t smallest = 1;
    for (const Size& s : x.type->shape) smallest = std::min(smallest, s.Smallest());
    return x.type->dtype == DType::kBool || (IsNumber(x) && smallest > 0);
  });
  if (!v) return false;
  std::string text = v->text;
  DType from = v->type->dtype;
  if (from == DType::kBool) {
    text = fmt::format("cast({}, dtype=\"int32\")", text);
    from = DType::kInt32;
  }
  if (!v->type->shape.empty()) {
    bool first = v->type->shape.size() == 1 && v->type->shape[0].Smallest() > 0 && Chance(50);
    text = first           ? fmt::format("take({}, 0i64, axis=0)", text)
           : IsFloat(from) ? fmt::format("max({})", text)
                           : fmt::format("sum({})", text);
  }
  if (IsFloat(from)) {
    Use("size.float");
    text = fmt::format("floor(clip(abs({}), a_min=0f, a_max=5f))", text);
  } else {
    // What a compiler can know of other integers must not make types sharper than they are here:
    // no compiler looks through a choice.
    bool opaque = text.starts_with("%p") || text.starts_with("%m");
    std::string low = fmt::format("bitwise_and({}, {})", text, Number(from, kMostSize));
    text = opaque ? low
                  : fmt::format("where(greater({}, {}), {}, {})", text, Number(from, 1), low,
                                Number(from, 2));
  }
  text = fmt::format("cast({}, dtype=\"{}\")", text, DTypeName(dtype));
  Size size;
  if (Chance(25)) {
    // Always the same, though no compiler sees it.
    size = StaticSize(Between(1, 4));
    size.is_static = false;
    text = fmt::format("add({}({}, {}), {})", IsFloat(dtype) ? "multiply" : "bitwise_and", text,
                       Number(dtype, 0), Number(dtype, static_cast<double>(size.at[0])));
  } else {
    size.unknown = next_unknown_++;
  }
  if (IsFloat(dtype)) Use("size.float");
  if (IsInt(dtype) && dtype != DType::kInt32 && dtype != DType::kInt64) Use("size.narrow");
  Use("size.content");
  Value made = Let(scope, text, ScalarType(dtype), true);
  scope.sizes.push_back({made.text, dtype, size});
  return SizedStep(scope);
}

std::string Generator::ShapeText(const std::vector<std::string>& numbers) {
  if (numbers.size() == 1 && Chance(50))
    return fmt::format("reshape({}, newshape=[1])", numbers[0]);
  std::string fields;
  for (const std::string& n : numbers) fields += n + ", ";
  return fmt::format("stack(({}), axis=0)", fields);
}

// A tensor of a size in scope.
bool Generator::SizedStep(Scope& scope) {
  if (scope.sizes.empty()) return false;
  const SizeValue size = OneOf(scope.sizes);
  std::string wide = size.dtype == DType::kInt64 || (IsInt(size.dtype) && Chance(50))
                         ? size.text
                         : fmt::format("cast({}, dtype=\"int64\")", size.text);
  DType shape_dtype = wide == size.text ? size.dtype : DType::kInt64;
  // Beside numbers that the program says it is of a dtype whose elements the compiler follows.
  bool followed = shape_dtype == DType::kInt32 || shape_dtype == DType::kInt64;
  std::string beside = followed ? wide : fmt::format("cast({}, dtype=\"int64\")", size.text);
  auto number = [&](int n) { return Number(followed ? shape_dtype : DType::kInt64, n); };
  // What `text` makes, perhaps under a type that says more than can be inferred.
  auto add = [&](const std::string& feature, const std::string& text, const TypePtr& type) {
    bool fixed = size.size.known() && Chance(50);
    if (!fixed) return Add(scope, feature, text, type);
    Shape shape = type->shape;
    for (Size& s : shape) s.is_static = s.is_static || s == size.size;
    Use("narrower_annotation");
    std::string variable = "%" + NewName("v");
    scope.lines +=
        fmt::format("{}let {}: {} = {};\n", std::string(static_cast<size_t>(2 * scope.indent), ' '),
                    variable, TypeText(*TensorType(type->dtype, shape)), text);
    // How much others know of its type is not asked.
    return Add(scope, feature,
               fmt::format("{}({})", IsFloat(type->dtype) ? "max" : "sum", variable),
               TensorType(type->dtype, {}, type->range));
  };
  // A tensor of this very size, for views.
  auto of_size = [&](const Value& v) {
    return v.type->shape.size() == 1 && v.type->shape[0] == size.size &&
           !v.type->shape[0].is_static;
  };
  constexpr Range kFill = {2, 0, 0.25};
  switch (Below(9)) {
    case 0: {
      DType dtype = Chance(50) ? DType::kInt32 : size.dtype;
      Range range = IsFloat(dtype) ? Range{kMostSize, 0, 1} : Range{};
      std::string end = size.text;
      Size length = size.size;
      if (IsFloat(size.dtype) && Chance(50)) {
        // The length is rounded up.
        end = fmt::format("add({}, {})", end, Number(size.dtype, 0.5));
        for (int64_t& n : length.at) ++n;
        if (!length.known()) length.unknown = next_unknown_++;
      }
      return add("size.arange",
                 fmt::format("arange({}, {}, {}, dtype=\"{}\")", Number(size.dtype, 0), end,
                             Number(size.dtype, 1), DTypeName(dtype)),
                 TensorType(dtype, {length}, range));
    }
    case 1: {
      const char* op = Chance(50) ? "dyn.zeros" : "dyn.ones";
      bool two = Chance(50);
      Shape shape = {size.size};
      std::vector<std::string> numbers = {two ? beside : wide};
      if (two) {
        numbers.push_back(number(2));
        shape.push_back(StaticSize(2));
      }
      return add("size.fill",
                 fmt::format("{}({}, shape=None, dtype=\"float32\")", op, ShapeText(numbers)),
                 TensorType(DType::kFloat32, shape, kFill));
    }
    case 2:
      return add("size.fill",
                 fmt::format("dyn.full({}, {}, shape=None, dtype=\"int32\")",
                             SmallNumber(DType::kInt32), ShapeText({number(2), beside})),
                 TensorType(DType::kInt32, {StaticSize(2), size.size}));
    case 3: {
      std::optional<Value> v = PickTensor(scope, [](const Value& x) {
        return x.type->shape.size() == 1 && x.type->shape[0].known() &&
               x.type->shape[0].Largest() <= kMostSize + 1;
      });
      if (!v) return false;
      Size out;
      out.unknown = next_unknown_++;
      return Add(scope, "size.tile",
                 fmt::format("dyn.tile({}, {}, reps=[])", v->text, ShapeText({wide})),
                 TensorType(v->type->dtype, {out}, v->type->range));
    }
    case 4: {
      std::optional<Value> v =
          PickTensor(scope, [](const Value& x) { return !x.type->shape.empty(); });
      if (!v) return false;
      Shape out = v->type->shape;
      out[0] = {};
      out[0].unknown = next_unknown_++;
      return Add(
          scope, "size.slice",
          fmt::format("dyn.strided_slice({}, {}, {}, {}, begin=None, end=None, "
                      "strides=None)",
                      v->text, ShapeText({number(0)}), ShapeText({beside}), ShapeText({number(1)})),
          TensorType(v->type->dtype, out, v->type->range));
    }
    case 5: {
      std::optional<Value> v = PickTensor(scope, of_size);
      if (!v) return false;
      bool row = Chance(50);
      std::vector<std::string> numbers = {beside, number(1)};
      Shape shape = {size.size, StaticSize(1)};
      if (row) {
        std::swap(numbers[0], numbers[1]);
        std::swap(shape[0], shape[1]);
      }
      // A size of 0 in the program's text says: as the operand's.
      return add("size.view",
                 fmt::format("dyn.reshape({}, {}, newshape=[], allowzero=True)", v->text,
                             ShapeText(numbers)),
                 TensorType(v->type->dtype, shape, v->type->range));
    }
    case 6: {
      // Where a dim is 1 anyway, it depends on the compiler whether it is known.
      std::optional<Value> v = PickTensor(scope, [](const Value& x) {
        const Shape& shape = x.type->shape;
        return !shape.empty() && shape.size() <= 2 &&
               std::none_of(shape.begin(), shape.end(), [](const Size& s) { return s.Is(1); });
      });
      if (!v) return false;
      auto rank = static_cast<int>(v->type->shape.size());
      int axis = Below(rank + 1);
      Shape shape = v->type->shape;
      shape.insert(shape.begin() + axis, StaticSize(1));
      for (Size& s : shape) s.is_static = false;
      return Add(scope, "size.view",
                 fmt::format("dyn.expand_dims({}, add(bitwise_and({}, {}), {}), num_newaxis=1)",
                             v->text, beside, number(0), number(axis)),
                 TensorType(v->type->dtype, shape, v->type->range));
    }
    case 7: {
      // The codes of a reshape, which only running tells.
      std::optional<Value> v = PickTensor(scope, [](const Value& x) {
        const Shape& shape = x.type->shape;
        return !shape.empty() && std::all_of(shape.begin(), shape.end(),
                                             [](const Size& s) { return s.known() && !s.Is(1); });
      });
      if (!v) return false;
      const Shape& from = v->type->shape;
      Shape shape;
      std::vector<std::string> codes;
      bool inferred = false;
      for (size_t i = 0; i < from.size(); ++i) {
        int code = -Below(4);
        if (code == -1 && std::exchange(inferred, true)) code = 0;
        if (code == -2 && i + 1 < from.size()) code = 0;
        if (code == -3 && i + 1 == from.size()) code = 0;
        shape.push_back(from[i]);
        if (code == -3) {
          ++i;
          for (size_t r = 0; r < kRuns; ++r) shape.back().at[r] *= from[i].at[r];
        }
        codes.push_back(
            fmt::format("add(bitwise_and({}, {}), {})", beside, number(0), number(code)));
      }
      for (Size& s : shape) s.is_static = false;
      return Add(scope, "size.view",
                 fmt::format("dyn.reshape({}, {}, newshape=[])", v->text, ShapeText(codes)),
                 TensorType(v->type->dtype, shape, v->type->range));
    }
    default: {
      std::optional<Value> v = PickTensor(scope, [](const Value& x) {
        return !x.type->shape.empty() && x.type->shape.size() <= 2 && !x.type->shape[0].known();
      });
      if (!v) return false;
      Shape shape = v->type->shape;
      if (Chance(50)) {
        shape.insert(shape.begin() + 1, StaticSize(2));
        return Add(scope, "size.join", fmt::format("stack(({0}, {0}), axis=1)", v->text),
                   TensorType(v->type->dtype, shape, v->type->range));
      }
      shape[0].unknown = next_unknown_++;
      return Add(scope, "size.join", fmt::format("concatenate(({0}, {0}), axis=0)", v->text),
                 TensorType(v->type->dtype, shape, v->type->range));
    }
  }
}

}  // namespace relayvm::random_programs
