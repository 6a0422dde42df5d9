// Indices and sizes in a dtype that may not hold them: an error, or a guard where dims are open.
#include <algorithm>
#include <array>

#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

const Dim kOpen[] = {Dim::Symbol(1, "n"), Dim::Symbol(2, "m"), Dim::Symbol(3, "k")};

TensorType TensorOfDims(DType dtype, const std::vector<int64_t>& dims) {
  TensorType t{{}, dtype};
  for (size_t i = 0; i < dims.size(); ++i) t.shape.push_back(dims[i] < 0 ? kOpen[i] : Dim(dims[i]));
  return t;
}

struct Inferred {
  Result<OpResult> result;
  std::vector<Guard> guards;
};

Inferred Infer(const OpDef& op, const AttrMap& given, const std::vector<TensorType>& args) {
  Attrs attrs;
  for (const auto& [name, value] : given) attrs.Set(name, value);
  auto completed = CompleteAttrs(op, attrs);
  if (!completed.ok()) return {completed.status(), {}};
  std::vector<ArgType> types;
  for (const TensorType& t : args) types.push_back({false, {t}});
  FakeContext context(*completed, types);
  Result<OpResult> result = op.infer(context);
  return {std::move(result), std::move(context.guards)};
}

TEST_CASE("indices and sizes beyond a dtype are refused, or guarded where dims are open") {
  constexpr int64_t kMany = int64_t{1} << 31;  // one more than int32 holds
  constexpr int64_t kRows = int64_t{1} << 16;
  struct Row {
    std::string op;
    AttrMap attrs;
    std::vector<std::pair<DType, std::vector<int64_t>>> args;  // with a dim too large; -1: open
    std::string message;
    std::optional<int64_t> last_dim = std::nullopt;  // of the first argument, that still fits
  };
  const DType f32 = DType::kFloat32;
  for (const Row& r : std::vector<Row>{
           {"shape_of", {}, {{f32, {2, kMany}}}, "a size as int32", kMany - 1},
           {"shape_of", {{"dtype", "uint8"}}, {{f32, {2, 256}}}, "a size as uint8", 255},
           {"shape_of",
            {{"dtype", "float32"}},
            {{f32, {2, (1 << 24) + 1}}},
            "a size as float32",
            1 << 24},
           {"ndarray_size", {}, {{f32, {kRows, kRows}}}, "a size as int32", kRows / 2 - 1},
           {"ndarray_size", {{"dtype", "int16"}}, {{f32, {256, 128}}}, "a size as int16", 127},
           {"argmax", {}, {{f32, {1, kMany + 1}}}, "the last index as int32", kMany},
           {"argmax", {}, {{f32, {kRows, kRows}}}, "the last index as int32", kRows / 2},
           {"argmin",
            {{"axis", List({1})}},
            {{f32, {2, kMany + 1}}},
            "the last index as int32",
            kMany},
           {"argsort", {}, {{f32, {2, kMany + 1}}}, "the last index as int32", kMany},
           {"argsort", {{"dtype", "uint8"}}, {{f32, {2, 257}}}, "the last index as uint8", 256},
           {"topk", {{"dtype", "int8"}}, {{f32, {2, 129}}}, "the last index as int8", 128},
           {"searchsorted",
            {{"dtype", "int8"}},
            {{f32, {128}}, {f32, {3}}},
            "the last position as int8",
            127},
           {"argwhere", {}, {{f32, {2, kMany + 1}}}, "the last index as int32", kMany},
           {"unique", {}, {{f32, {kMany}}}, "the number of elements as int32", kMany - 1},
           {"invert_permutation", {}, {{DType::kInt8, {129}}}, "the last position as int8", 128},
           {"vision.get_valid_counts",
            {},
            {{f32, {1, kMany, 6}}, {f32, {}}},
            "the number of boxes as int32"},
       }) {
    CAPTURE(r.op);
    CAPTURE(r.message);
    const OpDef& op = *OpTable::Get().Find(r.op);
    std::vector<TensorType> args, open, fitting;
    for (const auto& [dtype, dims] : r.args) {
      args.push_back(TensorOfDims(dtype, dims));
      open.push_back(TensorOfDims(dtype, std::vector<int64_t>(dims.size(), -1)));
    }
    const Inferred refused = Infer(op, r.attrs, args);
    REQUIRE_FALSE(refused.result.ok());
    CHECK_MESSAGE(refused.result.status().message().find(r.message) != std::string::npos,
                  refused.result.status().ToString());
    const Inferred guarded = Infer(op, r.attrs, open);
    REQUIRE_MESSAGE(guarded.result.ok(), guarded.result.status().ToString());
    CHECK(std::ranges::any_of(guarded.guards, [&](const Guard& g) {
      return g.kind == Guard::kAtLeast && g.what.find(r.message) != std::string::npos;
    }));
    if (!r.last_dim) continue;
    args[0].shape.back() = Dim(*r.last_dim);
    const Inferred fits = Infer(op, r.attrs, args);
    CHECK_MESSAGE(fits.result.ok(), fits.result.status().ToString());
    CHECK(fits.guards.empty());
  }
}

TEST_CASE("a range in a narrower dtype says what it holds") {
  auto infer = [](const std::string& dtype, const std::vector<Dim>& range) {
    const OpDef& op = *OpTable::Get().Find("arange");
    Attrs attrs;
    attrs.Set("dtype", AttrValue(dtype));
    auto completed = CompleteAttrs(op, attrs);
    REQUIRE(completed.ok());
    FakeContext context(*completed,
                        std::vector<ArgType>(3, {false, {TensorType{{}, DType::kInt64}}}));
    for (size_t i = 0; i < 3; ++i) context.elements[i] = {range[i]};
    const Status status = op.infer(context).status();
    std::string text = status.ok() ? "" : status.message();
    for (const Guard& g : context.guards) text += (text.empty() ? "" : "; ") + g.what;
    return text;
  };
  CHECK(infer("int8", {0, 128, 1}) == "");
  CHECK(infer("int8", {0, 129, 1}).find("the largest element as int8") != std::string::npos);
  CHECK(infer("int8", {-128, 100, 3}) == "");
  CHECK(infer("int8", {0, -129, -1}) == "");
  CHECK(infer("int8", {0, -130, -1}).find("the least element as int8") != std::string::npos);
  CHECK(infer("uint8", {-1, 4, 1}).find("the least element as uint8") != std::string::npos);
  CHECK(infer("int8", {300, 300, 1}) == "");  // of no elements
  CHECK(infer("int64", {0, INT64_MAX, 1}) == "");
  CHECK(infer("int8", {0, kOpen[0], 1}).find("the largest element as int8") != std::string::npos);
}

TEST_CASE("a range of floats as integers says what these hold") {
  auto infer = [](const std::string& dtype, const std::array<double, 3>& range) {
    const OpDef& op = *OpTable::Get().Find("arange");
    Attrs attrs;
    attrs.Set("dtype", AttrValue(dtype));
    auto completed = CompleteAttrs(op, attrs);
    REQUIRE(completed.ok());
    FakeContext context(*completed,
                        std::vector<ArgType>(3, {false, {TensorType{{}, DType::kFloat32}}}));
    for (size_t i = 0; i < 3; ++i) context.floats[i] = std::vector<double>{range[i]};
    const Status status = op.infer(context).status();
    return status.ok() ? std::string() : status.message();
  };
  CHECK(infer("int8", {0, 128, 1}) == "");
  CHECK(infer("int8", {0, 128.5, 1}).find("the largest element as int8") != std::string::npos);
  CHECK(infer("int8", {-128.5, 100, 3}) == "");  // of which -128 is left
  CHECK(infer("int8", {0, -129, -1}) == "");
  CHECK(infer("int8", {0, -130, -1}).find("the least element as int8") != std::string::npos);
  CHECK(infer("uint8", {-0.5, 256, 0.5}) == "");
  CHECK(infer("uint8", {-1.5, 4, 0.5}).find("the least element as uint8") != std::string::npos);
  CHECK(infer("uint8", {300, 300, 1}) == "");  // of no elements
  CHECK(infer("float16", {0, 300, 1}) == "");
}

// The walk: what has a result of int32 and no argument of int32 makes it itself.
TEST_CASE("each operator that makes int32 of other data asks whether it holds the last") {
  const std::vector<TensorType> candidates = {
      TensorOfDims(DType::kFloat32, {-1, -1}),     TensorOfDims(DType::kFloat32, {-1}),
      TensorOfDims(DType::kFloat32, {-1, -1, -1}), TensorOfDims(DType::kInt64, {-1}),
      TensorOfDims(DType::kFloat32, {}),           TensorOfDims(DType::kUInt64, {10})};
  std::set<std::string> asking, silent;
  for (std::string_view name : OpTable::Get().Names()) {
    const OpDef& op = *OpTable::Get().Find(name);
    if (!op.infer || op.num_args < 1 || op.num_args > 4) continue;
    std::vector<size_t> at(static_cast<size_t>(op.num_args), 0);
    for (bool more = true; more;) {
      std::vector<TensorType> args;
      for (size_t a : at) args.push_back(candidates[a]);
      const Inferred inferred = Infer(op, {}, args);
      if (inferred.result.ok() &&
          std::ranges::any_of(inferred.result->tensors,
                              [](const TensorType& t) { return t.dtype == DType::kInt32; })) {
        const bool asks = std::ranges::any_of(inferred.guards, [](const Guard& g) {
          return g.what.find("as int32") != std::string::npos;
        });
        (asks ? asking : silent).insert(std::string(name));
      }
      more = false;
      for (size_t k = at.size(); k-- > 0;) {
        if (++at[k] < candidates.size()) {
          more = true;
          break;
        }
        at[k] = 0;
      }
    }
  }
  for (const char* name : {"argmax", "argmin", "argsort", "argwhere", "ndarray_size",
                           "random.multinomial", "searchsorted", "shape_of", "topk", "unique",
                           "vision.get_valid_counts", "vision.multibox_transform_loc"})
    CHECK_MESSAGE(asking.contains(name), name);
  // Of a scalar there is nothing to ask.
  for (const std::string& name : silent) CHECK_MESSAGE(asking.contains(name), name);
}

}  // namespace
}  // namespace relayvm::op_testing
