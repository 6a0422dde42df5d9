#include "kernels/op/op_helpers.h"

#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

TEST_CASE("axes") {
  CHECK(*NormalizeAxis(-1, 3) == 2);
  CHECK(NormalizeAxis(3, 3).status().message() == "axis 3 is out of range [-3, 2] for rank 3");
  CHECK(NormalizeAxis(0, 0, "seq_axis").status().message() ==
        "seq_axis 0 is out of range: the tensor has rank 0");
  CHECK(*NormalizeAxes({-1, 0}, 2) == std::vector<int>{1, 0});
  CHECK(NormalizeAxes({-1, 1}, 2).status().message() == "axis 1 is given twice");
}

TEST_CASE("broadcast indices read element 0 of what is 1, or may be") {
  te::Axis a = te::MakeAxis("a", 4);
  te::Expr i = te::AxisValue(a);
  Dim n = Dim::Symbol(1, "n");
  CHECK(BroadcastIndices({1}, {4}, {i})[0]->kind == te::ExprKind::kIntImm);
  CHECK(BroadcastIndices({4}, {4}, {i})[0].get() == i.get());
  CHECK(BroadcastIndices({n}, {n}, {i})[0].get() == i.get());
  CHECK(BroadcastIndices({n}, {4}, {i})[0]->kind == te::ExprKind::kSelect);
  CHECK(BroadcastIndices({}, {4}, {i}).empty());
}

TEST_CASE("indices of uint64 are never negative") {
  // 2^64 - 1 and what one can count on: the last element, or the remainder.
  const HostTensor far = Host(DType::kUInt64, {2}, {-1, 1});
  const HostTensor x = F32({5}, Iota(5));
  CheckOp("take", {{"axis", 0}}, {x, far}, {F32({2}, {4, 1})});
  CheckOp("take", {}, {x, far}, {F32({2}, {4, 1})});
  CheckOp("take", {{"axis", 0}, {"mode", "wrap"}}, {x, far}, {F32({2}, {0, 1})});
  CheckOp("gather", {{"axis", 0}}, {x, far}, {F32({2}, {4, 1})});
  CheckOp("gather_nd", {}, {x, Host(DType::kUInt64, {1, 2}, {-1, 1})}, {F32({2}, {4, 1})},
          {.static_args = {1}});
  CheckOp("adv_index", {}, {Arg::Tuple({x, far})}, {F32({2}, {4, 1})});
  CheckOp("one_hot", {{"depth", 3}, {"dtype", "int32"}}, {far, I32({}, {1}), I32({}, {0})},
          {I32({2, 3}, {0, 0, 0, 0, 1, 0})});
  CheckOp("reverse_sequence", {{"seq_axis", 1}, {"batch_axis", 0}}, {F32({2, 3}, Iota(6)), far},
          {F32({2, 3}, {2, 1, 0, 3, 4, 5})});
  CheckOp("unravel_index", {}, {far, I64({2}, {2, 5})},
          {Host(DType::kUInt64, {2, 2}, {1, 0, 0, 1})}, {.static_args = {1}});
}

TEST_CASE("a reshape keeps the index of a dim that stays") {
  Dim n = Dim::Symbol(1, "n");
  te::Tensor x = te::Placeholder("x", {n, 6, 5}, DType::kFloat32, 0);
  te::Tensor y = ReshapeTensor(x, {n, 2, 3, 5});
  CHECK(y->body->operands[0]->kind == te::ExprKind::kAxis);
  CHECK(y->body->operands[2]->kind == te::ExprKind::kAxis);
}

TEST_CASE("ravel and unravel") {
  std::vector<te::Axis> axes = {te::MakeAxis("a", 2), te::MakeAxis("b", 3)};
  CHECK(Unravel(te::AxisValue(axes[0]), {1, 7}).size() == 2);
  te::Tensor t = te::Compute("t", {2, 3}, [](const ExprList& i) { return Ravel(i, {2, 3}); });
  CHECK(Values(*te::Evaluate(t, {}, nullptr)) == Iota(6));
}

}  // namespace
}  // namespace relayvm::op_testing
