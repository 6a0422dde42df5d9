#include "compiler/import/torch/schema.h"

#include <doctest/doctest.h>

#include <set>

#include "compiler/import/torch/operator.h"

namespace relayvm::import::torch {
namespace {

TEST_CASE("a schema: names, types, defaults, what shares memory") {
  const auto s = ParseSchema(
      "aten::slice.Tensor(Tensor(a) self, int dim=0, int? start=None, int[2] size=1, *, float? "
      "scale=0.5, str mode=\"mean\", Tensor(b!)? out=None) -> (Tensor(a), Tensor[] parts)");
  REQUIRE_MESSAGE(s.ok(), s.status().message());
  CHECK(s->full_name() == "aten::slice.Tensor");
  REQUIRE(s->arguments.size() == 7);
  CHECK(s->arguments[0].alias == 'a');
  CHECK(s->arguments[1].fallback.integer == 0);
  CHECK(s->arguments[2].type.optional);
  CHECK(s->arguments[3].type.list);
  CHECK(s->arguments[3].type.length == 2);
  CHECK(s->arguments[4].keyword_only);
  CHECK(s->arguments[4].fallback.real == 0.5);
  CHECK(s->arguments[5].fallback.text == "mean");
  CHECK(s->arguments[6].is_out);
  CHECK(s->IsView(0));
  CHECK_FALSE(s->IsView(1));
  CHECK(s->results[1].type.list);
}

TEST_CASE("every row has a schema, and each stands once") {
  std::set<std::string> names;
  for (const Operator* op : AllOperators()) {
    CAPTURE(op->def->schema);
    CHECK(names.insert(op->schema.full_name()).second);
    CHECK(op->schema.full_name() ==
          std::string(op->def->schema.substr(0, op->def->schema.find('('))));
  }
  CHECK(names.size() > 400);
}

TEST_CASE("overloads are chosen by kinds, exactly before conversions") {
  const auto chosen = [](std::string_view name, std::vector<Argument> arguments) -> std::string {
    const auto bound = ChooseOverload(name, arguments, {});
    return bound.ok() ? bound->op->schema.full_name() : bound.status().message();
  };
  Argument tensor;
  tensor.kind = Argument::Kind::kTensor;
  const Argument one = Argument::Int(1), half = Argument::Float(0.5);
  CHECK(chosen("aten::add", {tensor, tensor}) == "aten::add.Tensor");
  CHECK(chosen("aten::add", {tensor, one}) == "aten::add.Scalar");
  CHECK(chosen("aten::add_", {tensor, half}) == "aten::add.Scalar");
  CHECK(chosen("aten::add", {one, one}) == "aten::add");
  CHECK(chosen("aten::sum", {tensor}) == "aten::sum");
  CHECK(chosen("aten::sum", {tensor, Argument::Ints({1})}) == "aten::sum.dim_IntList");
  CHECK(chosen("aten::max", {tensor, one}) == "aten::max.dim");
  CHECK(chosen("aten::to", {tensor, Argument::Device("cpu"), one}) == "aten::to.device");
  CHECK(chosen("aten::no_such", {tensor}) == "aten::no_such is not supported");
  CHECK(IsInPlace("aten::add_"));
  CHECK(IsInPlace("aten::__iadd__"));
  CHECK_FALSE(IsInPlace("aten::__and__"));
  CHECK(FindOperator("aten::add", "out") != nullptr);
}

}  // namespace
}  // namespace relayvm::import::torch
