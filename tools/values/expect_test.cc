#include "tools/values/expect.h"

#include <doctest/doctest.h>

#include <cmath>

#include "bytecode/io/npy.h"
#include "tools/values/tensor_file.h"
#include "tools/values/testing.h"

namespace relayvm::tools {
namespace {

Value Floats(std::vector<int64_t> dims, const std::vector<float>& data) {
  return *Value::CopyTensor(DType::kFloat32, dims, data.data());
}

TEST_CASE("comparison") {
  struct Case {
    Value found, expected;
    const char* message;
  };
  const Case cases[] = {
      {Floats({2}, {1, 2}), Floats({2}, {1, 2.00001f}), ""},
      {Floats({2}, {NAN, INFINITY}), Floats({2}, {NAN, INFINITY}), ""},
      {Floats({2, 2}, {1, 2, 3, 4}), Floats({2, 2}, {1, 2.5, 3, 5}),
       "out0: values differ in 2 of 4 places, most at [1, 1]: found 4, expected 5 (difference 1; "
       "rtol 1e-05, atol 1e-05)"},
      {Floats({1}, {NAN}), Floats({1}, {1}),
       "out0: values differ in 1 of 1 places, most at [0]: found nan, expected 1 (difference inf; "
       "rtol 1e-05, atol 1e-05)"},
      {Floats({1}, {1}), Floats({1}, {INFINITY}),
       "out0: values differ in 1 of 1 places, most at [0]: found 1, expected inf (difference inf; "
       "rtol 1e-05, atol 1e-05)"},
      {Floats({1}, {1}), Floats({}, {1}), "out0: found Tensor[(1), float32], expected float32"},
      {Value::Int32(3), Value::Int32(4),
       "out0: values differ in 1 of 1 places, most at []: found 3, expected 4 (difference 1)"},
      {Value::Int32(3), Value::Int64(3), "out0: found int32, expected int64"},
  };
  for (const Case& c : cases) CHECK(CompareTensors("out0", c.found, c.expected, {}) == c.message);
}

TEST_CASE("with files") {
  testing::TempFolder folder;
  Value a = Floats({1}, {1}), b = Floats({1}, {2});
  auto host = [](const Value& v) { return ToHostTensor(v); };
  REQUIRE(
      WriteNpz(folder / "io.npz", {{"in0", host(b)}, {"out1", host(b)}, {"out0", host(a)}}).ok());
  REQUIRE(WriteNpz(folder / "plain.npz", {{"first", host(a)}, {"second", host(b)}}).ok());
  REQUIRE(WriteNpyFile(folder / "a.npy", host(a)).ok());
  std::vector<std::string> names = {"out0", "out1"};
  CHECK(*CompareWithFile(folder / "io.npz", names, {a, b}, {}) == "");
  CHECK(CompareWithFile(folder / "io.npz", names, {b, a}, {})->find("out0: values differ") !=
        std::string::npos);
  CHECK(*CompareWithFile(folder / "plain.npz", names, {a, b}, {}) == "");
  CHECK(*CompareWithFile(folder / "io.npz", {"out0"}, {a}, {}) ==
        "the result has 1 tensors, and " + (folder / "io.npz") + " has out1 too");
  CHECK(*CompareWithFile(folder / "a.npy", {"out0"}, {a}, {}) == "");
  CHECK(*CompareWithFile(folder / "a.npy", names, {a, b}, {}) ==
        "the result has 2 tensors, " + (folder / "a.npy") + " has 1");
  CHECK(!CompareWithFile(folder / "no.npy", names, {a, b}, {}).ok());
}

}  // namespace
}  // namespace relayvm::tools
