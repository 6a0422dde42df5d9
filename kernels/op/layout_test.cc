#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

TEST_CASE("transpose") {
  HostTensor x = F32({2, 3}, Iota(6));
  CheckOp("transpose", {}, {x}, {F32({3, 2}, {0, 3, 1, 4, 2, 5})});
  CheckOp("transpose", {{"axes", List({0, 1})}}, {x}, {x});
  CheckOp("transpose", {{"axes", List({0, -1, 1})}}, {F32({1, 2, 3}, Iota(6))},
          {F32({1, 3, 2}, {0, 3, 1, 4, 2, 5})});
  CheckFails("transpose", {{"axes", List({0})}}, {x}, "axes has 1 elements");
  CheckFails("transpose", {{"axes", List({0, 0})}}, {x}, "given twice");
}

TEST_CASE("permutations are the axes that expressions read") {
  struct Case {
    const char* op;
    AttrMap attrs;
    std::optional<std::vector<int64_t>> axes;
  };
  const Case cases[] = {
      {"transpose", {}, {{2, 1, 0}}},
      {"transpose", {{"axes", List({0, -1, 1})}}, {{0, 2, 1}}},
      {"layout_transform", {{"src_layout", "NCW"}, {"dst_layout", "WNC"}}, {{2, 0, 1}}},
      {"layout_transform", {{"src_layout", "NCW"}, {"dst_layout", "NCW2c"}}, std::nullopt},
  };
  for (const Case& c : cases) {
    CAPTURE(c.op);
    const OpDef& op = *OpTable::Get().Find(c.op);
    Attrs given;
    for (const auto& [name, value] : c.attrs) given.Set(name, value);
    const Attrs attrs = *CompleteAttrs(op, given);
    const auto axes = op.permutation(attrs, 3);
    CHECK(axes == c.axes);
    if (!axes) continue;
    const std::vector<Dim> shape = {2, 3, 4};
    TensorType result{{}, DType::kFloat32};
    for (int64_t axis : *axes) result.shape.push_back(shape[static_cast<size_t>(axis)]);
    const te::Tensor e = ExpressionOf(op, attrs, {{TensorType{shape, DType::kFloat32}}}, result);
    REQUIRE(e->body->kind == te::ExprKind::kLoad);
    for (size_t i = 0; i < axes->size(); ++i)
      CHECK(e->body->operands[static_cast<size_t>((*axes)[i])]->axis == e->axes[i]);
  }
}

// layout_transform by its definition: element by element, each axis from its parts.
std::vector<double> ToBlocked(int64_t n, int64_t c, int64_t w, int64_t block) {
  std::vector<double> out;  // NCW -> NCW<block>c
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t co = 0; co < c / block; ++co) {
      for (int64_t k = 0; k < w; ++k) {
        for (int64_t ci = 0; ci < block; ++ci) {
          out.push_back(static_cast<double>((i * c + co * block + ci) * w + k));
        }
      }
    }
  }
  return out;
}

TEST_CASE("layout_transform") {
  HostTensor x = F32({2, 4, 3}, Iota(24));
  HostTensor blocked = F32({2, 2, 3, 2}, ToBlocked(2, 4, 3, 2));
  AttrMap block = {{"src_layout", "NCW"}, {"dst_layout", "NCW2c"}};
  AttrMap unblock = {{"src_layout", "NCW2c"}, {"dst_layout", "NCW"}};
  CheckOp("layout_transform", block, {x}, {blocked});
  CheckOp("layout_transform", unblock, {blocked}, {x});
  CheckOp("layout_transform", {{"src_layout", "NCW2c"}, {"dst_layout", "NCW4c"}}, {blocked},
          {F32({2, 1, 3, 4}, ToBlocked(2, 4, 3, 4))});
  CheckOp("layout_transform", {{"src_layout", "CH"}, {"dst_layout", "C2cH"}},
          {F32({4, 2}, Iota(8))}, {F32({2, 2, 2}, Iota(8))});
  // Two splits of one axis: i = (I * 2 + i2) * 2 + i2'.
  CheckOp("layout_transform", {{"src_layout", "OI"}, {"dst_layout", "OI2i2o2i"}},
          {F32({2, 4}, Iota(8))}, {F32({1, 1, 2, 2, 2}, {0, 1, 4, 5, 2, 3, 6, 7})});
  CheckFails("layout_transform", {{"src_layout", "NCW"}, {"dst_layout", "NCW3c"}}, {x},
             "a multiple of its factor");
  CheckFails("layout_transform", {{"src_layout", "NCW"}, {"dst_layout", "NC"}}, {x},
             "axis W is missing");
  CheckFails("layout_transform", {{"src_layout", "NC"}, {"dst_layout", "CN"}}, {x}, "has 2 dims");
  for (const char* bad : {"N2C", "NC2", "NNC", "Nc", "2cN", "N-C", ""}) {
    CheckFails("layout_transform", {{"src_layout", bad}, {"dst_layout", "NCW"}}, {x}, "layout");
  }
}

TEST_CASE("reverse and reverse_sequence") {
  HostTensor x = F32({2, 3}, Iota(6));
  CheckOp("reverse", {{"axis", 1}}, {x}, {F32({2, 3}, {2, 1, 0, 5, 4, 3})});
  CheckOp("reverse", {{"axis", -2}}, {x}, {F32({2, 3}, {3, 4, 5, 0, 1, 2})});
  CheckOp("reverse_sequence", {}, {x, I32({2}, {2, 9})}, {F32({2, 3}, {1, 0, 2, 5, 4, 3})});
  CheckOp("reverse_sequence", {{"seq_axis", 0}, {"batch_axis", -1}}, {x, I32({3}, {0, 1, 2})},
          {F32({2, 3}, {0, 1, 5, 3, 4, 2})});
  CheckFails("reverse_sequence", {}, {x, I32({3}, {1, 1, 1})}, "3 and 2 differ");
}

TEST_CASE("invert_permutation") {
  CheckOp("invert_permutation", {}, {I32({4}, {2, 0, 3, 1})}, {I32({4}, {1, 3, 0, 2})});
}

}  // namespace
}  // namespace relayvm::op_testing
