#include "compiler/reference/operator.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

namespace relayvm::reference {
namespace {

template <typename T>
HostTensor Tensor(DType dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  HostTensor t{dtype, std::move(shape), std::vector<std::byte>(values.size() * sizeof(T))};
  std::memcpy(t.data.Mutable().data(), values.data(), t.data.size());
  return t;
}
HostTensor Floats(std::vector<int64_t> shape, const std::vector<float>& values) {
  return Tensor(DType::kFloat32, std::move(shape), values);
}
HostTensor Ints(std::vector<int64_t> shape, const std::vector<int32_t>& values) {
  return Tensor(DType::kInt32, std::move(shape), values);
}
template <typename T>
std::vector<T> Values(const HostTensor& t) {
  std::vector<T> out(t.data.size() / sizeof(T));
  std::memcpy(out.data(), t.data.data(), t.data.size());
  return out;
}

// `args` are tensors; with `tuple`, the fields of one tuple.
Result<OperatorResult> Call(std::string_view name, const std::vector<HostTensor>& args,
                            const Attrs& attrs = {}, bool tuple = false) {
  const OpDef* op = OpTable::Get().Find(name);
  REQUIRE(op != nullptr);
  auto complete = CompleteAttrs(*op, attrs);
  REQUIRE(complete.ok());
  std::vector<OperatorArg> operands;
  for (const HostTensor& t : args) {
    if (!tuple || operands.empty()) operands.push_back({tuple, {}});
    operands.back().tensors.push_back(&t);
  }
  return RunOperator(*op, *complete, operands);
}

TEST_CASE("by tensor expressions") {
  auto sum = Call("add", {Floats({2, 1}, {1, 2}), Floats({2}, {10, 20})});
  REQUIRE(sum.ok());
  CHECK(!sum->is_tuple);
  CHECK(sum->tensors[0].shape == std::vector<int64_t>{2, 2});
  CHECK(Values<float>(sum->tensors[0]) == std::vector<float>{11, 21, 12, 22});
}

TEST_CASE("tuples as arguments and results") {
  Attrs axis;
  axis.Set("axis", 0);
  auto joined = Call("concatenate", {Ints({1}, {1}), Ints({2}, {2, 3})}, axis, /*tuple=*/true);
  REQUIRE(joined.ok());
  CHECK(Values<int32_t>(joined->tensors[0]) == std::vector<int32_t>{1, 2, 3});
  axis.Set("indices_or_sections", 2);
  auto parts = Call("split", {Ints({4}, {1, 2, 3, 4})}, axis);
  REQUIRE(parts.ok());
  CHECK(parts->is_tuple);
  REQUIRE(parts->tensors.size() == 2);
  CHECK(Values<int32_t>(parts->tensors[1]) == std::vector<int32_t>{3, 4});
}

TEST_CASE("shapes that elements decide") {
  auto out = Call("dyn.reshape", {Floats({4}, {1, 2, 3, 4}), Ints({2}, {2, -1})});
  REQUIRE(out.ok());
  CHECK(out->tensors[0].shape == std::vector<int64_t>{2, 2});
}

TEST_CASE("builtins, with counts") {
  auto out = Call("argwhere", {Ints({2, 2}, {0, 5, 6, 0})});
  REQUIRE(out.ok());
  CHECK(out->tensors[0].shape == std::vector<int64_t>{2, 2});
  CHECK(Values<int32_t>(out->tensors[0]) == std::vector<int32_t>{0, 1, 1, 0});
  auto none = Call("argwhere", {Ints({3}, {0, 0, 0})});
  REQUIRE(none.ok());
  CHECK(none->tensors[0].shape == std::vector<int64_t>{0, 1});
  auto sums = Call("cumsum", {Ints({3}, {1, 2, 3})}, [] {
    Attrs a;
    a.Set("axis", 0);
    return a;
  }());
  REQUIRE(sums.ok());
  CHECK(Values<int32_t>(sums->tensors[0]) == std::vector<int32_t>{1, 3, 6});
}

TEST_CASE("what an operator refuses") {
  auto add = Call("add", {Floats({2}, {1, 2}), Floats({3}, {1, 2, 3})});
  REQUIRE(!add.ok());
  CHECK(add.status().code() == StatusCode::kFailedPrecondition);
  CHECK(add.status().message().find("add: ") == 0);
  CHECK(add.status().message().find("2 and 3 do not broadcast") != std::string::npos);
  auto reshape = Call("dyn.reshape", {Floats({4}, {1, 2, 3, 4}), Ints({2}, {3, 2})});
  CHECK(!reshape.ok());
}

TEST_CASE("where no memory is left, the sizes are told") {
  OpDef op;
  op.name = "wide";
  op.num_args = 1;
  op.infer = [](TypeContext&) -> Result<OpResult> {
    return OpResult(TensorType{{1 << 20, 3}, DType::kInt8});
  };
  op.compute = [](const ComputeContext&) -> std::vector<te::Tensor> { throw std::bad_alloc(); };
  const HostTensor x = Floats({1}, {1});
  const OperatorArg args[] = {{false, {&x}}};
  const auto result = RunOperator(op, {}, args);
  REQUIRE(!result.ok());
  CHECK(result.status().code() == StatusCode::kResourceExhausted);
  CHECK(result.status().message() == "wide: no memory for Tensor[(1048576, 3), int8]");
}

TEST_CASE("each argument is a tensor, or a tuple where the definition says so") {
  HostTensor x = Floats({2}, {1, 2});
  for (std::string_view name : OpTable::Get().Names()) {
    const OpDef& op = *OpTable::Get().Find(name);
    if (op.is_identity || op.num_args < 1) continue;
    CAPTURE(name);
    for (int i = 0; i < op.num_args; ++i) {
      std::vector<OperatorArg> args(static_cast<size_t>(op.num_args));
      for (int k = 0; k < op.num_args; ++k) {
        bool is_tuple =
            std::find(op.tuple_args.begin(), op.tuple_args.end(), k) != op.tuple_args.end();
        args[static_cast<size_t>(k)] = {is_tuple != (k == i), {&x}};
      }
      auto result = RunOperator(op, {}, args);
      REQUIRE_FALSE(result.ok());
      std::string expected = "argument " + std::to_string(i) + ": expected a t";
      CHECK_MESSAGE(result.status().message().find(expected) != std::string::npos,
                    result.status().message());
    }
  }
}

}  // namespace
}  // namespace relayvm::reference
