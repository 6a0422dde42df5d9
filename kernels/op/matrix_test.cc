#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

TEST_CASE("trilu keeps a triangle") {
  for (int64_t k : {-2, -1, 0, 1, 2}) {
    for (bool upper : {true, false}) {
      std::vector<double> out;
      for (int64_t i = 0; i < 3; ++i) {
        for (int64_t j = 0; j < 4; ++j) {
          bool keep = upper ? j - i >= k : j - i <= k;
          out.push_back(keep ? static_cast<double>(i * 4 + j + 1) : 0);
        }
      }
      CheckOp("trilu", {{"upper", upper}}, {F32({3, 4}, Iota(12, 1)), I64({}, {double(k)})},
              {F32({3, 4}, out)});
    }
  }
  CheckFails("trilu", {}, {F32({3}, Iota(3)), I64({}, {0})}, "at least 2 dims");
}

TEST_CASE("trilu: no diagonal is too far away") {
  const HostTensor x = F32({2, 2}, {1, 2, 3, 4});
  const HostTensor none = F32({2, 2}, {0, 0, 0, 0});
  const auto k = [](DType dtype, int64_t value) {
    HostTensor t = Host(dtype, {}, {0});
    te::WriteElement(dtype, te::IntScalar(value), t.data.Mutable().data());
    return t;
  };
  for (int64_t near : {0, 1}) {
    CheckOp("trilu", {{"upper", true}}, {x, k(DType::kInt64, INT64_MIN + near)}, {x});
    CheckOp("trilu", {{"upper", false}}, {x, k(DType::kInt64, INT64_MIN + near)}, {none});
    CheckOp("trilu", {{"upper", true}}, {x, k(DType::kInt64, INT64_MAX - near)}, {none});
    CheckOp("trilu", {{"upper", false}}, {x, k(DType::kInt64, INT64_MAX - near)}, {x});
    // The greatest numbers of uint64.
    CheckOp("trilu", {{"upper", true}}, {x, k(DType::kUInt64, -1 - near)}, {none});
    CheckOp("trilu", {{"upper", false}}, {x, k(DType::kUInt64, -1 - near)}, {x});
  }
}

TEST_CASE("matrix_set_diag: one diagonal, several, alignments") {
  HostTensor x = F32({3, 4}, std::vector<double>(12, 0));
  CheckOp("matrix_set_diag", {}, {x, F32({3}, {1, 2, 3})},
          {F32({3, 4}, {1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0})});
  CheckOp("matrix_set_diag", {{"k1", 1}, {"k2", 1}}, {x, F32({3}, {1, 2, 3})},
          {F32({3, 4}, {0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3})});
  // Diagonals 2, 1, 0, -1; the shorter ones right-aligned above, left-aligned below the main one.
  HostTensor d = F32({4, 3}, {0, 9, 1, 6, 5, 8, 1, 2, 3, 4, 5, 0});
  CheckOp("matrix_set_diag", {{"k1", -1}, {"k2", 2}}, {x, d},
          {F32({3, 4}, {1, 6, 9, 0, 4, 2, 5, 1, 0, 5, 3, 8})});
  HostTensor left = F32({4, 3}, {9, 1, 0, 6, 5, 8, 1, 2, 3, 0, 4, 5});
  CheckOp(
      "matrix_set_diag",
      {{"k1", -1}, {"k2", 2}, {"super_diag_right_align", false}, {"sub_diag_right_align", true}},
      {x, left}, {F32({3, 4}, {1, 6, 9, 0, 4, 2, 5, 1, 0, 5, 3, 8})});
  CheckFails("matrix_set_diag", {}, {x, F32({4}, Iota(4))}, "the diagonals");
  CheckFails("matrix_set_diag", {{"k1", 2}, {"k2", 1}}, {x, d}, "above k2");
}

TEST_CASE("sequence_mask") {
  HostTensor x = F32({2, 3}, Iota(6, 1));
  CheckOp("sequence_mask", {}, {x, I32({3}, {0, 1, 2})}, {F32({2, 3}, {0, 2, 3, 0, 0, 6})});
  CheckOp("sequence_mask", {{"axis", 1}, {"mask_value", -1.0}}, {x, F32({2}, {1, 5})},
          {F32({2, 3}, {1, -1, -1, 4, 5, 6})});
  CheckFails("sequence_mask", {{"axis", 2}}, {x, I32({3}, {0, 1, 2})}, "axis must be 0 or 1");
}

TEST_CASE("sequence_mask: positions that the dtype of the lengths does not hold") {
  constexpr int64_t kLong = 2100;  // no position of an int8, or of a half float
  const HostTensor x = F32({kLong, 1}, std::vector<double>(kLong, 1));
  std::vector<double> masked(kLong, 0);
  std::fill_n(masked.begin(), 5, 1.0);
  for (DType dtype : {DType::kInt8, DType::kUInt8, DType::kInt64, DType::kFloat16, DType::kBFloat16,
                      DType::kFloat32}) {
    CheckOp("sequence_mask", {}, {x, Host(dtype, {1}, {5})}, {F32({kLong, 1}, masked)});
  }
  CheckOp("sequence_mask", {}, {x, Host(DType::kUInt64, {1}, {-1})}, {x});
  std::vector<double> most(kLong, 1);
  most.back() = 0;
  CheckOp("sequence_mask", {}, {x, Host(DType::kFloat32, {1}, {kLong - 1.5})},
          {F32({kLong, 1}, most)});
}

TEST_CASE("einsum") {
  HostTensor a = F32({2, 3}, Iota(6));
  HostTensor b = F32({3, 2}, Iota(6));
  auto call = [](const char* equation, std::vector<HostTensor> in, HostTensor out) {
    CheckOp("einsum", {{"equation", equation}}, {Arg::Tuple(std::move(in))}, {std::move(out)});
  };
  call("ij,jk->ik", {a, b}, F32({2, 2}, {10, 13, 28, 40}));
  call("ij,jk", {a, b}, F32({2, 2}, {10, 13, 28, 40}));
  call("ij , jk -> ki", {a, b}, F32({2, 2}, {10, 28, 13, 40}));
  call("ij->ji", {a}, F32({3, 2}, {0, 3, 1, 4, 2, 5}));
  call("ij->", {a}, F32({}, {15}));
  call("ij->i", {a}, F32({2}, {3, 12}));
  call("ii->i", {F32({2, 2}, Iota(4))}, F32({2}, {0, 3}));
  call("ii", {F32({2, 2}, Iota(4))}, F32({}, {3}));
  call("i,j->ij", {F32({2}, {1, 2}), F32({2}, {3, 4})}, F32({2, 2}, {3, 4, 6, 8}));
  call("ij,jk,km->im", {a, b, F32({2, 1}, {1, 1})}, F32({2, 1}, {23, 68}));
  call("...ij,...jk->...ik", {F32({2, 1, 1}, {2, 3}), F32({2, 1, 1}, {4, 5})},
       F32({2, 1, 1}, {8, 15}));
  call("...i,i->...", {a, F32({3}, {1, 1, 1})}, F32({2}, {3, 12}));
  call("ij,ij->ij", {a, F32({1, 3}, {1, 0, 2})}, F32({2, 3}, {0, 0, 4, 3, 0, 10}));
  // 1 broadcasts to 0: what is summed is empty, whichever operand says so.
  call("ij,jk->ik", {F32({2, 1}, {1, 2}), F32({0, 3}, {})}, F32({2, 3}, {0, 0, 0, 0, 0, 0}));
  call("ij,jk->ik", {F32({2, 0}, {}), F32({1, 3}, {1, 2, 3})}, F32({2, 3}, {0, 0, 0, 0, 0, 0}));
  call("ij,jk,k->ik", {F32({1, 1}, {1}), F32({1, 0}, {}), F32({1}, {1})}, F32({1, 0}, {}));
  call("i,i,i->", {F32({1}, {1}), F32({0}, {}), F32({1}, {1})}, F32({}, {0}));
  call("i,i,i->", {F32({1}, {2}), F32({3}, {1, 2, 3}), F32({1}, {1})}, F32({}, {12}));
  call("ij,ij->", {F32({2, 1}, {1, 2}), F32({2, 0}, {})}, F32({}, {0}));
  call("...i,...i->...", {F32({1, 0}, {}), F32({3, 1}, {1, 2, 3})}, F32({3}, {0, 0, 0}));
  call("bij,bjk->bik", {F32({2, 2, 1}, {1, 2, 3, 4}), F32({2, 0, 1}, {})},
       F32({2, 2, 1}, {0, 0, 0, 0}));
  call("ii->", {F32({0, 1}, {})}, F32({}, {0}));
  call("ii->", {F32({1, 0}, {})}, F32({}, {0}));
  auto fails = [](const char* equation, std::vector<HostTensor> in, const char* message) {
    CheckFails("einsum", {{"equation", equation}}, {Arg::Tuple(std::move(in))}, message);
  };
  fails("ij,jk->il", {a, b}, "the result has label l that no operand has");
  fails("ij->ii", {a}, "twice");
  fails("ij,jk->ik", {a}, "has 2 operands, the call 1");
  fails("ij->ij", {a, b}, "has 1 operands, the call 2");
  fails("ijk->i", {a}, "does not fit an operand of rank 2");
  fails("i?->i", {a}, "unexpected '?'");
  fails("ij,jk->ik", {a, a}, "dims of one label");
}

}  // namespace
}  // namespace relayvm::op_testing
