#include "kernels/op/builtin_op_testing.h"

namespace relayvm::op_testing {
namespace {

TEST_CASE("range_checked gives the values, each between its bounds") {
  const HostTensor values = I32({2, 3}, {0, -1, 2, 1, 0, 3});
  CheckOp("range_checked", {}, {values, I64({3}, {0, -1, 2}), I64({3}, {2, 1, 4})}, {values});
  CheckOp("range_checked", {}, {values, I64({1}, {-1}), I64({1}, {4})}, {values});
  CheckOp("range_checked", {}, {I64({}, {7}), I64({1}, {7}), I64({1}, {8})}, {I64({}, {7})});
  CheckOp("range_checked", {}, {values, I64({}, {-1}), I64({}, {4})}, {values});
  CheckFails("range_checked", {}, {values, I64({}, {-1}), I64({1}, {4})}, "one rank");
}

TEST_CASE("take: modes, axis, batch dims") {
  HostTensor x = F32({3, 2}, Iota(6));
  HostTensor i = I32({2}, {-1, 7});
  CheckOp("take", {{"axis", 0}}, {x, i}, {F32({2, 2}, {0, 1, 4, 5})});  // clip: -1 is element 0
  CheckOp("take", {{"axis", 0}, {"mode", "wrap"}}, {x, i}, {F32({2, 2}, {4, 5, 2, 3})});
  CheckOp("take", {{"axis", 0}, {"mode", "fast"}}, {x, I32({2}, {2, 0})},
          {F32({2, 2}, {4, 5, 0, 1})});
  CheckOp("take", {}, {x, I64({2, 2}, {5, 9, -3, 2})}, {F32({2, 2}, {5, 5, 0, 2})});
  CheckOp("take", {{"axis", -1}}, {x, I32({}, {1})}, {F32({3}, {1, 3, 5})});
  CheckOp("take", {{"axis", 1}}, {x, I32({1, 2}, {1, 0})}, {F32({3, 1, 2}, {1, 0, 3, 2, 5, 4})});
  CheckOp("take", {{"axis", 1}, {"batch_dims", 1}}, {x, I32({3, 1}, {1, 0, 1})},
          {F32({3, 1}, {1, 2, 5})});
  CheckOp("take", {{"axis", 0}}, {F32({0, 2}, {}), I32({0}, {})}, {F32({0, 2}, {})});
  CheckFails("take", {{"axis", 0}}, {F32({0, 2}, {}), i}, "the extent of the indexed axis");
  CheckFails("take", {{"axis", 0}}, {F32({0, 2}, {}), i}, "the extent of the indexed axis", true);
  CheckFails("take", {{"axis", 0}}, {x, F32({1}, {0})}, "indices must be of an integer dtype");
  CheckOp("take", {{"axis", 0}, {"mode", "raise"}}, {x, i}, {F32({2, 2}, {4, 5, 2, 3})});
  CheckFails("take", {{"axis", 0}, {"batch_dims", 1}}, {x, i}, "batch_dims is 1");
}

TEST_CASE("contrib_byte_table: a byte's place is its bits") {
  std::vector<double> squares;
  for (int i = 0; i < 256; ++i) squares.push_back(i * i % 256);
  const HostTensor table = Host(DType::kUInt8, {256}, squares);
  CheckOp("contrib_byte_table", {}, {Host(DType::kInt8, {2, 2}, {3, -1, -128, 127}), table},
          {Host(DType::kUInt8, {2, 2}, {9, 1, 0, 1})});
  CheckOp("contrib_byte_table", {}, {Host(DType::kUInt8, {3}, {255, 16, 5}), table},
          {Host(DType::kUInt8, {3}, {1, 0, 25})});
  CheckFails("contrib_byte_table", {}, {I32({1}, {0}), table}, "found int32");
  CheckFails("contrib_byte_table", {},
             {Host(DType::kInt8, {1}, {0}), Host(DType::kInt8, {2}, {0, 1})}, "the table");
}

TEST_CASE("gather") {
  HostTensor x = F32({2, 3}, Iota(6));
  CheckOp("gather", {{"axis", 1}}, {x, I64({2, 2}, {2, 0, 1, 1})}, {F32({2, 2}, {2, 0, 4, 4})});
  CheckOp("gather", {{"axis", 0}}, {x, I64({1, 3}, {1, 0, 1})}, {F32({1, 3}, {3, 1, 5})});
  CheckOp("gather", {{"axis", 1}}, {x, I64({1, 2}, {-5, 9})}, {F32({1, 2}, {0, 2})});  // clamped
  CheckFails("gather", {{"axis", 1}}, {x, I64({3, 1}, {0, 0, 0})},
             "the data's extent beside that of indices");
  CheckFails("gather", {{"axis", 1}}, {x, I64({2}, {0, 0})}, "indices must have rank 2");
}

TEST_CASE("gather_nd: coordinates lie along the first axis of indices") {
  HostTensor x = F32({2, 2, 2}, Iota(8));
  Options indices{.static_args = {1}};
  CheckOp("gather_nd", {}, {x, I64({2, 3}, {0, 1, 1, 0, 0, 1})}, {F32({3, 2}, {0, 1, 4, 5, 6, 7})},
          indices);
  CheckOp("gather_nd", {}, {x, I32({3, 1}, {1, 0, 1})}, {F32({1}, {5})}, indices);
  CheckOp("gather_nd", {{"batch_dims", 1}}, {x, I32({1, 2}, {1, 0})}, {F32({2, 2}, {2, 3, 4, 5})},
          indices);
  CheckOp("gather_nd", {{"index_rank", 2}}, {x, I64({2, 1}, {1, 0})}, {F32({1, 2}, {4, 5})});
  CheckFails("gather_nd", {}, {x, I64({2, 1}, {1, 0})}, "index_rank must be given", true);
  CheckFails("gather_nd", {}, {x, I64({4, 1}, {1, 0, 0, 0})}, "4 coordinates");
}

TEST_CASE("adv_index") {
  HostTensor x = F32({2, 3}, Iota(6));
  CheckOp("adv_index", {}, {Arg::Tuple({x, I64({2}, {1, 0})})}, {F32({2, 3}, {3, 4, 5, 0, 1, 2})});
  CheckOp("adv_index", {}, {Arg::Tuple({x, I64({2, 1}, {1, 0}), I64({2}, {2, 1})})},
          {F32({2, 2}, {5, 4, 2, 1})});
  CheckFails("adv_index", {}, {Arg::Tuple({x})}, "0 indices");
}

TEST_CASE("one_hot") {
  HostTensor i = I32({3}, {1, 0, 5});
  AttrMap attrs = {{"depth", 2}, {"dtype", "float32"}};
  CheckOp("one_hot", attrs, {i, F32({}, {1}), F32({}, {-1})},
          {F32({3, 2}, {-1, 1, 1, -1, -1, -1})});
  attrs["axis"] = 0;
  CheckOp("one_hot", attrs, {i, I32({}, {2}), I32({}, {0})}, {F32({2, 3}, {0, 2, 0, 2, 0, 0})});
  CheckOp("dyn.one_hot", {{"dtype", "int32"}}, {i, I32({}, {1}), I32({}, {0}), I32({}, {2})},
          {I32({3, 2}, {0, 1, 1, 0, 0, 0})});
  CheckFails("one_hot", {{"depth", 0}}, {i, F32({}, {1}), F32({}, {0})}, "depth is 0");
}

TEST_CASE("unravel_index") {
  CheckOp("unravel_index", {}, {I64({3}, {22, 41, 37}), I64({2}, {7, 6})},
          {I64({2, 3}, {3, 6, 6, 4, 5, 1})});
  CheckOp("unravel_index", {}, {I32({}, {1621}), I32({4}, {6, 7, 8, 9})}, {I32({4}, {3, 1, 4, 1})},
          {.static_args = {1}});
}

TEST_CASE("sparse_to_dense: a default or none, an index each or one for all") {
  const AttrMap attrs = {{"output_shape", List({5})}};
  const Dim n = Symbol(1);
  CheckBuiltin("sparse_to_dense", attrs, {Int32({n}), Float({n}), Float({})}, {Float({5})},
               "sparse_to_dense", {});
  CheckBuiltin("sparse_to_dense", {{"output_shape", List({2, 2})}}, {Int64({n, 2}), Float({})},
               {Float({2, 2})}, "sparse_to_dense_zero", {});
  const auto plan = PlanBuiltin("dyn.sparse_to_dense", {},
                                {Int32({1}), Float({}), Float({}), Int64({1})}, {{3, {n}}});
  REQUIRE_MESSAGE(plan.ok(), plan.status().ToString());
  CHECK((plan->results == std::vector<TensorType>{Float({n})}));
  CHECK(plan->call.name == "dyn_sparse_to_dense");
  CheckBuiltinFails("sparse_to_dense", {{"output_shape", List({2, 2})}},
                    {Int32({1}), Float({1}), Float({})}, "coordinates of an index");
  CheckBuiltinFails("sparse_to_dense", attrs, {Int32({1})}, "needs indices and values");
}

}  // namespace
}  // namespace relayvm::op_testing
