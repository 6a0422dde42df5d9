// Objects: constructors, references, tensors, views and reuse; and what fails on objects of another
// kind.
#include "vm/testing.h"

namespace relayvm {
namespace {

using testing::Contains;
using testing::Evaluate;
using testing::Floats;
using testing::Int64Values;
using testing::LoadText;
using testing::RunFails;
using testing::RunOk;
using testing::ScalarProgram;

// A program "main" over objects r0 .. with a body that returns; of any type, since values are
// checked against it.
std::string ObjectProgram(const std::string& params, int num_params, const std::string& result,
                          const std::string& body, const std::string& tables = "",
                          const std::string& functions = "") {
  return fmt::format(R"(
.version 1
.data "List" 1
  .constructor "Nil" ()
  .constructor "Cons" (var 0, data 0(var 0))
{}
.export "main" f0 ({}) -> {}
.function "main" scalars 0 objects {} captured 0 registers 16 16 returns object arena 0
{}
.end
{}
)",
                     tables, params, result, num_params, body, functions);
}

TEST_CASE("interpreter: a list of a million is built, folded and freed") {
  const char* body = R"(
  adt.new r1, #0, []
L0:
  tensor.box r2, i0, int64
  adt.new r1, #1, [r2!, r1!]
  addimm.i i0, i0, -1
  br.if i0, L0
L1:
  switch.tag r1, [L3, L2]
L2:
  adt.get r2, r1, #0
  adt.get r1, r1!, #1
  tensor.item i1, r2!, int64, 0
  add.i i15, i15, i1
  jump L1
L3:)";
  CHECK(Evaluate(body, {1'000'000}) == 500000500000);
}

TEST_CASE("interpreter: a deep structure is dropped at once without recursion") {
  const char* body = R"(
  adt.new r1, #0, []
L0:
  adt.new r1, #1, [r1!]
  addimm.i i0, i0, -1
  br.if i0, L0
  drop r1!
  const.i16 i15, 1)";
  CHECK(Evaluate(body, {10'000'000 / testing::kSlowdown}) == 1);
  // The same through references and closures, dropped by a return.
  const char* mixed = R"(
  adt.new r1, #0, []
L0:
  ref.new r1, r1!
  closure.new r1, f1, [r1!]
  addimm.i i0, i0, -1
  br.if i0, L0
  const.i16 i15, 1)";
  const char* function = R"(
.function "f" scalars 0 objects 1 captured 1 registers 0 1 returns object arena 0
  ret.r r0!
.end
)";
  CHECK(Evaluate(mixed, {1'000'000 / testing::kSlowdown}, function) == 1);
}

TEST_CASE("interpreter: tags, switches on them, and fields") {
  const char* body = R"(
  tensor.box r1, i0, int64
  adt.new r2, #5, [r1, r1, r1!]
  adt.tag i15, r2
  switch.tag r2!, [L0, L0, L0, L0, L0]
  addimm.i i15, i15, 100
L0:)";
  CHECK(Evaluate(body, {1}) == 105);
  CHECK(Evaluate("adt.new r2, #1, []\n switch.tag r2!, [L0, L1]\nL0:\n addimm.i i15, i15, 1\nL1:\n "
                 "addimm.i i15, i15, 2",
                 {}) == 2);
}

TEST_CASE("interpreter: references are shared and changed") {
  const char* body = R"(
  tensor.box r1, i0, int64
  ref.new r2, r1
  mov.r r3, r2
  tensor.box r4, i1, int64
  ref.set r3!, r4!
  ref.get r5, r2
  tensor.item i14, r5!, int64, 0
  ref.set r2, r1!
  ref.get r5, r2!
  tensor.item i15, r5!, int64, 0
  mul.i i15, i15, i14)";
  CHECK(Evaluate(body, {6, 7}) == 42);
}

TEST_CASE("interpreter: a cycle of references lives until the run ends, and not longer") {
  const char* body = R"(
L0:
  const.i16 i1, 0
  tensor.box r1, i1, int64
  ref.new r2, r1!
  ref.set r2, r2
  addimm.i i0, i0, -1
  br.if i0, L0)";
  auto invocation = testing::NewInvocation(LoadText(ScalarProgram(1, body)));
  size_t resident = 0;
  for (int i = 0; i < 10; ++i) {
    RunOk(*invocation, Int64Values({10000}));
    if (i == 1) resident = invocation->stats().resident_bytes;
  }
  CHECK(invocation->stats().resident_bytes == resident);
}

TEST_CASE("interpreter: what an instruction cannot use is an error") {
  struct Case {
    const char* body;
    const char* message;
  };
  for (const Case& c : {
           Case{"adt.get r1, r0, #0", "adt.get needs a constructor or tuple, found a tensor"},
           Case{"adt.tag i0, r0", "adt.tag needs a constructor or tuple, found a tensor"},
           Case{"switch.tag r0, []", "switch.tag needs a constructor or tuple, found a tensor"},
           Case{"adt.new r1, #0, [r0]\n adt.get r2, r1, #1", "adt.get: field 1 of 1"},
           Case{"ref.get r1, r0", "ref.get needs a reference, found a tensor"},
           Case{"ref.set r0, r0", "ref.set needs a reference, found a tensor"},
           Case{"ref.new r1, r0\n tensor.dim i0, r1, #0",
                "tensor.dim needs a tensor, found a reference"},
           Case{"tensor.dim i0, r0, #1", "tensor.dim: axis 1 of 1"},
           Case{"tensor.item i0, r0, float32, 3",
                "tensor.item: element 3 of float32, tensor is float32 of shape (3)"},
           Case{"tensor.item i0, r0, int32, 0",
                "tensor.item: element 0 of int32, tensor is float32"},
           Case{"tensor.item i0, r5, int32, 0",
                "tensor.item needs a tensor, found an empty register"},
           Case{"const.i16 i0, -1\n tensor.alloc r1, int8, [i0]",
                "a tensor of shape (-1): a dimension is negative"},
           Case{"const.i64 i0, 4000000000\n tensor.alloc r1, int8, [i0, i0, i0]",
                "its size overflows"},
           Case{"const.i64 i0, 70000000000000\n tensor.alloc r1, int8, [i0]",
                "no memory for a tensor of 70000000000000 bytes"},
           Case{"const.i16 i0, 4\n tensor.view r1, r0, [i0]",
                "a view of shape (4) on a tensor of shape (3)"},
           Case{"const.i16 i0, 4\n tensor.view r1, r9, [i0]",
                "tensor.view needs a tensor, found an empty register"},
           Case{"const.i16 i0, -4\n tensor.reuse r1, r0, int8, [i0]", "a dimension is negative"},
           Case{"const.i16 i0, -4\n tensor.append r1, r0, r0, float32, [i0]",
                "a dimension is negative"},
           Case{"const.i16 i0, 6\n tensor.append r1, r0, r0, int32, [i0]",
                "a tensor of int32, shape (6), from one of float32, shape (3), and one of float32"},
           Case{"const.i16 i0, 7\n tensor.append r1, r0, r0, float32, [i0]",
                "a tensor of float32, shape (7), from one of float32, shape (3), and one of"},
           Case{"const.i16 i0, 3\n tensor.append r1, r0, r9, float32, [i0]",
                "tensor.append needs a tensor, found an empty register"},
           Case{"const.i16 i0, 3\n tensor.append r1, r9, r0, float32, [i0]",
                "tensor.append needs a tensor, found an empty register"},
           Case{"adt.new r1, #0, []\n kernel.1 k0, [], [r1, r2]",
                "kernel.1 needs a tensor, found a constructor or tuple"},
           Case{"ret.r r7", "returned an empty register"},
       }) {
    CAPTURE(c.body);
    constexpr Builtin kCopy[] = {
        {"copy", [](auto*, auto*, uint32_t, uint32_t) -> int32_t { return 0; }}};
    auto executable = LoadText(
        ObjectProgram("\"x\": float32[3]", 1, "float32[3]", std::string(c.body) + "\n  ret.r r0",
                      ".kernel \"copy\" scalars 0 buffers (int8[], out int8[]) builtin"),
        kCopy);
    Status status =
        RunFails(executable, {Floats({3}, {1, 2, 3})}, {.memory_limit = size_t{1} << 40});
    CHECK_MESSAGE(Contains(status.message(), c.message), status.message());
  }
}

TEST_CASE("interpreter: tensors of any shape and dtype") {
  auto shape_of = [](const char* body) {
    Value v =
        RunOk(LoadText(ObjectProgram("", 0, "float32[?]", body, ".type bfloat16[2, 0, 7]")), {});
    return std::pair(v.dtype(), std::vector<int64_t>(v.dims().begin(), v.dims().end()));
  };
  using Shape = std::vector<int64_t>;
  CHECK(shape_of(
            "const.i16 i0, 3\n const.i16 i1, 5\n tensor.alloc r0, float64, [i0, i1]\n ret.r r0!") ==
        std::pair(DType::kFloat64, Shape{3, 5}));
  CHECK(shape_of("tensor.static r0, t0\n ret.r r0!") ==
        std::pair(DType::kBFloat16, Shape{2, 0, 7}));
  CHECK(shape_of("tensor.alloc r0, bool, []\n ret.r r0!") == std::pair(DType::kBool, Shape{}));
  CHECK(shape_of("const.i16 i0, 1\n tensor.alloc r0, int8, [i0, i0, i0, i0, i0, i0, i0, i0, i0]\n "
                 "ret.r r0!") == std::pair(DType::kInt8, Shape(9, 1)));
  CHECK(shape_of("const.i64 i0, 90000000000\n tensor.alloc r0, int8, [i0, i9]\n ret.r r0!") ==
        std::pair(DType::kInt8, Shape{90000000000, 0}));
}

TEST_CASE("interpreter: boxes and items of each dtype are canonical") {
  for (int d = 0; d < kNumDTypes; ++d) {
    auto dtype = static_cast<DType>(d);
    CAPTURE(DTypeName(dtype));
    std::string body =
        fmt::format("tensor.box r1, i0, {0}\n tensor.item i15, r1!, {0}, 0", DTypeName(dtype));
    int64_t all = -1;
    int64_t expected = IsSignedInt(dtype)       ? -1
                       : DTypeBits(dtype) == 64 ? -1
                                                : (int64_t{1} << DTypeBits(dtype)) - 1;
    CHECK(Evaluate(body, {all}) == expected);
    CHECK(Evaluate(body, {1}) == 1);
  }
}

TEST_CASE("interpreter: items at positions, of constants too") {
  const char* tables = R"(
.constant int16[2, 3] "table"
  .hex 0100020003000400feff0600
)";
  CHECK(Evaluate("const.r r1, c0\n tensor.item i15, r1, int16, 4", {}, "", tables) == -2);
  CHECK(Evaluate("const.r r1, c0\n tensor.dim i15, r1!, #1", {}, "", tables) == 3);
}

TEST_CASE("interpreter: a view has the same memory, and may be a prefix") {
  const char* body = R"(
  const.i16 i0, 2
  const.i16 i1, 3
  tensor.view r1, r0, [i0, i1]
  tensor.view r2, r1!, [i1, i0]
  tensor.view r3, r2, [i0]
  adt.new r4, #0, [r0!, r2!, r3!]
  ret.r r4!)";
  auto executable = LoadText(
      ObjectProgram("\"x\": float32[6]", 1, "(float32[6], float32[3, 2], float32[2])", body));
  Value result = RunOk(executable, {Floats({6}, {1, 2, 3, 4, 5, 6})});
  CHECK(testing::ElementsOf<float>(result.field(1)) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(result.field(1).dims()[0] == 3);
  CHECK(testing::ElementsOf<float>(result.field(2)) == std::vector<float>{1, 2});
}

TEST_CASE("interpreter: reuse takes the memory of a last holder, and only then") {
  auto allocations = [](const char* reuse) {
    std::string body = fmt::format(R"(
  const.i16 i1, 100
  const.i16 i2, 50
  tensor.alloc r1, int64, [i1]
  {}
  tensor.dim i15, r2!, #0)",
                                   reuse);
    auto invocation = testing::NewInvocation(LoadText(ScalarProgram(0, body)));
    RunOk(*invocation, {});
    return invocation->stats().allocations - 2;  // r1 and the result
  };
  CHECK(allocations("tensor.reuse r2, r1!, int64, [i1]") == 0);
  CHECK(allocations("tensor.reuse r2, r1!, float32, [i2, i2]") ==
        1);  // 10,000 bytes do not fit 800
  CHECK(allocations("tensor.reuse r2, r1!, int32, [i2, i2, i9, i9]") == 0);
  CHECK(allocations("tensor.reuse r2, r1!, int32, [i9, i9, i9, i9, i9]") ==
        1);                                                     // no room for the dims
  CHECK(allocations("tensor.reuse r2, r1, int64, [i1]") == 0);  // in place: r1 is r2
  CHECK(allocations("tensor.reuse r2, r1, uint64, [i1]") ==
        1);  // in place, of another type: a view
  CHECK(allocations("mov.r r3, r1\n tensor.reuse r2, r1, int64, [i1]") == 1);   // another holder
  CHECK(allocations("mov.r r3, r1\n tensor.reuse r2, r1!, int64, [i1]") == 1);  // another holder
  CHECK(allocations("tensor.view r1, r1!, [i2]\n tensor.reuse r2, r1!, int64, [i2]") == 0);
  CHECK(allocations("tensor.view r3, r1, [i2]\n drop r1!\n tensor.reuse r2, r3!, int64, [i2]") ==
        1);  // the view only
}

TEST_CASE("interpreter: in place, a tensor of another shape is a view") {
  constexpr int64_t kBytes = 8 * 100 * 100;
  auto peak = [](const char* reuse) {
    std::string body = fmt::format(R"(
  const.i16 i1, 100
  const.i16 i2, 10000
  const.i16 i3, 99
  tensor.alloc r1, int64, [i1, i1]
  {}
  tensor.dim i15, r2!, #0)",
                                   reuse);
    auto invocation = testing::NewInvocation(LoadText(ScalarProgram(0, body)));
    RunOk(*invocation, {});
    return static_cast<int64_t>(invocation->stats().peak_bytes);
  };
  CHECK(peak("tensor.reuse r2, r1, int64, [i1, i1]") < 2 * kBytes);
  CHECK(peak("tensor.reuse r2, r1, int64, [i2]") < 2 * kBytes);
  CHECK(peak("tensor.reuse r2, r1, float64, [i1, i1]") < 2 * kBytes);
  CHECK(peak("tensor.view r3, r1!, [i2]\n tensor.reuse r2, r3, int64, [i1, i1]") < 2 * kBytes);
  // Not of as many bytes; another holder of the tensor, or of what it is a view of.
  CHECK(peak("tensor.reuse r2, r1, int64, [i3, i1]") > 2 * kBytes - 1000);
  CHECK(peak("mov.r r3, r1\n tensor.reuse r2, r1, int64, [i2]") >= 2 * kBytes);
  CHECK(peak("tensor.view r3, r1, [i2]\n tensor.reuse r2, r3, int64, [i1, i1]") >= 2 * kBytes);
}

TEST_CASE("interpreter: what is appended to keeps its memory if nobody else holds it") {
  // Of 3 elements and 3 more; r0 is an input.
  auto append = [](const std::string& body) {
    auto invocation = testing::NewInvocation(LoadText(ObjectProgram(
        "\"x\": float32[3]", 1, "float32[?]",
        "const.i16 i3, 3\n const.i16 i6, 6\n const.i16 i9, 9\n" + body + "\n ret.r r2!")));
    Value result = RunOk(*invocation, {Floats({3}, {1, 2, 3})});
    return std::pair(testing::ElementsOf<float>(result), invocation->stats().allocations);
  };
  using Elements = std::vector<float>;
  const Elements six = {1, 2, 3, 1, 2, 3}, nine = {1, 2, 3, 1, 2, 3, 1, 2, 3};
  const std::string twice = "tensor.append r1, r0, r0, float32, [i6]\n";
  CHECK(append("tensor.append r2, r0, r0, float32, [i6]") == std::pair(six, uint64_t{1}));
  // A small block has room by itself.
  CHECK(append(twice + "tensor.append r2, r1!, r0!, float32, [i9]") ==
        std::pair(nine, uint64_t{1}));
  CHECK(append(twice + "tensor.append r2, r1!, r0, float32, [i3, i3]") ==
        std::pair(nine, uint64_t{1}));
  // Held elsewhere, alive afterwards, a view, itself.
  CHECK(append(twice + "mov.r r3, r1\n tensor.append r2, r1!, r0, float32, [i9]").second == 2);
  CHECK(append(twice + "tensor.append r2, r1, r0, float32, [i9]").second == 2);
  CHECK(append(twice + "mov.r r3, r1\n tensor.append r2, r1!, r0, float32, [i9]\n mov.r r2, r3!")
            .first == six);
  CHECK(append(twice + "tensor.view r3, r1, [i6]\n drop r1!\n"
                       " tensor.append r2, r3!, r0, float32, [i9]")
            .first == nine);
  CHECK(append("tensor.view r1, r0, [i3]\n tensor.append r2, r0!, r1!, float32, [i6]").first ==
        six);
}

TEST_CASE("interpreter: a million appended elements are moved a few times each") {
  const char* body = R"(
  tensor.alloc r1, int64, [i9]
L0:
  addimm.i i1, i1, 1
  tensor.box r2, i1, int64
  tensor.append r1, r1!, r2!, int64, [i1]
  addimm.i i0, i0, -1
  br.if i0, L0
  tensor.item i15, r1!, int64, 777777)";
  auto invocation = testing::NewInvocation(LoadText(ScalarProgram(1, body)));
  CHECK(testing::ToInt64(RunOk(*invocation, Int64Values({1'000'000}))) == 777778);
  // But for the boxes: one whenever the tensor has grown by half.
  CHECK(invocation->stats().allocations < 1'000'100);
  CHECK(invocation->stats().peak_bytes < 24'000'000);
}

TEST_CASE("interpreter: inputs are never reused") {
  const char* body = R"(
  const.i16 i1, 3
  const.i16 i2, 7
  tensor.reuse r1, r0!, float32, [i1]
  tensor.box r2, i2, float32
  kernel.1 k0, [], [r2!, r1]
  ret.r r1!)";
  Builtin overwrite = {
      "fill",
      [](const RelayvmKernelEnv*, const RelayvmKernelArgs* args, uint32_t, uint32_t) -> int32_t {
        std::memset(args->buffers[1], 0, 12);
        return 0;
      }};
  auto executable = LoadText(
      ObjectProgram("\"x\": float32[3]", 1, "float32[3]", body,
                    ".kernel \"fill\" scalars 0 buffers (float32[], out float32[3]) builtin"),
      {&overwrite, 1});
  Value input = Floats({3}, {1, 2, 3});
  Value output = RunOk(executable, {input});
  CHECK(testing::ElementsOf<float>(input) == std::vector<float>{1, 2, 3});
  CHECK(testing::ElementsOf<float>(output) == std::vector<float>{0, 0, 0});
}

TEST_CASE("slices: tensors that are appended to take part of them") {
  // r1 is kept, so that each of ten turns copies a mebibyte.
  auto invocation = testing::NewInvocation(LoadText(R"(
.version 1
.export "main" f0 ("x": float32[?]) -> float32[?]
.function "main" scalars 0 objects 1 captured 0 registers 4 2 returns object arena 0
  tensor.dim i0, r0, #0
  add.i i1, i0, i0
  const.i16 i2, 10
L0:
  tensor.append r1, r0, r0, float32, [i1]
  addimm.i i2, i2, -1
  br.if i2, L0
  ret.r r1!
.end
)"));
  const int64_t n = 1 << 17;
  const std::vector<float> ones(n, 1);
  REQUIRE(invocation->Start("main", {testing::Floats({n}, ones)}).ok());
  int slices = 0;
  while (invocation->Poll(std::chrono::nanoseconds(1)) != RunState::kDone) ++slices;
  CHECK(slices >= 9);
  Result<Value> result = invocation->TakeResult();
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  CHECK(result->dims()[0] == 2 * n);
}

}  // namespace
}  // namespace relayvm
