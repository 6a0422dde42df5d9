#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

TEST_CASE("concatenate") {
  Arg three = Arg::Tuple({F32({1, 2}, {1, 2}), F32({2, 2}, {3, 4, 5, 6}), F32({0, 2}, {})});
  CheckOp("concatenate", {}, {three}, {F32({3, 2}, Iota(6, 1))});
  CheckOp("concatenate", {{"axis", -1}},
          {Arg::Tuple({F32({2, 1}, {1, 2}), F32({2, 2}, {3, 4, 5, 6})})},
          {F32({2, 3}, {1, 3, 4, 2, 5, 6})});
  CheckOp("concatenate", {}, {Arg::Tuple({I32({0}, {}), I32({0}, {})})}, {I32({0}, {})});
  CheckFails("concatenate", {}, {Arg::Tuple({F32({1, 2}, {1, 2}), F32({1, 3}, {1, 2, 3})})},
             "2 and 3 differ");
  CheckFails("concatenate", {}, {Arg::Tuple({F32({1}, {1}), I32({1}, {1})})}, "dtypes");
  CheckFails("concatenate", {}, {Arg::Tuple({F32({1}, {1}), F32({}, {1})})}, "differ in rank");
  CheckFails("concatenate", {}, {Arg::Tuple({})}, "expected a tuple of tensors, found ()");
  CheckFails("concatenate", {}, {F32({1}, {1})},
             "expected a tuple of tensors, found Tensor[(1), float32]");
  CheckFails("concatenate", {{"axis", 1}}, {Arg::Tuple({F32({1}, {1})})}, "out of range");
}

TEST_CASE("stack") {
  Arg two = Arg::Tuple({F32({2}, {1, 2}), F32({2}, {3, 4})});
  CheckOp("stack", {}, {two}, {F32({2, 2}, {1, 2, 3, 4})});
  CheckOp("stack", {{"axis", -1}}, {two}, {F32({2, 2}, {1, 3, 2, 4})});
  CheckOp("stack", {}, {Arg::Tuple({I64({}, {5}), I64({}, {6}), I64({}, {7})})},
          {I64({3}, {5, 6, 7})});
  CheckFails("stack", {}, {Arg::Tuple({F32({2}, {1, 2}), F32({1}, {1})})}, "2 and 1 differ");
}

TEST_CASE("split into equal parts and at indices") {
  HostTensor x = F32({2, 4}, Iota(8));
  CheckOp("split", {{"indices_or_sections", 2}, {"axis", 1}}, {x},
          {F32({2, 2}, {0, 1, 4, 5}), F32({2, 2}, {2, 3, 6, 7})});
  CheckOp("split", {{"indices_or_sections", List({1, 1, 3})}, {"axis", -1}}, {x},
          {F32({2, 1}, {0, 4}), F32({2, 0}, {}), F32({2, 2}, {1, 2, 5, 6}), F32({2, 1}, {3, 7})});
  CheckOp("split", {{"indices_or_sections", 1}}, {x}, {x});
  CheckFails("split", {{"indices_or_sections", 3}, {"axis", 1}}, {x}, "equal parts");
  CheckFails("split", {{"indices_or_sections", 0}}, {x}, "indices_or_sections is 0");
  CheckFails("split", {{"indices_or_sections", List({3, 1})}, {"axis", 1}}, {x}, "1 comes after 3");
  CheckFails("split", {{"indices_or_sections", List({5})}, {"axis", 1}}, {x},
             "the extent of the axis that indices_or_sections cut");
  CheckFails("split", {{"indices_or_sections", List({5})}, {"axis", 1}}, {x},
             "the extent of the axis that indices_or_sections cut", true);
}

TEST_CASE("meshgrid") {
  Arg two = Arg::Tuple({F32({2}, {1, 2}), F32({3}, {3, 4, 5})});
  CheckOp("meshgrid", {}, {two},
          {F32({2, 3}, {1, 1, 1, 2, 2, 2}), F32({2, 3}, {3, 4, 5, 3, 4, 5})});
  CheckOp("meshgrid", {{"indexing", "xy"}}, {two},
          {F32({3, 2}, {1, 2, 1, 2, 1, 2}), F32({3, 2}, {3, 3, 4, 4, 5, 5})});
  CheckOp("meshgrid", {}, {Arg::Tuple({F32({}, {1}), F32({2}, {2, 3})})},
          {F32({1, 2}, {1, 1}), F32({1, 2}, {2, 3})});
  CheckOp("meshgrid", {{"indexing", "yx"}}, {two},
          {F32({2, 3}, {1, 1, 1, 2, 2, 2}), F32({2, 3}, {3, 4, 5, 3, 4, 5})});
}

}  // namespace
}  // namespace relayvm::op_testing
