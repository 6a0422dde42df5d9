#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

TEST_CASE("reshape keeps the row-major order") {
  HostTensor x = F32({2, 3, 4}, Iota(24));
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{24},
                                            {4, 6},
                                            {3, 2, 2, 2},
                                            {2, 12},
                                            {2, 3, 2, 2},
                                            {8, 3},
                                            {1, 24, 1}}) {
    CheckOp("reshape", {{"newshape", List(shape)}}, {x}, {F32(shape, Iota(24))});
  }
  CheckOp("reshape", {{"newshape", List({0, -1})}}, {x}, {F32({2, 12}, Iota(24))});
  CheckOp("reshape", {{"newshape", List({-1, 2})}}, {x}, {F32({12, 2}, Iota(24))});
  CheckOp("reshape", {{"newshape", List({-4, 1, 2, -3})}}, {x}, {F32({1, 2, 12}, Iota(24))});
  CheckOp("reshape", {{"newshape", List({1, 1})}}, {F32({}, {5})}, {F32({1, 1}, {5})});
  CheckOp("reshape", {{"newshape", List({})}}, {F32({1, 1}, {5})}, {F32({}, {5})});
  CheckOp("reshape", {{"newshape", List({0, 5})}, {"allowzero", true}}, {F32({5, 0}, {})},
          {F32({0, 5}, {})});
  // Dims that are copied do not decide what is inferred, so that they may be 0.
  CheckOp("reshape", {{"newshape", List({0, -1})}}, {F32({0, 3, 4}, {})}, {F32({0, 12}, {})});
  CheckOp("reshape", {{"newshape", List({-3, -1})}}, {F32({0, 3, 4}, {})}, {F32({0, 4}, {})});
  CheckOp("reshape", {{"newshape", List({-1, 0})}}, {F32({0, 3}, {})}, {F32({0, 3}, {})});
  CheckOp("reshape", {{"newshape", List({0, 2, -1})}}, {F32({0, 4}, {})}, {F32({0, 2, 2}, {})});
  CheckFails("reshape", {{"newshape", List({0, -1})}, {"allowzero", true}}, {F32({0, 4}, {})},
             "ambiguous");
  CheckFails("reshape", {{"newshape", List({5, 5})}}, {x}, "25 and 24 differ");
  CheckFails("reshape", {{"newshape", List({-1, -1})}}, {x}, "only one dim can be -1");
  CheckFails("reshape", {{"newshape", List({7, -1})}}, {x}, "21 and 24 differ");
  CheckFails("reshape", {{"newshape", List({7, -1})}}, {x}, "the number of elements", true);
}

TEST_CASE("contrib_reverse_reshape reads codes from the back") {
  HostTensor x = F32({10, 5, 4}, Iota(200));
  CheckOp("contrib_reverse_reshape", {{"newshape", List({-1, 0})}}, {x}, {F32({50, 4}, Iota(200))});
  CheckOp("contrib_reverse_reshape", {{"newshape", List({-3, 0})}}, {x}, {F32({50, 4}, Iota(200))});
}

TEST_CASE("reshape_like takes a range of dims") {
  HostTensor x = F32({6, 4}, Iota(24));
  CheckOp("reshape_like", {}, {x, F32({2, 3, 4}, Iota(24))}, {F32({2, 3, 4}, Iota(24))});
  CheckOp("reshape_like", {{"lhs_end", 1}, {"rhs_begin", 1}, {"rhs_end", 3}},
          {x, F32({9, 2, 3}, Iota(54))}, {F32({2, 3, 4}, Iota(24))});
  CheckOp("reshape_like", {{"lhs_begin", -2}, {"lhs_end", -1}, {"rhs_end", 1}},
          {F32({3, 1}, Iota(3)), F32({3, 7}, Iota(21))}, {F32({3, 1}, Iota(3))});
  CheckFails("reshape_like", {}, {x, F32({5}, Iota(5))}, "24 and 5 differ");
  CheckFails("reshape_like", {{"lhs_begin", 3}}, {x, x}, "no range of 2 dims");
}

TEST_CASE("expand_dims and squeeze") {
  HostTensor x = F32({2, 3}, Iota(6));
  CheckOp("expand_dims", {{"axis", 1}}, {x}, {F32({2, 1, 3}, Iota(6))});
  CheckOp("expand_dims", {{"axis", -1}, {"num_newaxis", 2}}, {x}, {F32({2, 3, 1, 1}, Iota(6))});
  CheckOp("expand_dims", {{"axis", 0}}, {F32({}, {1})}, {F32({1}, {1})});
  CheckFails("expand_dims", {{"axis", 3}}, {x}, "axis 3 is out of range");
  HostTensor y = F32({1, 2, 1, 3}, Iota(6));
  CheckOp("squeeze", {{"axis", List({0, -2})}}, {y}, {F32({2, 3}, Iota(6))});
  CheckOp("squeeze", {{"axis", List({})}}, {y}, {y});
  CheckOp("squeeze", {}, {y}, {F32({2, 3}, Iota(6))}, {.symbolic = false});
  CheckFails("squeeze", {}, {y}, "axis must be given", true);
  CheckFails("squeeze", {{"axis", 1}}, {y}, "a squeezed axis: 2 and 1 differ");
  CheckFails("squeeze", {{"axis", List({0, 0})}}, {y}, "given twice");
}

TEST_CASE("views are marked, and what only types read too") {
  for (const char* name : {"reshape", "contrib_reverse_reshape", "reshape_like", "expand_dims",
                           "squeeze", "dyn.reshape", "dyn.squeeze", "dyn.expand_dims"}) {
    CHECK(OpTable::Get().Find(name)->is_view);
  }
  CHECK(OpTable::Get().Find("reshape_like")->shape_args == std::vector<int>{1});
  CHECK(OpTable::Get().Find("dyn.reshape")->shape_args == std::vector<int>{1});
}

}  // namespace
}  // namespace relayvm::op_testing
