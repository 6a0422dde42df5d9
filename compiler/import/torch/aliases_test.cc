#include "compiler/import/torch/aliases.h"

#include <doctest/doctest.h>

#include "compiler/import/composite/testing.h"

namespace relayvm::import::torch {
namespace {

using import::testing::CheckNear;
using import::testing::Graph;

struct Program {
  Graph g;
  Aliases aliases{g.b};

  Argument Tensor(const std::vector<double>& values, const std::vector<int64_t>& shape) {
    return aliases.Fresh(Argument(g.Constant(values, shape)));
  }
  Results Do(std::string_view name, std::vector<Argument> arguments) {
    auto bound = ChooseOverload(name, arguments, {});
    REQUIRE_MESSAGE(bound.ok(), bound.status().message());
    return aliases.Run(*bound->op, std::move(bound->arguments), IsInPlace(name));
  }
  std::vector<double> Numbers(const Argument& a) { return g.Run(aliases.Read(a)); }
};

TEST_CASE("who writes a view writes what it looks at, and all views see it") {
  Program p;
  const Argument x = p.Tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  const Argument row = p.Do("aten::select", {x, Argument::Int(0), Argument::Int(1)})[0];
  const Argument turned = p.Do("aten::transpose", {x, Argument::Int(0), Argument::Int(1)})[0];
  const Argument flat = p.Do("aten::view", {x, Argument::Ints({6})})[0];
  p.Do("aten::add_", {row, Argument::Int(10)});
  const Argument part = p.Do("aten::slice", {turned, Argument::Int(0), Argument::Int(0),
                                             Argument::Int(1), Argument::Int(1)})[0];
  p.Do("aten::mul_", {part, Argument::Int(-1)});
  CheckNear(p.Numbers(p.aliases.Fresh(Argument(
                p.g.b.Concat({p.g.b.Reshape(p.aliases.Read(x), {-1}), p.aliases.Read(flat)}, 0)))),
            {-1, 2, 3, -14, 15, 16, -1, 2, 3, -14, 15, 16});
}

TEST_CASE("any view is written by the places of its elements; lists of views, out=") {
  Program p;
  const Argument x = p.Tensor({1, 2, 3, 4}, {2, 2});
  p.Do("aten::fill_", {p.Do("aten::diagonal", {x})[0], Argument::Int(0)});
  const Argument halves = p.Do("aten::split", {x, Argument::Int(1), Argument::Int(1)})[0];
  p.Do("aten::copy_", {halves.items[1], p.Tensor({8, 9}, {2, 1})});
  const Argument taken = p.Tensor({0, 0, 0, 0}, {2, 2});
  p.aliases.Run(*FindOperator("aten::neg", ""), {x}, true, &taken);
  CheckNear(p.Numbers(taken), {0, -8, -3, -9});
}

TEST_CASE("a tensor that is itself turned; copies stay as they were") {
  Program p;
  const Argument x = p.Tensor({1, 2}, {2});
  const Argument copy = p.Do("aten::clone", {x})[0];
  p.Do("aten::unsqueeze_", {x, Argument::Int(0)});
  p.Do("aten::add_", {x, Argument::Int(1)});
  CHECK(p.aliases.Read(x).rank() == 2);
  CheckNear(p.Numbers(p.Do("aten::add", {x, copy})[0]), {3, 5});
}

TEST_CASE("what may be a view or a copy is refused when it matters") {
  Program p;
  const Argument x = p.Tensor({1, 2, 3, 4}, {2, 2});
  const Argument turned = p.Do("aten::t", {x})[0];
  const Argument flat = p.Do("aten::reshape", {turned, Argument::Ints({4})})[0];
  p.Do("aten::add_", {flat, Argument::Int(1)});
  CHECK(p.g.b.status().message().find("the result of aten::reshape is written") !=
        std::string::npos);
  Program q;
  const Argument wide = q.Do("aten::expand", {q.Tensor({1}, {1}), Argument::Ints({3})})[0];
  q.Do("aten::add_", {wide, Argument::Int(1)});
  CHECK(q.g.b.status().message().find("whose elements may share a place") != std::string::npos);
}

TEST_CASE("storages that a branch writes are known, with what they held") {
  Program p;
  const Argument x = p.Tensor({1, 2}, {2});
  const Value before = p.aliases.Read(x);
  const auto written = p.aliases.During([&] {
    const Argument own = p.Tensor({5}, {1});
    p.Do("aten::zero_", {own});
    p.Do("aten::zero_", {x});
  });
  REQUIRE(written.size() == 1);
  CHECK(written[0].storage == x.alias->storage());
  CHECK(written[0].before.node == before.node);
  p.aliases.Set(*written[0].storage, written[0].before);
  CheckNear(p.Numbers(x), {1, 2});
}

}  // namespace
}  // namespace relayvm::import::torch
