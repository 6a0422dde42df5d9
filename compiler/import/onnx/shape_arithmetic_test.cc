// Shape arithmetic of ONNX models, in the manner of what exporters write: nothing of it is left in
// the program but arithmetic on sizes in registers.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "bytecode/disassembler.h"
#include "compiler/driver.h"
#include "compiler/import/onnx/testing.h"
#include "compiler/import/onnx/value_cases.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

using namespace import::testing;  // NOLINT(google-build-using-namespace): a test's words

const std::string kShape = Node("Shape", "x", "s");
// A dim of x as a scalar.
std::string DimOf(int axis, const char* out) {
  const std::string index = fmt::format("at_{}", out);
  return IntScalar(index.c_str(), axis) + Node("Gather", "s " + index, out, Int("axis", 0));
}
const std::string kZero = Ints("zero", {0});

struct Case {
  const char* name;
  std::string graph;
  std::vector<std::string> dims;  // of x
  std::vector<std::string> kernels;
  int allocations;  // of tensors of any kind
  // Runs, with x = 0, 1, 2 ...: x's dims and the result's; its elements where they are given.
  struct Run {
    std::vector<int64_t> in, out;
    std::vector<float> elements;
  };
  std::vector<Run> runs;
};

std::vector<Case> Cases() {
  const std::vector<std::string> image = {"b", "c", "h", "w"};
  const std::string floor_twice = Node("Cast", "d", "df", Int("to", 1)) +
                                  Node("Mul", "df scale", "dm") + Node("Floor", "dm", "dfl") +
                                  Node("Cast", "dfl", "di", Int("to", 7)) +
                                  Node("Unsqueeze", "di zero", "du") + FloatScalar("scale", 0.5F);
  return {
      {"view(b, -1) of PyTorch",
       kShape + DimOf(0, "b") + Node("Unsqueeze", "b zero", "bu") + Ints("rest", {-1}) +
           Node("Concat", "bu rest", "t", Int("axis", 0)) + Node("Reshape", "x t", "y"),
       image,
       {},
       0,
       {{{2, 1, 2, 2}, {2, 4}, {0, 1, 2, 3, 4, 5, 6, 7}}, {{1, 3, 1, 2}, {1, 6}, {}}}},
      {"products of slices, in int32",
       kShape + Node("Cast", "s", "s32", Int("to", 6)) + Ints("two", {2}) + Ints("four", {4}) +
           Node("Slice", "s32 zero two", "front32") + Node("Slice", "s32 two four", "back") +
           Node("ReduceProd", "back", "hw32", Int("keepdims", 1)) +
           Node("Concat", "front32 hw32", "t32", Int("axis", 0)) +
           Node("Cast", "t32", "t", Int("to", 7)) + Node("Reshape", "x t", "y"),
       image,
       {},
       0,
       {{{2, 3, 2, 2}, {2, 3, 4}, {}}, {{1, 1, 1, 5}, {1, 1, 5}, {0, 1, 2, 3, 4}}}},
      {"a scale that floors through floats",
       kShape + DimOf(1, "d") + floor_twice + Ints("one", {1}) +
           Node("Slice", "x zero du one", "y"),
       {"b", "n"},
       {"dyn_strided_slice_0"},
       1,
       {{{2, 5}, {2, 2}, {0, 1, 5, 6}}, {{1, 4}, {1, 2}, {0, 1}}, {{3, 1}, {3, 0}, {}}}},
      {"the same on vectors, joined with sizes",
       kShape + Ints("two", {2}) + Ints("four", {4}) + Node("Slice", "s two four", "hw") +
           Node("Cast", "hw", "f", Int("to", 1)) + Floats("scales", {2, 3}) +
           Node("Mul", "f scales", "m") + Node("Floor", "m", "fl") +
           Node("Cast", "fl", "big", Int("to", 7)) + Node("Slice", "s zero two", "front") +
           Node("Concat", "front big", "t", Int("axis", 0)) + Node("Expand", "one t", "y") +
           FloatScalar("one", 1),
       image,
       {"dyn_broadcast_to_0"},
       1,
       {{{1, 1, 2, 1}, {1, 1, 4, 3}, std::vector<float>(12, 1)}, {{2, 1, 1, 1}, {2, 1, 2, 3}, {}}}},
      {"nearest neighbours by a whole scale: no coordinates",
       kShape + Floats("scales", {1, 1, 2, 2}) +
           Node("Resize", "x - scales", "y",
                Text("mode", "nearest") + Text("nearest_mode", "floor") +
                    Text("coordinate_transformation_mode", "asymmetric")),
       image,
       {"fused_repeat_repeat_0"},
       1,
       {{{1, 1, 1, 2}, {1, 1, 2, 4}, {0, 0, 1, 1, 0, 0, 1, 1}}}},
      {"scales by division of sizes",
       kShape + Ints("two", {2}) + Ints("four", {4}) + Node("Slice", "s two four", "hw") +
           Node("Cast", "hw", "f", Int("to", 1)) + Floats("want", {4, 4}) +
           Node("Div", "want f", "by") + Floats("ones", {1, 1}) +
           Node("Concat", "ones by", "scales", Int("axis", 0)) +
           Node("Resize", "x - scales", "y",
                Text("mode", "nearest") + Text("nearest_mode", "floor") +
                    Text("coordinate_transformation_mode", "asymmetric")),
       image,
       {"fused_arange_cast_divide_floor_cast_maximum_minimum_take_arange_cast_divide_floor_cast_"
        "maximum_m_0"},
       1,
       {{{1, 1, 2, 1}, {1, 1, 4, 4}, {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}}}},
      {"padding up to a multiple, by floats",
       kShape + DimOf(1, "n") + Node("Cast", "n", "f", Int("to", 1)) + FloatScalar("four", 4) +
           Node("Div", "f four", "q") + Node("Ceil", "q", "c") +
           Node("Cast", "c", "blocks", Int("to", 7)) + IntScalar("four_i", 4) +
           Node("Mul", "blocks four_i", "wide") + Node("Sub", "wide n", "more") +
           Node("Unsqueeze", "more zero", "mu") + Ints("zeros", {0, 0, 0}) +
           Node("Concat", "zeros mu", "pads", Int("axis", 0)) + Node("Pad", "x pads", "y"),
       {"b", "n"},
       {"fused_reshape_dyn_nn_pad_0"},
       1,
       {{{1, 3}, {1, 4}, {0, 1, 2, 0}}, {{1, 4}, {1, 4}, {0, 1, 2, 3}}, {{2, 5}, {2, 8}, {}}}},
      {"positions are counted where they are compared",
       kShape + DimOf(1, "n") + IntScalar("from", 0) + IntScalar("by", 1) +
           Node("Range", "from n by", "r") + Ints("one", {1}) + Node("Unsqueeze", "r zero", "row") +
           Node("Unsqueeze", "r one", "column") + Node("LessOrEqual", "row column", "m") +
           FloatScalar("no", -1) + Node("Where", "m x no", "y"),
       {"n", "n"},
       {"fused_arange_expand_dims_arange_expand_dims_less_equal_where_0"},
       1,
       {{{2, 2}, {2, 2}, {0, -1, 2, 3}}, {{1, 1}, {1, 1}, {0}}}},
      {"NonZero of ones is a range",
       kShape + Ints("one", {1}) + Ints("two", {2}) + Node("Slice", "s one two", "n") +
           Node("ConstantOfShape", "n", "ones", Fill(1)) + Node("NonZero", "ones", "nz") +
           Node("Transpose", "nz", "tr", Perm({1, 0})) + Node("Squeeze", "tr one", "at") +
           Floats("table", {9, 8, 7, 6}) + Node("Gather", "table at", "e", Int("axis", 0)) +
           Node("Add", "x e", "y"),
       {"b", "n"},
       // Whether the table has so many rows, only running tells: whoever reads it checks.
       {"fused_arange_expand_dims_squeeze_expand_dims_squeeze_range_checked_less_add_where_take_"
        "add_"
        "0"},
       1,
       {{{1, 3}, {1, 3}, {9, 9, 9}}}},
      {"expand of PyTorch: -1 keeps a dim",
       kShape + DimOf(0, "b") + Node("Unsqueeze", "b zero", "bu") + Ints("keep", {-1}) +
           Node("Concat", "bu keep", "want", Int("axis", 0)) + Node("Shape", "want", "ws") +
           Node("ConstantOfShape", "ws", "ones", Fill(1)) + IntScalar("minus", -1) +
           Node("Mul", "ones minus", "negative") + Node("Equal", "want negative", "is") +
           Node("Where", "is ones want", "t") + Floats("row", {5, 6}) +
           Node("Expand", "row t", "e") + Node("Add", "x e", "y"),
       {"b", "2"},
       {"fused_dyn_broadcast_to_add_0"},
       1,
       {{{2, 2}, {2, 2}, {5, 7, 7, 9}}}},
      {"a size divides data",
       kShape + DimOf(1, "n") + Node("Cast", "n", "f", Int("to", 1)) + Node("Sqrt", "f", "q") +
           Node("Div", "x q", "y"),
       {"b", "n"},
       {"divide_0"},
       1,
       {{{1, 4}, {1, 4}, {0, 0.5, 1, 1.5}}}},
      {"where a condition is of sizes alone",
       kShape + DimOf(1, "n") + IntScalar("most", 2) + Node("Greater", "n most", "more") +
           Node("Where", "more most n", "m") + Node("Unsqueeze", "m zero", "mu") +
           Ints("one", {1}) + Node("Slice", "x zero mu one", "y"),
       {"b", "n"},
       {"dyn_strided_slice_0"},
       1,
       {{{1, 1}, {1, 1}, {0}}, {{1, 3}, {1, 2}, {0, 1}}}},
      {"halves by a computed split",
       kShape + DimOf(1, "n") + IntScalar("two", 2) + Node("Div", "n two", "h") +
           Node("Sub", "n h", "r") + Node("Unsqueeze", "h zero", "hu") +
           Node("Unsqueeze", "r zero", "ru") + Node("Concat", "hu ru", "parts", Int("axis", 0)) +
           Node("Split", "x parts", "y rest", Int("axis", 1)),
       {"b", "n"},
       {"dyn_strided_slice_0"},
       1,
       {{{1, 5}, {1, 2}, {0, 1}}, {{2, 2}, {2, 1}, {0, 2}}}},
      {"what takes all of a tensor takes nothing",
       Ints("last", {INT64_MAX}) + Ints("one", {1}) + Node("Slice", "x zero last one", "a") +
           Node("Shape", "a", "s") + Node("Expand", "a s", "e") +
           Node("Transpose", "e", "y", Perm({0, 2, 1})),
       {"b", "1", "n"},
       {},
       0,
       {{{1, 1, 3}, {1, 3, 1}, {0, 1, 2}}}},
  };
}

int Count(const std::string& code, const std::string& what) {
  int count = 0;
  for (size_t at = 0; (at = code.find(what, at)) != std::string::npos; at += what.size()) ++count;
  return count;
}

TEST_CASE("shape arithmetic of imported models leaves no kernel and no tensor") {
  for (const Case& c : Cases()) {
    CAPTURE(c.name);
    const std::string text =
        GraphModel(c.graph + kZero + Tensor("input", "x", c.dims) + "output { name: 'y' } ", 13);
    auto module = import::testing::ImportText(text);
    REQUIRE_MESSAGE(module.ok(), module.status().ToString());
    auto compiled = CompileModule(*std::move(module), {});
    REQUIRE_MESSAGE(compiled.ok(), compiled.status().ToString());
    std::vector<std::string> kernels;
    for (const KernelInfo& k : compiled->program.kernels) kernels.push_back(k.name);
    CHECK(kernels == c.kernels);
    const std::string code = DisassembleProgram(compiled->program, {.comments = false});
    const int made = Count(code, "  tensor.alloc ") + Count(code, "  tensor.static ") +
                     Count(code, "  tensor.box ") + Count(code, "  tensor.reuse ") +
                     Count(code, "  .slot ");
    CHECK_MESSAGE(made <= c.allocations, code);
    CHECK(Count(code, "  kernel ") + Count(code, "  kernel.1 ") ==
          static_cast<int>(c.kernels.size()));

    auto executable = Executable::FromProgram(std::move(compiled->program));
    REQUIRE_MESSAGE(executable.ok(), executable.status().ToString());
    auto runtime = Runtime::Create();
    auto invocation = Invocation::Create(*runtime, *executable);
    REQUIRE(invocation.ok());
    for (const Case::Run& run : c.runs) {
      std::vector<float> x(static_cast<size_t>(
          std::accumulate(run.in.begin(), run.in.end(), int64_t{1}, std::multiplies<>())));
      std::iota(x.begin(), x.end(), 0.0F);
      auto input = Value::CopyTensor(DType::kFloat32, run.in, x.data());
      auto y = (*invocation)->Run("main", {*input});
      REQUIRE_MESSAGE(y.ok(), y.status().ToString());
      CHECK(std::vector<int64_t>(y->dims().begin(), y->dims().end()) == run.out);
      const auto* data = static_cast<const float*>(y->data());
      if (!run.elements.empty()) {
        CHECK(std::vector<float>(data, data + y->num_elements()) == run.elements);
      }
    }
  }
}

TEST_CASE("an end far beyond a dim is no bound to reserve memory for") {
  auto module = ImportText(GraphModel(
      kZero + Ints("far", {1'000'000'000}) + Node("Slice", "x zero far", "part") +
      Node("Softmax", "part", "p", Int("axis", 0)) + Node("Softmax", "p", "y", Int("axis", 0)) +
      Tensor("input", "x", {"n"}) + "output { name: 'y' } "));
  REQUIRE_MESSAGE(module.ok(), module.status().ToString());
  auto compiled = CompileModule(*std::move(module), {});
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().ToString());
  const std::string code = DisassembleProgram(compiled->program, {.comments = false});
  CHECK_MESSAGE(Count(code, "  .slot ") == 0, code);
}

TEST_CASE("dims that an operator decides may be open, and are compared when the program runs") {
  const std::string y = "output { name: 'y' } ";
  const std::string mode = Text("mode", "nearest");
  struct Row {
    std::string graph;
    std::vector<int64_t> x;            // its dims
    DType dtype;                       // of the second input
    std::vector<int64_t> fine, wrong;  // its dims
    std::string said;
  };
  const Row rows[] = {
      {Node("Resize", "x - - sizes", "y", mode) + Tensor("input", "x", {"a", "b"}) +
           Tensor("input", "sizes", {"n"}, 7) + y,
       {2, 3},
       DType::kInt64,
       {2},
       {3},
       "node 'y' (Resize)): sizes 'sizes': dimension 0"},
      {Node("Resize", "x - scales", "y", mode) + Tensor("input", "x", {"a", "b"}) +
           Tensor("input", "scales", {"n"}) + y,
       {2, 3},
       DType::kFloat32,
       {2},
       {1},
       "node 'y' (Resize)): scales 'scales': dimension 0"},
      {Node("GRU", "x w r", "y", Int("hidden_size", 2)) + Tensor("input", "x", {"t", "b", "1"}) +
           Floats("w1", {1, 1, 1, 1, 1, 1}) + Ints("ws", {1, 6, 1}) +
           Node("Reshape", "w1 ws", "w") + Tensor("input", "r", {"d", "rows", "h"}) + y,
       {2, 3, 1},
       DType::kFloat32,
       {1, 6, 2},
       {1, 9, 3},
       "node 'y' (GRU)): R 'r': dimension 1"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.graph);
    const std::unique_ptr<Invocation> invocation = Runnable(ImportText(GraphModel(row.graph)));
    const std::vector<int64_t> ones(32, row.dtype == DType::kInt64 ? 1 : 0x3F8000003F800000);
    const auto run = [&](const std::vector<int64_t>& dims) {
      return invocation->Run("main", {*Value::CopyTensor(DType::kFloat32, row.x, ones.data()),
                                      *Value::CopyTensor(row.dtype, dims, ones.data())});
    };
    const auto fine = run(row.fine);
    CHECK_MESSAGE(fine.ok(), fine.status().ToString());
    const auto wrong = run(row.wrong);
    REQUIRE_FALSE(wrong.ok());
    CHECK_MESSAGE(wrong.status().ToString().find(row.said) != std::string::npos,
                  wrong.status().ToString());
  }
}

TEST_CASE("a limit of boxes below zero takes none") {
  const std::unique_ptr<Invocation> invocation = Runnable(ImportText(GraphModel(
      Node("NonMaxSuppression", "boxes scores most", "y") +
      Tensor("input", "boxes", {"1", "2", "4"}) + Tensor("input", "scores", {"1", "1", "2"}) +
      Tensor("input", "most", {}, 7) + "output { name: 'y' } ")));
  const std::vector<float> boxes = {0, 0, 1, 1, 2, 2, 3, 3}, scores = {0.5F, 0.25F};
  for (const int64_t most : {int64_t{-2}, int64_t{0}, int64_t{1}, int64_t{9}}) {
    const auto y = invocation->Run(
        "main", {*Value::CopyTensor(DType::kFloat32, std::vector<int64_t>{1, 2, 4}, boxes.data()),
                 *Value::CopyTensor(DType::kFloat32, std::vector<int64_t>{1, 1, 2}, scores.data()),
                 *Value::CopyTensor(DType::kInt64, {}, &most)});
    REQUIRE_MESSAGE(y.ok(), y.status().ToString());
    CHECK(y->dims()[0] == std::clamp<int64_t>(most, 0, 2));
  }
}

TEST_CASE("computed sizes of a split sum to the extent") {
  auto module = ImportText(GraphModel(
      Node("Split", "x parts", "y z", Int("axis", 1)) + Tensor("input", "x", {"b", "n"}) +
      Tensor("input", "parts", {"2"}, 7) + "output { name: 'y' } "));
  const std::unique_ptr<Invocation> invocation = Runnable(std::move(module));
  const std::vector<float> x(10, 0);
  const auto run = [&](int64_t first, int64_t second) {
    const int64_t parts[] = {first, second};
    return invocation->Run(
        "main", {*Value::CopyTensor(DType::kFloat32, std::vector<int64_t>{2, 5}, x.data()),
                 *Value::CopyTensor(DType::kInt64, std::vector<int64_t>{2}, parts)});
  };
  CHECK(run(2, 3).ok());
  CHECK(run(0, 5).ok());
  const auto few = run(2, 2);
  REQUIRE(!few.ok());
  CHECK(few.status().ToString().find("Split") != std::string::npos);
  for (const auto& [first, second] :
       std::vector<std::pair<int64_t, int64_t>>{{4, 4},
                                                {-1, 6},
                                                {6, -1},
                                                {-1, 5},
                                                {INT64_MIN, 5},
                                                {INT64_MAX, 6},
                                                {INT64_MIN, INT64_MIN + 5}}) {
    CAPTURE(first);
    CHECK(!run(first, second).ok());
  }
}

TEST_CASE("constant sizes of a split sum to an open extent") {
  const auto model = [](const std::string& sizes) {
    return ImportText(GraphModel("initializer { name: 'parts' data_type: 7 dims: 2 int64_data: [" +
                                 sizes + "] } " + Node("Split", "x parts", "y z", Int("axis", 1)) +
                                 Tensor("input", "x", {"b", "n"}) +
                                 "output { name: 'y' } output { name: 'z' } "));
  };
  const std::unique_ptr<Invocation> invocation = Runnable(model("2, 3"));
  const auto run = [&](int64_t extent) {
    const std::vector<float> x(2 * static_cast<size_t>(extent), 0);
    return invocation->Run(
        "main", {*Value::CopyTensor(DType::kFloat32, std::vector<int64_t>{2, extent}, x.data())});
  };
  CHECK(run(5).ok());
  CHECK(!run(6).ok());
  CHECK(!run(4).ok());
  CHECK(!model("9223372036854775807, 9223372036854775807").ok());
  CHECK(!model("-1, 3").ok());
}

}  // namespace
}  // namespace relayvm
