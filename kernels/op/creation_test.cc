#include <limits>

#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

TEST_CASE("zeros, ones, full, full_like") {
  CheckOp("zeros", {{"shape", List({2, 2})}, {"dtype", "int32"}}, {}, {I32({2, 2}, {0, 0, 0, 0})});
  CheckOp("ones", {{"shape", List({3})}}, {}, {F32({3}, {1, 1, 1})});
  CheckOp("zeros", {{"shape", List({})}}, {}, {F32({}, {0})});
  CheckOp("full", {{"shape", List({2})}, {"dtype", "int64"}}, {F32({}, {3.7})}, {I64({2}, {3, 3})});
  CheckOp("full", {{"shape", List({})}}, {F32({}, {3.5})}, {F32({}, {3.5})});
  CheckOp("full_like", {}, {I32({2}, {0, 0}), F32({}, {2.5})}, {I32({2}, {2, 2})});
  CheckFails("zeros", {{"shape", AttrList{Dim::Any()}}}, {}, "unknown dim");
  CheckFails("ones", {{"shape", List({-1})}}, {}, "negative dim");
  CheckFails("zeros", {}, {}, "attribute shape (a list of integers or ?) is missing");
  CheckFails("full", {{"shape", List({2})}}, {F32({1}, {1})}, "must have rank 0");
}

TEST_CASE("arange of integers, with numbers known only at run time too") {
  struct Row {
    double start, stop, step;
    std::vector<double> out;
  };
  const Row rows[] = {{0, 5, 1, {0, 1, 2, 3, 4}},
                      {1, 20, 6, {1, 7, 13, 19}},
                      {20, 1, -7, {20, 13, 6}},
                      {3, 3, 1, {}},
                      {3, 0, 1, {}},
                      {-3, 3, 2, {-3, -1, 1}}};
  for (const Row& row : rows) {
    auto n = static_cast<int64_t>(row.out.size());
    CheckOp("arange", {{"dtype", "int64"}},
            {I64({}, {row.start}), I64({}, {row.stop}), I64({}, {row.step})}, {I64({n}, row.out)});
    CheckOp("arange", {{"dtype", "float32"}},
            {I32({}, {row.start}), I32({}, {row.stop}), I32({}, {row.step})}, {F32({n}, row.out)});
  }
  CheckFails("arange", {}, {I64({}, {0}), I64({}, {1}), I64({}, {0})}, "the step is 0");
  CheckFails("arange", {}, {I64({}, {0}), I64({}, {1}), I64({}, {0})}, "the magnitude of the step",
             true);
}

TEST_CASE("arange of floats, with numbers known only at run time too") {
  struct Row {
    double start, stop, step;
    std::vector<double> out;
  };
  const Row rows[] = {{1, 20.5, 4, {1, 5, 9, 13, 17}},
                      {2, 0, -0.5, {2, 1.5, 1, 0.5}},
                      {0, 1, 0.25, {0, 0.25, 0.5, 0.75}},
                      {0.5, 0.5, 1, {}},
                      {1, 0, 1, {}}};
  for (const Row& row : rows) {
    auto n = static_cast<int64_t>(row.out.size());
    for (DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
      auto scalar = [&](double v) { return Host(dtype, {}, {v}); };
      CheckOp("arange", {{"dtype", std::string(DTypeName(dtype))}},
              {scalar(row.start), scalar(row.stop), scalar(row.step)}, {Host(dtype, {n}, row.out)});
    }
  }
  CheckFails("arange", {}, {F32({}, {0}), F32({}, {1}), F32({}, {0})}, "is not finite");
  CheckFails("arange", {}, {F32({}, {0}), F32({}, {1}), F32({}, {0})}, "the length of the range",
             true);
  CheckFails("arange", {}, {F32({}, {0}), F32({}, {-1}), F32({}, {0})}, "the length of the range",
             true);
}

TEST_CASE("a range whose length is no number, or infinite, is refused") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kRanges[][3] = {{kNan, 1, 1}, {0, kNan, 1}, {0, 1, kNan},  {kInf, kInf, 1},
                                   {0, 0, 0},    {0, kInf, 1}, {0, -kInf, 1}, {-kInf, 0, 1}};
  for (const auto& [start, stop, step] : kRanges) {
    for (DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
      CAPTURE(start);
      CAPTURE(stop);
      CAPTURE(step);
      const std::vector<Arg> args = {Host(dtype, {}, {start}), Host(dtype, {}, {stop}),
                                     Host(dtype, {}, {step})};
      CheckFails("arange", {}, args, "is not finite");
      CheckFails("arange", {}, args, "the length of the range", true);
    }
  }
}

TEST_CASE("a dtype that is too narrow for a size is refused") {
  const HostTensor x = F32({2, 200}, std::vector<double>(400));
  CheckOp("shape_of", {{"dtype", "uint8"}}, {x}, {Host(DType::kUInt8, {2}, {2, 200})});
  CheckFails("shape_of", {{"dtype", "int8"}}, {x}, "a size as int8");
  CheckFails("shape_of", {{"dtype", "int8"}}, {x}, "a size as int8", true);
  CheckFails("ndarray_size", {{"dtype", "uint8"}}, {x}, "a size as uint8");
  CheckFails("ndarray_size", {{"dtype", "uint8"}}, {x}, "a size as uint8", true);
}

TEST_CASE("the length of a range is an expression") {
  Attrs attrs;
  attrs.Set("dtype", "int32");
  ArgType scalar{false, {TensorType{{}, DType::kInt32}}};
  FakeContext ctx(attrs, {scalar, scalar, scalar});
  Dim n = Dim::Symbol(1, "n");
  ctx.elements = {std::vector<Dim>{0}, std::vector<Dim>{n}, std::vector<Dim>{1}};
  CHECK(OpTable::Get().Find("arange")->infer(ctx)->tensors[0].shape == std::vector<Dim>{n});
}

TEST_CASE("shape_of and ndarray_size") {
  HostTensor x = F32({2, 3}, Iota(6));
  CheckOp("shape_of", {{"dtype", "int64"}}, {x}, {I64({2}, {2, 3})});
  CheckOp("shape_of", {}, {x}, {I32({2}, {2, 3})});
  CheckOp("shape_of", {}, {F32({}, {1})}, {I32({0}, {})});
  CheckOp("vm.shape_of", {}, {x}, {I64({2}, {2, 3})});
  CheckOp("ndarray_size", {{"dtype", "int64"}}, {x}, {I64({}, {6})});
  CheckOp("ndarray_size", {}, {F32({}, {1})}, {I32({}, {1})});
}

}  // namespace
}  // namespace relayvm::op_testing
