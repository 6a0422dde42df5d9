// Schedules on every target level, against the evaluator: dtypes, staged tensors, several outputs,
// tiles, windows, deep graphs.

#include <set>

#include "kernels/codegen/kernel_harness.h"
#include "kernels/codegen/schedule.h"
#include "kernels/op/op.h"

namespace relayvm {
namespace {

using te::BinaryOp;
using te::Compute;
using te::Expr;
using te::Load;
using te::ReduceKind;
using te::Tensor;
using te::UnaryOp;
using Indices = std::vector<Expr>;

const Dim kN = Dim::Symbol(1, "n");
const Dim kM = Dim::Symbol(2, "m");
constexpr const char* kLevels[] = {"x86-64-v2", "x86-64-v3", "native"};

Tensor Input(std::vector<Dim> shape, int index, DType dtype = DType::kFloat32) {
  return te::Placeholder("x" + std::to_string(index), std::move(shape), dtype, index);
}

KernelSpec Spec(std::string name, std::vector<Tensor> inputs, std::vector<Tensor> outputs) {
  std::vector<bool> by_value(inputs.size(), false);
  return {std::move(name), std::move(inputs), std::move(by_value), std::move(outputs)};
}

// The sum (or another reduction) of x over one axis, which is dropped.
Tensor Over(const Tensor& x, int axis, ReduceKind kind = ReduceKind::kSum) {
  std::vector<Dim> shape = x->shape;
  shape.erase(shape.begin() + axis);
  return Compute("over", shape, [&](const Indices& i) {
    te::Axis k = te::MakeAxis("k", x->shape[static_cast<size_t>(axis)]);
    Indices at = i;
    at.insert(at.begin() + axis, te::AxisValue(k));
    return te::Reduce(kind, Load(x, at), {k}, x->dtype);
  });
}

Tensor Map(const Tensor& x, UnaryOp op) {
  return Compute("map", x->shape, [&](const Indices& i) { return te::Unary(op, Load(x, i)); });
}

using Sizes = std::vector<std::pair<int64_t, int64_t>>;

// Checks the specs on all levels at all sizes of n and m.
void CheckSpecs(const std::vector<KernelSpec>& specs, const Sizes& sizes, double tolerance = 1e-5) {
  for (const char* level : kLevels) {
    KernelOptions options;
    options.machine = MachineNamed(level);
    KernelHarness harness(options);
    for (const KernelSpec& spec : specs) harness.Add(spec);
    harness.Finish();
    INFO(std::string(level));
    for (auto [n, m] : sizes) {
      for (size_t k = 0; k < specs.size(); ++k) harness.Check(k, {{1, n}, {2, m}}, tolerance);
    }
  }
}

// Lanes that share elements, of which some are off, from offsets that are multiples and others.
TEST_CASE("elements that are repeated along the vector") {
  std::vector<KernelSpec> specs;
  auto parts = [](const Expr& i, int64_t times) {
    return te::Binary(BinaryOp::kDivide, i, te::IntImm(times));
  };
  for (DType dtype : {DType::kFloat32, DType::kInt8, DType::kFloat64, DType::kBool}) {
    for (int64_t times : {2, 3, 4, 8, 16}) {
      for (int64_t offset : {0, 1, 2, 4, 16}) {
        Tensor x = Input({kN, kM}, 0, dtype);
        Tensor y = Compute("y", {kN, kM}, [&](const Indices& i) {
          return Load(x, {i[0], parts(i[1] + te::IntImm(offset), times + offset)});
        });
        Tensor z = Compute("z", {kN * 2, kM * times}, [&](const Indices& i) {
          return Load(x, {parts(i[0], 2), parts(i[1], times)});
        });
        // Elements before `offset` are none of x.
        Tensor padded = Compute("padded", {kN, kM * times + offset}, [&](const Indices& i) {
          const Expr at = i[1] - te::IntImm(offset);
          return te::Select(at < te::IntImm(0), te::Const(0, dtype),
                            Load(x, {i[0], parts(at, times)}));
        });
        for (const Tensor& t : {y, z, padded}) {
          specs.push_back(
              Spec(fmt::format("repeat_{}_{}_{}_{}", DTypeName(dtype), times, offset, t->name), {x},
                   {t}));
        }
      }
    }
  }
  CheckSpecs(specs, {{1, 1}, {3, 5}, {2, 33}, {5, 70}});
}

// Operands of which it is not known before whether they are broadcast.
TEST_CASE("broadcasts that are decided when running") {
  const Dim a = Dim::Symbol(3, "a"), b = Dim::Symbol(4, "b");
  auto at = [](const Expr& i, const Dim& extent) {
    return te::Select(te::Binary(BinaryOp::kEqual, te::DimValue(extent), te::IntImm(1)),
                      te::IntImm(0), i);
  };
  Tensor x = Input({a, b}, 0);
  Tensor y = Input({kN, kM}, 1);
  Tensor sum = Compute("sum", {kN, kM}, [&](const Indices& i) {
    return Load(x, {at(i[0], a), at(i[1], b)}) + Load(y, i);
  });
  // Where the operand is not read at all its element may not exist.
  Tensor some = Compute("some", {kN, kM}, [&](const Indices& i) {
    return te::Select(Load(y, i) < te::Const(0, DType::kFloat32), te::Const(1, DType::kFloat32),
                      Load(x, {at(i[0], a), at(i[1], b)}));
  });
  for (const char* level : kLevels) {
    KernelHarness harness({.machine = MachineNamed(level)});
    harness.Add(Spec("sum", {x, y}, {sum}));
    harness.Add(Spec("some", {x, y}, {some}));
    harness.Finish();
    for (auto [n, m] : Sizes{{1, 1}, {3, 5}, {4, 37}, {2, 64}}) {
      for (bool one_row : {false, true}) {
        for (bool one_column : {false, true}) {
          const SymbolValues values = {
              {1, n}, {2, m}, {3, one_row ? 1 : n}, {4, one_column ? 1 : m}};
          harness.Check(0, values);
          harness.Check(1, values);
        }
      }
    }
  }
}

TEST_CASE("every dtype: broadcast, cast, sum and maximum") {
  std::vector<KernelSpec> specs;
  for (int d = 1; d < kNumDTypes; ++d) {
    DType t = static_cast<DType>(d);
    Tensor x = Input({kN, kM}, 0, t);
    Tensor b = Input({kM}, 1, t);
    Tensor y = Compute("y", {kN, kM},
                       [&](const Indices& i) { return Load(x, i) * Load(b, {i[1]}) + Load(x, i); });
    Tensor wide = Compute("wide", {kN, kM}, [&](const Indices& i) {
      return te::Cast(Load(x, i), DType::kFloat32) * te::Const(0.5, DType::kFloat32);
    });
    Tensor less =
        Compute("less", {kN, kM}, [&](const Indices& i) { return Load(x, i) < Load(b, {i[1]}); });
    specs.push_back(Spec("affine", {x, b}, {y, less}));
    specs.push_back(Spec("wide", {x, b}, {wide}));
    specs.push_back(Spec("rows", {x}, {Over(x, 1)}));
    specs.push_back(Spec("columns", {x}, {Over(x, 0, ReduceKind::kMax)}));
  }
  CheckSpecs(specs, {{3, 37}, {1, 4}}, 1e-4);
}

TEST_CASE("sums of many floats: errors grow slowly with their number") {
  const int64_t n = 100000, m = 5;
  const HostTensor data = RandomTensor(DType::kFloat32, {n, m}, 1, 0, 1);
  std::vector<double> exact(m);
  for (int64_t i = 0; i < n * m; ++i) exact[i % m] += Element(data, i).f;
  const Tensor x = Input({kN, kM}, 0);
  const Tensor pairs = Input({kN, kM, 2}, 0);
  // Over both axes with the short one inside, of all columns and of one.
  const Tensor inner = Compute("inner", {2}, [&](const Indices& i) {
    const te::Axis a = te::MakeAxis("a", kN), b = te::MakeAxis("b", kM);
    return te::Reduce(ReduceKind::kSum, Load(pairs, {te::AxisValue(a), te::AxisValue(b), i[0]}),
                      {a, b}, DType::kFloat32);
  });
  for (const char* level : kLevels) {
    KernelHarness harness({.machine = MachineNamed(level)});
    const size_t columns = harness.Add(Spec("columns", {x}, {Over(x, 0)}));
    const size_t both = harness.Add(Spec("both", {pairs}, {inner}));
    harness.Finish();
    INFO(std::string(level));
    HostTensor out = harness.Run(columns, {data}, {{1, n}, {2, m}})[0];
    for (int64_t c = 0; c < m; ++c)
      CHECK(Element(out, c).f == doctest::Approx(exact[c]).epsilon(3e-6));
    HostTensor halves = data;
    halves.shape = {n * m / 10, 5, 2};
    out = harness.Run(both, {halves}, {{1, n * m / 10}, {2, 5}})[0];
    const double all = exact[0] + exact[1] + exact[2] + exact[3] + exact[4];
    CHECK(Element(out, 0).f + Element(out, 1).f == doctest::Approx(all).epsilon(3e-6));
  }
}

TEST_CASE("costly tensors are computed once: by row, by column, or whole") {
  Tensor x = Input({kN, kM}, 0);
  Tensor columns = Over(x, 0);
  Tensor rows = Over(x, 1);
  Tensor centred = Compute("centred", {kN, kM}, [&](const Indices& i) {
    return Load(x, i) - Load(rows, {i[0]}) - Load(columns, {i[1]});
  });
  Tensor exp = Map(x, UnaryOp::kExp);
  Tensor shifted = Compute("shifted", {kN, kM}, [&](const Indices& i) {
    Expr next =
        te::Select(i[1] + te::IntImm(1) < te::DimValue(kM), i[1] + te::IntImm(1), te::IntImm(0));
    return Load(exp, i) + Load(exp, {i[0], next});
  });
  // Runs that are loaded and permuted, of a row in scratch: not past its end.
  Tensor clamped = Compute("clamped", {kN, kM}, [&](const Indices& i) {
    const Expr last = te::DimValue(kM) - te::IntImm(1);
    Expr next = te::Select(i[1] < last, i[1] + te::IntImm(1), last);
    return Load(exp, i) + Load(exp, {i[0], next});
  });
  Tensor product = Compute("product", {kN, kN}, [&](const Indices& i) {
    te::Axis k = te::MakeAxis("k", kM);
    return te::Reduce(ReduceKind::kSum,
                      Load(exp, {i[0], te::AxisValue(k)}) * Load(x, {i[1], te::AxisValue(k)}), {k},
                      DType::kFloat32);
  });
  Tensor twice =
      Compute("twice", {kN}, [&](const Indices& i) { return Load(rows, i) * Load(rows, i); });
  CheckSpecs({Spec("centred", {x}, {centred}), Spec("shifted", {x}, {shifted}),
              Spec("clamped", {x}, {clamped}), Spec("product", {x}, {product}),
              Spec("twice", {x}, {twice})},
             {{1, 1}, {5, 33}, {18, 7}, {3, 16}, {70, 32}}, 1e-3);
}

TEST_CASE("several outputs: of one shape, of several, one read by another") {
  Tensor x = Input({kN, kM}, 0);
  Tensor y = Input({kN, kM}, 1);
  Tensor sum = Compute("sum", {kN, kM}, [&](const Indices& i) { return Load(x, i) + Load(y, i); });
  Tensor next =
      Compute("next", {kN, kM}, [&](const Indices& i) { return Load(sum, i) * Load(x, i); });
  Tensor rows = Over(sum, 1);
  Tensor all = Compute("all", {}, [&](const Indices&) {
    te::Axis a = te::MakeAxis("a", kN);
    return te::Reduce(ReduceKind::kSum, Load(rows, {te::AxisValue(a)}), {a}, DType::kFloat32);
  });
  Tensor tail =
      Compute("tail", {kM}, [&](const Indices& i) { return te::Cast(i[0], DType::kFloat32); });
  CheckSpecs({Spec("chain", {x, y}, {sum, next}), Spec("rows", {x, y}, {rows, sum, next}),
              Spec("all", {x, y}, {sum, rows, all, tail}), Spec("same", {x, y}, {sum, sum, x})},
             {{1, 5}, {6, 40}, {0, 3}}, 1e-3);
}

TEST_CASE("transposes run as tiles, with what surrounds them") {
  Tensor x = Input({kN, kM}, 0);
  Tensor b = Input({kM, kN}, 1);
  Tensor wide = Input({kN, kM}, 0, DType::kFloat64);
  Tensor cube = Input({3, kN, kM}, 0);
  auto swapped = [](const Tensor& t) {
    return Compute("t", {t->shape[1], t->shape[0]},
                   [&](const Indices& i) { return Load(t, {i[1], i[0]}); });
  };
  Tensor fused = Compute("fused", {kM, kN}, [&](const Indices& i) {
    return te::Unary(UnaryOp::kTanh, Load(x, {i[1], i[0]})) + Load(b, i);
  });
  Tensor middle = Compute("middle", {kM, 3, kN},
                          [&](const Indices& i) { return Load(cube, {i[1], i[2], i[0]}); });
  Tensor halves = Input({kN, kM}, 0, DType::kFloat16);
  Tensor bytes = Input({kN, kM}, 0, DType::kInt8);
  const auto plan = codegen::PlanLoops(Spec("bytes", {bytes}, {swapped(bytes)}));
  REQUIRE(plan.ok());
  CHECK(!(*plan)->sections[0].nests[0].transposed.empty());
  CheckSpecs({Spec("plain", {x}, {swapped(x)}), Spec("double", {wide}, {swapped(wide)}),
              Spec("half", {halves}, {swapped(halves)}), Spec("bytes", {bytes}, {swapped(bytes)}),
              Spec("fused", {x, b}, {fused}), Spec("middle", {cube}, {middle})},
             {{1, 1}, {16, 16}, {35, 50}, {100, 9}, {8, 64}});
}

// Channels become the last axis, blocks of depth become space, rows are repeated: what is
// contiguous in memory on one side comes from few places of the other.
TEST_CASE("a short last axis: its elements are taken in turn, and apart") {
  std::vector<KernelSpec> specs;
  for (DType t : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kInt8, DType::kBool}) {
    for (int64_t ways : {2, 3, 4, 5}) {
      Dim count(ways);
      Expr w = te::IntImm(ways);
      auto quotient = [&](const Expr& i) { return te::Binary(BinaryOp::kFloorDivide, i, w); };
      auto rest = [&](const Expr& i) { return te::Binary(BinaryOp::kFloorMod, i, w); };
      Tensor first = Input({count, kN, kM}, 0, t);
      Tensor last = Input({kN, kM, count}, 0, t);
      Tensor blocks = Input({count * count, kN, kM}, 0, t);
      Tensor scales = Input({count}, 1, t);
      Tensor to_last = Compute("to_last", {kN, kM, count},
                               [&](const Indices& i) { return Load(first, {i[2], i[0], i[1]}); });
      Tensor scaled = Compute("scaled", {kN, kM, count}, [&](const Indices& i) {
        return Load(first, {i[2], i[0], i[1]}) * Load(scales, {i[2]});
      });
      Tensor to_first = Compute("to_first", {count, kN, kM},
                                [&](const Indices& i) { return Load(last, {i[1], i[2], i[0]}); });
      Tensor to_space = Compute("to_space", {kN * count, kM * count}, [&](const Indices& i) {
        return Load(blocks, {rest(i[0]) * w + rest(i[1]), quotient(i[0]), quotient(i[1])});
      });
      Tensor repeated = Compute("repeated", {kN, kM * count}, [&](const Indices& i) {
        return Load(blocks, {te::IntImm(1), i[0], quotient(i[1])});
      });
      specs.push_back(Spec("last", {first}, {to_last}));
      specs.push_back(Spec("scaled", {first, scales}, {scaled, to_last}));
      specs.push_back(Spec("first", {last}, {to_first}));
      specs.push_back(Spec("space", {blocks}, {to_space}));
      specs.push_back(Spec("repeated", {blocks}, {repeated}));
    }
  }
  CheckSpecs(specs, {{1, 1}, {3, 4}, {2, 37}, {5, 64}});
}

TEST_CASE("windows: strides, padding, dilation") {
  Tensor x = Input({2, kN, kM}, 0);
  std::vector<KernelSpec> specs;
  for (int64_t stride : {1, 2, 3, 4}) {
    for (int64_t dilation : {1, 2}) {
      Dim height = Dim::FloorDiv(kN + Dim(2 - 2 * dilation - 1), stride) + Dim(1);
      Dim width = Dim::FloorDiv(kM + Dim(2 - 2 * dilation - 1), stride) + Dim(1);
      specs.push_back(Spec(
          "window", {x}, {Compute("pool", {2, height, width}, [&](const Indices& i) {
            te::Axis ry = te::MakeAxis("ry", 3);
            te::Axis rx = te::MakeAxis("rx", 3);
            Expr y = i[1] * te::IntImm(stride) + te::AxisValue(ry) * te::IntImm(dilation) -
                     te::IntImm(1);
            Expr z = i[2] * te::IntImm(stride) + te::AxisValue(rx) * te::IntImm(dilation) -
                     te::IntImm(1);
            Expr inside = (y >= te::IntImm(0)) && (y < te::DimValue(kN)) && (z >= te::IntImm(0)) &&
                          (z < te::DimValue(kM));
            Expr value =
                te::Select(inside, Load(x, {i[0], y, z}), te::FloatImm(-1e30, DType::kFloat32));
            return te::Reduce(ReduceKind::kMax, value, {ry, rx}, DType::kFloat32);
          })}));
    }
  }
  CheckSpecs(specs, {{5, 5}, {9, 40}});
}

TEST_CASE("deep graphs: long chains, shared doubling, many-armed selects") {
  Tensor x = Input({kN}, 0);
  Tensor chain = x;
  for (int i = 0; i < 300; ++i) {
    chain = Compute("c", {kN}, [&](const Indices& at) {
      return Load(chain, at) * te::Const(0.5, DType::kFloat32) + te::Const(i % 3, DType::kFloat32);
    });
  }
  Tensor doubling = x;
  for (int i = 0; i < 60; ++i) {
    doubling = Compute("d", {kN}, [&](const Indices& at) {
      Expr v = Load(doubling, at);
      // The value is in the condition and on both sides: 3^60 paths.
      return te::Select(v < te::Const(0, DType::kFloat32), te::Unary(UnaryOp::kTanh, v),
                        te::Unary(UnaryOp::kSin, v));
    });
  }
  std::vector<Tensor> parts;
  parts.reserve(40);
  for (int i = 0; i < 40; ++i) parts.push_back(Input({kN, 2}, i));
  Tensor joined = Compute("joined", {kN, 80}, [&](const Indices& i) {
    Expr e = Load(parts.back(), {i[0], i[1] - te::IntImm(78)});
    for (int64_t p = 38; p >= 0; --p) {
      e = te::Select(i[1] < te::IntImm(2 * p + 2),
                     Load(parts[static_cast<size_t>(p)], {i[0], i[1] - te::IntImm(2 * p)}), e);
    }
    return e;
  });
  CheckSpecs({Spec("chain", {x}, {chain}), Spec("doubling", {x}, {doubling}),
              Spec("joined", parts, {joined})},
             {{1, 0}, {21, 0}}, 1e-4);
}

TEST_CASE("selects guard what does not exist: reductions, uniform loads, integer divisors") {
  Tensor x = Input({kN, kM}, 0);
  Tensor ids = Input({kM}, 1, DType::kInt32);
  // Row i sums its first i elements, the first row is a constant.
  Tensor triangle = Compute("triangle", {kN}, [&](const Indices& i) {
    te::Axis k = te::MakeAxis("k", kM);
    Expr element =
        te::Select(te::AxisValue(k) < i[0], Load(x, {i[0] - te::IntImm(1), te::AxisValue(k)}),
                   te::FloatImm(0, DType::kFloat32));
    Expr sum = te::Reduce(ReduceKind::kSum, element, {k}, DType::kFloat32);
    return te::Select(i[0] >= te::IntImm(1), sum, te::FloatImm(-1, DType::kFloat32));
  });
  // A uniform load that is out of range unless some lane wants it.
  Tensor uniform = Compute("uniform", {kM}, [&](const Indices& i) {
    return te::Select(te::DimValue(kN) >= te::IntImm(3) && i[0] >= te::IntImm(2),
                      Load(x, {te::IntImm(2), te::IntImm(0)}), te::FloatImm(7, DType::kFloat32));
  });
  Tensor divided = Compute("divided", {kM}, [&](const Indices& i) {
    Expr id = Load(ids, i);
    Expr index = te::Cast(i[0], DType::kInt32);
    return te::Binary(BinaryOp::kFloorMod, index, id) + te::Binary(BinaryOp::kDivide, index, id);
  });
  CheckSpecs({Spec("triangle", {x}, {triangle}), Spec("uniform", {x}, {uniform}),
              Spec("divided", {x, ids}, {divided})},
             {{1, 9}, {2, 1}, {5, 20}, {20, 33}}, 1e-4);
}

size_t CountReductions(const std::vector<Tensor>& outputs) {
  std::set<const te::ExprNode*> seen;
  size_t count = 0;
  for (const Tensor& t : codegen::TensorsInOrder(outputs)) {
    if (t->is_placeholder()) continue;
    std::vector<const te::ExprNode*> stack = {t->body.get()};
    while (!stack.empty()) {
      const te::ExprNode* e = stack.back();
      stack.pop_back();
      if (!seen.insert(e).second) continue;
      count += e->kind == te::ExprKind::kReduce;
      for (const Expr& operand : e->operands) stack.push_back(operand.get());
    }
  }
  return count;
}

// A copy would be computed again for each element that needs it: time that grows with the square.
TEST_CASE("norms have no reduction twice, whatever their axes and layout") {
  const struct {
    const char* name;
    std::vector<std::pair<std::string, AttrValue>> attrs;
    int channels;             // the axis of gamma and beta, or -1
    bool by_numbers = false;  // statistics are numbers of a unit, and take no memory
  } kCases[] = {
      {"nn.instance_norm", {{"axis", 1}}, 1, true},
      {"nn.instance_norm", {{"axis", 3}}, 3},
      {"nn.group_norm", {{"num_groups", 2}, {"axis", 1}}, 1},
      {"nn.group_norm", {{"num_groups", 2}, {"axis", 3}}, 3},
      {"nn.layer_norm", {{"axis", -1}}, 3, true},
      {"nn.layer_norm", {{"axis", 1}}, 1},
      {"nn.softmax", {{"axis", 1}}, -1},
      {"nn.log_softmax", {{"axis", -1}}, -1, true},
      {"nn.l2_normalize", {{"eps", 1e-5}, {"axis", AttrList{1, 2, 3}}}, -1},
  };
  for (const auto& c : kCases) {
    const OpDef* op = OpTable::Get().Find(c.name);
    REQUIRE(op != nullptr);
    Attrs given;
    for (const auto& [name, value] : c.attrs) given.Set(name, value);
    const Result<Attrs> attrs = CompleteAttrs(*op, given);
    REQUIRE_MESSAGE(attrs.ok(), attrs.status().ToString());
    for (const bool open : {false, true}) {
      CAPTURE(c.name);
      CAPTURE(open);
      const Dim height = open ? kN : Dim(24), width = open ? kM : Dim(40);
      std::vector<Dim> shape = {2, height, width};
      shape.insert(shape.begin() + (c.channels < 0 ? 1 : c.channels), Dim(8));
      std::vector<Tensor> inputs = {Input(shape, 0)};
      if (c.channels >= 0) inputs.insert(inputs.end(), {Input({8}, 1), Input({8}, 2)});
      const std::vector<TensorType> results = {TensorType{shape, DType::kFloat32}};
      const std::vector<Tensor> outputs = op->compute({*attrs, inputs, results});
      const auto plan = codegen::PlanLoops(Spec("norm", inputs, outputs));
      REQUIRE_MESSAGE(plan.ok(), plan.status().ToString());
      std::set<const codegen::Node*> nodes;
      REQUIRE((*plan)->sections.size() == 1);
      for (const codegen::LoopNest& nest : (*plan)->sections[0].nests) {
        for (const codegen::LoopStore& store : nest.stores) {
          codegen::ForEachNode({store.value}, [&](const codegen::Node* n) {
            if (n->kind == codegen::NodeKind::kReduce) nodes.insert(n);
          });
        }
      }
      CHECK(!nodes.empty());
      CHECK(nodes.size() <= CountReductions(outputs));
      if (c.by_numbers) CHECK((*plan)->scratch_bytes.is_const(0));
    }
  }
}

TEST_CASE("axes of one step through memory become one, however many there are") {
  std::vector<Dim> shape;
  for (uint32_t i = 0; i < 255; ++i)
    shape.push_back(i % 2 == 0 ? Dim::Symbol(i + 1, "s" + std::to_string(i)) : Dim(3));
  const Tensor x = Input(shape, 0);
  const auto plan = codegen::PlanLoops(Spec("rank255", {x}, {Map(x, UnaryOp::kExp)}));
  REQUIRE(plan.ok());
  REQUIRE((*plan)->sections.size() == 1);
  const codegen::LoopSection& section = (*plan)->sections[0];
  REQUIRE(section.nests.size() == 1);
  CHECK(section.unit_axes.size() + section.nests[0].axes.size() == 1);
}

}  // namespace
}  // namespace relayvm
