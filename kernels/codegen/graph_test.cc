#include "kernels/codegen/graph.h"

#include <doctest/doctest.h>

namespace relayvm::codegen {
namespace {

using te::BinaryOp;

const Dim kN = Dim::Symbol(1, "n");
const Dim kM = Dim::Symbol(2, "m");
const Dim kK = Dim::Symbol(3, "k");

struct Fixture {
  Graph g;
  const Node* Axis(const char* name, Dim extent) {
    return g.Axis(g.NewAxis(name, std::move(extent)));
  }
  const Node* Div(const Node* a, const Dim& d) { return g.FloorDiv(a, d); }
  const Node* Mod(const Node* a, const Dim& d) { return g.FloorMod(a, d); }
};

TEST_CASE_FIXTURE(Fixture, "equal nodes are one node") {
  const Node* i = Axis("i", kN);
  const Node* j = Axis("j", kM);
  CHECK(g.Add(i, j) == g.Add(j, i));
  CHECK(g.Add(g.Scale(i, kM), j) == g.Flatten({kN, kM}, {i, j}));
  CHECK(g.Add(i, g.Scale(i, Dim(-1)))->IsConstInt(0));
  CHECK(g.Binary(BinaryOp::kSubtract, g.Add(i, j), j) == i);
  CHECK(g.Scale(g.Scale(i, Dim(3)), Dim(4)) == g.Scale(i, Dim(12)));
}

TEST_CASE_FIXTURE(Fixture, "division splits sums") {
  const Node* i = Axis("i", kN);
  const Node* j = Axis("j", kM);
  const Node* flat = g.Flatten({kN, kM}, {i, j});
  CHECK(Div(flat, kM) == i);
  CHECK(Mod(flat, kM) == j);
  const Node* small = Axis("s", 6);
  const Node* sum = g.Add(g.Scale(i, Dim(6)), small);
  CHECK(Div(sum, 6) == i);
  CHECK(Div(sum, 12) == Div(i, 2));
  CHECK(Mod(sum, 12) == g.Add(g.Scale(Mod(i, 2), Dim(6)), small));
  CHECK(Div(Div(i, 4), 3) == Div(i, 12));
  CHECK(Mod(Mod(i, 12), 4) == Mod(i, 4));
  CHECK(Div(small, 6)->IsConstInt(0));
  CHECK(Mod(small, 7) == small);
}

TEST_CASE_FIXTURE(Fixture, "a sum puts together what a reshape took apart") {
  const Node* i = Axis("i", kN * kM * kK);
  CHECK(g.Add(g.Scale(Div(i, kM), kM), Mod(i, kM)) == i);
  // (n*m*k) -> (n, m, k) -> flat
  const Node* a = Div(i, kM * kK);
  const Node* b = Mod(Div(i, kK), kM);
  const Node* c = Mod(i, kK);
  CHECK(g.Flatten({kN, kM, kK}, {a, b, c}) == i);
  // (a, b) -> (b, a) does not cancel.
  const Node* x = Axis("x", kN * kM);
  CHECK(g.Flatten({kM, kN}, {Mod(x, kM), Div(x, kM)}) != x);
}

TEST_CASE_FIXTURE(Fixture, "comparisons that bounds decide") {
  const Node* i = Axis("i", kN);
  auto compare = [&](BinaryOp op, const Node* a, const Node* b) { return g.Binary(op, a, b); };
  CHECK(compare(BinaryOp::kLess, i, g.DimOf(kN))->IsConstInt(1));
  CHECK(compare(BinaryOp::kGreaterEqual, i, g.DimOf(Dim(0)))->IsConstInt(1));
  CHECK(compare(BinaryOp::kLess, g.Add(i, g.DimOf(kN)), g.DimOf(kN))->IsConstInt(0));
  CHECK(compare(BinaryOp::kEqual, g.Add(i, g.DimOf(Dim(1))), g.DimOf(Dim(0)))->IsConstInt(0));
  CHECK(compare(BinaryOp::kLess, i, g.DimOf(Dim(4)))->kind == NodeKind::kBinary);
  CHECK(g.Binary(BinaryOp::kMin, i, g.DimOf(kN)) == i);
}

TEST_CASE_FIXTURE(Fixture, "what is checked has bounds, from the end too") {
  te::Tensor x = te::Placeholder("x", {kN}, DType::kFloat32, 0);
  te::Tensor at = te::Placeholder("at", {kM}, DType::kInt64, 1);
  const Node* given = g.Load(at.get(), {Axis("j", kM)});
  const Node* n = g.DimOf(kN);
  const Node* zero = g.DimOf(Dim(0));
  CHECK_FALSE(g.Load(x.get(), {given})->in_range);
  const Node* checked = g.Checked(given, zero, n, 1);
  CHECK(g.Load(x.get(), {checked})->in_range);
  CHECK_FALSE(g.Load(x.get(), {checked})->safe);
  CHECK(g.Checked(checked, zero, n, 2) == checked);
  CHECK(g.Checked(given, zero, n, 2) != checked);
  const Node* both = g.Checked(given, g.Scale(n, Dim(-1)), n, 1);
  CHECK_FALSE(g.Load(x.get(), {both})->in_range);
  const Node* is_behind = g.Binary(BinaryOp::kLess, both, zero);
  const Node* wrapped = g.Select(is_behind, g.Add(both, n), both);
  CHECK(g.Load(x.get(), {wrapped})->in_range);
  CHECK_FALSE(g.Load(x.get(), {g.Select(is_behind, g.Add(both, g.DimOf(kM)), both)})->in_range);
}

TEST_CASE_FIXTURE(Fixture, "where a broadcast has one element, so has each of its parts") {
  const auto broadcast = [](std::initializer_list<Dim> parts) {
    Dim largest(0), least(1);
    for (const Dim& d : parts) {
      largest = Dim::Max(largest, d);
      least = Dim::Min(least, d);
    }
    return largest * least;
  };
  const Node* zero = g.DimOf(Dim(0));
  const Node* i = Axis("i", kN);
  const auto at = [&](const Dim& size, const Node* otherwise) {
    const Node* is_one = g.Binary(BinaryOp::kEqual, g.DimOf(size), g.DimOf(Dim(1)));
    return g.Select(is_one, zero, otherwise);
  };
  CHECK(at(kN, at(broadcast({kN, kM}), i)) == at(kN, i));
  CHECK(at(kM, at(broadcast({kN, kM, kK}), i)) == at(kM, i));
  CHECK(at(broadcast({kN, kM}), at(broadcast({kN, kM, kK}), i)) == at(broadcast({kN, kM}), i));
  CHECK(at(kN, at(broadcast({kN, kM}), at(broadcast({kN, kM, kK}), i))) == at(kN, i));
  CHECK(at(kN, at(kN, i)) == at(kN, i));
  const Dim some = kN + Dim(1);  // never 0: the least has no need of it
  CHECK(at(some, at(broadcast({some, kM}), i)) == at(some, i));
  // What is larger may be 1 where its parts are not, or the other way round.
  CHECK(at(kK, at(broadcast({kN, kM}), i)) != at(kK, i));
  CHECK(at(broadcast({kN, kM}), at(kN, i)) != at(broadcast({kN, kM}), i));
  CHECK(at(kN, at(kN * kM, i)) != at(kN, i));
  CHECK(at(kN, at(Dim::Max(kN, kM), i)) != at(kN, i));
  CHECK(at(kN, at(Dim::Max(kN, kM) * Dim::Min(Dim(1), kN), i)) != at(kN, i));
  CHECK(at(Dim::Max(kN, kM) * Dim::Min(Dim(1), Dim::Min(kM, Dim::Min(kN, kK))),
           at(broadcast({kN, kM}), i)) !=
        at(Dim::Max(kN, kM) * Dim::Min(Dim(1), Dim::Min(kM, Dim::Min(kN, kK))), i));
  const Node* is_two = g.Binary(BinaryOp::kEqual, g.DimOf(kN), g.DimOf(Dim(2)));
  CHECK(g.Select(is_two, zero, at(broadcast({kN, kM}), i)) != g.Select(is_two, zero, i));
}

TEST_CASE_FIXTURE(Fixture, "loads know whether they are in range") {
  te::Tensor x = te::Placeholder("x", {kN, kM}, DType::kFloat32, 0);
  const Node* i = Axis("i", kN);
  const Node* j = Axis("j", kM);
  const Node* one = g.DimOf(Dim(1));
  CHECK(g.Load(x.get(), {i, j})->safe);
  const Node* shifted = g.Load(x.get(), {i, g.Binary(BinaryOp::kSubtract, j, one)});
  CHECK(!shifted->safe);
  const Node* inside = g.Binary(BinaryOp::kGreaterEqual, j, one);
  CHECK(g.Select(inside, shifted, g.Float(0, DType::kFloat32))->safe);
  CHECK(!g.Unary(te::UnaryOp::kExp, shifted)->safe);
}

TEST_CASE_FIXTURE(
    Fixture,
    "lowering inlines a tensor once for each index, and gives each reduction axes of its own") {
  te::Tensor x = te::Placeholder("x", {kN, kM}, DType::kFloat32, 0);
  te::Tensor rows = te::Compute("rows", {kN}, [&](const std::vector<te::Expr>& i) {
    te::Axis k = te::MakeAxis("k", kM);
    return te::Reduce(te::ReduceKind::kSum, te::Load(x, {i[0], te::AxisValue(k)}), {k},
                      DType::kFloat32);
  });
  te::Tensor out = te::Compute("out", {kN}, [&](const std::vector<te::Expr>& i) {
    te::Expr last = te::DimValue(kN) - te::IntImm(1);
    return te::Load(rows, i) + te::Load(rows, {last}) * te::Load(rows, i);
  });
  Lowering lowering(g, [](const te::TensorNode* t) {
    return t->is_placeholder() ? Lowering::Place::kMemory : Lowering::Place::kInline;
  });
  const Node* n = lowering.Lower(out->body);
  CHECK(lowering.inlined().size() == 2);
  CHECK(n->operands[0] == n->operands[1]->operands[1]);
  const Node* first = n->operands[0];
  const Node* second = n->operands[1]->operands[0];
  CHECK(first->axes[0] != second->axes[0]);
  CHECK(first->free_axes.size() == 1);
  CHECK(second->free_axes.empty());
}

}  // namespace
}  // namespace relayvm::codegen
