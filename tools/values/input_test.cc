#include "tools/values/input.h"

#include <doctest/doctest.h>

#include <fstream>

#include "bytecode/io/npy.h"
#include "bytecode/io/npz.h"
#include "tools/values/testing.h"

namespace relayvm::tools {
namespace {

HostTensor Ints(std::vector<int32_t> values) {
  HostTensor t{DType::kInt32, {static_cast<int64_t>(values.size())}, {}};
  auto bytes = std::as_bytes(std::span(values));
  t.data = SharedBytes::Copy(bytes);
  return t;
}

// main(x: Tensor[(n), int32], layers.0.weight: Tensor[(2), int32])
struct Fixture {
  Program program = ProgramWithTypes();
  ExportInfo function;
  TempFolder folder;
  TypeTable types{program};

  Fixture() {
    function.name = "main";
    function.param_names = {"x", "layers.0.weight"};
    function.params = {TensorOf(DType::kInt32, {-1}, {"n"}), TensorOf(DType::kInt32, {2})};
  }
  // The first elements of the values, or the error.
  std::string Read(const std::vector<std::string>& args) {
    Result<std::vector<Value>> values = ReadInputs(types, function, args);
    if (!values.ok())
      return std::string(StatusCodeName(values.status().code())) + ": " + values.status().message();
    std::string out;
    for (const Value& v : *values) out += std::to_string(v.element(0)) + " ";
    return out;
  }
};

TEST_CASE_FIXTURE(Fixture, "in order, by name, from files and archives") {
  REQUIRE(WriteNpyFile(folder / "one.npy", Ints({1})).ok());
  REQUIRE(WriteNpyFile(folder / "a=b.npy", Ints({6, 6})).ok());
  REQUIRE(WriteNpz(folder / "all.npz",
                   {{"x", Ints({8})}, {"layers.0.weight", Ints({9, 9})}, {"other", Ints({0})}})
              .ok());
  std::ofstream(folder / "list.txt") << "[4, 5]\n";
  CHECK(Read({"[1]", "[2,3]"}) == "1 2 ");
  CHECK(Read({"layers.0.weight=[2,3]", "[1]"}) == "1 2 ");
  CHECK(Read({"%x=[1]", "2xi32=5"}) == "1 5 ");
  CHECK(Read({folder / "one.npy", "[2,3]"}) == "1 2 ");
  CHECK(Read({"x=" + (folder / "one.npy"), folder / "a=b.npy"}) == "1 6 ");
  CHECK(Read({"@" + (folder / "one.npy"), "@" + (folder / "list.txt")}) == "1 4 ");
  CHECK(Read({folder / "all.npz"}) == "8 9 ");
}

TEST_CASE_FIXTURE(Fixture, "a file's tensor takes the parameter's dtype") {
  HostTensor t{DType::kInt64, {2}, std::vector<std::byte>(16)};
  t.data.Mutable()[0] = t.data.Mutable()[8] = std::byte{7};
  REQUIRE(WriteNpyFile(folder / "long.npy", t).ok());
  CHECK(Read({folder / "long.npy", "@" + (folder / "long.npy")}) == "7 7 ");
  t.data.Mutable()[12] = std::byte{1};  // above 32 bits
  REQUIRE(WriteNpyFile(folder / "long.npy", t).ok());
  CHECK(Read({folder / "long.npy"}) ==
        "invalid input: --input x: " + (folder / "long.npy") +
            ": element 1, 4294967303, is not a value of int32; the tensor is Tensor[(2), int64]");
}

TEST_CASE_FIXTURE(Fixture, "wrong use") {
  std::string takes =
      "; main takes:\n  x: Tensor[(n), int32]\n  layers.0.weight: Tensor[(2), int32]";
  CHECK(Read({}) == "invalid argument: parameter x has no --input" + takes);
  CHECK(Read({"[1]"}) == "invalid argument: parameter layers.0.weight has no --input" + takes);
  CHECK(Read({"[1]", "[1,2]", "3"}) ==
        "invalid argument: --input 3: all parameters have a value" + takes);
  CHECK(Read({"y=3"}) == "invalid argument: --input y=3: there is no parameter y" + takes);
  CHECK(Read({"x=[3]", "x=[4]"}) ==
        "invalid argument: --input x=[4]: x has a value already" + takes);
}

TEST_CASE_FIXTURE(Fixture, "bad values") {
  REQUIRE(WriteNpyFile(folder / "three.npy", Ints({1, 2, 3})).ok());
  REQUIRE(WriteNpz(folder / "all.npz", {{"x", Ints({8})}, {"layers.0.weight", Ints({9})}}).ok());
  CHECK(Read({"[1]", folder / "three.npy"}) ==
        "invalid input: --input layers.0.weight: " + (folder / "three.npy") +
            ": expected Tensor[(2), int32], found Tensor[(3), int32]");
  CHECK(Read({folder / "all.npz"}) ==
        "invalid input: " + (folder / "all.npz") +
            ": layers.0.weight: expected Tensor[(2), int32], found Tensor[(1), int32]");
  CHECK(Read({"[1.5]"}).starts_with(
      "invalid input: --input x: at character 2: 1.5 is not an integer"));
  CHECK(Read({folder / "no.npy"}).starts_with("not found: --input x: "));
  std::ofstream(folder / "broken.npy") << "\x93NUMPY";
  CHECK(Read({folder / "broken.npy"})
            .starts_with("invalid input: --input x: " + (folder / "broken.npy")));
}

}  // namespace
}  // namespace relayvm::tools
