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

TEST_CASE("of what may be a view or a copy, one is written: the other is not read any more") {
  Program p;
  const Argument x = p.Tensor({1, 2, 3, 4}, {2, 2});
  const Argument turned = p.Do("aten::movedim", {x, Argument::Int(0), Argument::Int(1)})[0];
  const Argument flat = p.Do("aten::reshape", {turned, Argument::Ints({4})})[0];
  const Argument end = p.Do("aten::slice", {flat, Argument::Int(0), Argument::Int(2),
                                            Argument::Int(4), Argument::Int(1)})[0];
  p.Do("aten::add_", {end, Argument::Int(10)});
  CheckNear(p.Numbers(flat), {1, 3, 12, 14});
  CHECK(p.aliases.ReadShape(turned).rank() == 2);
  p.aliases.Read(turned);
  CHECK(p.g.b.status().message().find(
            "is read after aten::reshape, which gives a view or a copy") != std::string::npos);
  Program q;
  const Argument wide = q.Do("aten::expand", {q.Tensor({1}, {1}), Argument::Ints({3})})[0];
  q.Do("aten::add_", {wide, Argument::Int(1)});
  CHECK(q.g.b.status().message().find("whose elements may share a place") != std::string::npos);
}

TEST_CASE("what is made of a turned tensor lies as that: reshape may copy it") {
  Program p;
  const Argument x = p.Tensor({1, 2, 3, 4}, {2, 2});
  const Argument sum = p.Do("aten::add", {p.Do("aten::t", {x})[0], Argument::Int(1)})[0];
  p.Do("aten::zero_", {p.Do("aten::reshape", {sum, Argument::Ints({4})})[0]});
  p.aliases.Read(sum);
  CHECK(p.g.b.status().message().find("aten::reshape") != std::string::npos);
  Program q;  // an axis of extent 1 may stand anywhere, rows are as they lie
  const Argument row = q.Tensor({1, 2}, {1, 2});
  const Argument turned = q.Do("aten::t", {row})[0];
  q.Do("aten::add_", {q.Do("aten::contiguous", {turned})[0], Argument::Int(1)});
  const Argument first = q.Do("aten::select", {row, Argument::Int(0), Argument::Int(0)})[0];
  q.Do("aten::mul_", {q.Do("aten::reshape", {first, Argument::Ints({2, 1})})[0], Argument::Int(2)});
  CheckNear(q.Numbers(row), {4, 6});
}

TEST_CASE("reshape gives a view or a copy by how the elements lie") {
  const auto after = [](const std::vector<int64_t>& shape, std::vector<int64_t> axes,
                        const std::vector<int64_t>& to) {
    Program p;
    const Argument x = p.Tensor(std::vector<double>(12, 1), shape);
    const Argument turned = p.Do("aten::permute", {x, Argument::Ints(axes)})[0];
    p.Do("aten::zero_", {p.Do("aten::reshape", {turned, Argument::Ints(to)})[0]});
    return p.Numbers(x)[0];
  };
  CHECK(after({2, 3, 2}, {0, 2, 1}, {2, 6}) == 1);
  CHECK(after({2, 3, 2}, {0, 2, 1}, {2, 2, 3, 1}) == 0);
  CHECK(after({2, 3, 2}, {2, 0, 1}, {2, 6}) == 0);
  CHECK(after({2, 3, 2}, {2, 0, 1}, {12}) == 1);
  CHECK(after({2, 1, 6}, {1, 0, 2}, {12}) == 0);
  CHECK(after({2, 6, 1}, {0, 2, 1}, {3, 4}) == 0);
  Program p;
  const Argument x = p.Tensor({1, 2, 3, 4}, {2, 2});
  const Argument back = p.Do("aten::t", {p.Do("aten::t", {x})[0]})[0];
  p.Do("aten::zero_", {p.Do("aten::contiguous", {back})[0]});
  CHECK(p.Numbers(x)[0] == 0);
}

TEST_CASE("as_strided looks at the storage") {
  Program p;
  const Argument x = p.Tensor({1, 2, 3, 4}, {2, 2});
  const auto strided = [&](const Argument& of, const Argument& offset) {
    return p.Do("aten::as_strided", {of, Argument::Ints({3}), Argument::Ints({1}), offset})[0];
  };
  CheckNear(p.Numbers(strided(p.Do("aten::t", {x})[0], Argument::Int(0))), {1, 2, 3});
  const Argument row = p.Do("aten::select", {x, Argument::Int(0), Argument::Int(1)})[0];
  CheckNear(p.Numbers(strided(row, Argument::Int(1))), {2, 3, 4});
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
