#include "compiler/reference/interpreter.h"

#include <doctest/doctest.h>

#include <cstring>
#include <new>

#include "kernels/te/scalar.h"

namespace relayvm::reference {
namespace {

using ir::Atom;
using ir::Type;

// Builds modules by hand: what the text form cannot say, and without a frontend between.
struct Builder {
  ir::Module m = ir::MakeModule();

  const ir::Var* Var(Type type, std::string name = "") {
    return ir::MakeVar(m, std::move(name), std::move(type), {});
  }
  Atom Int(int32_t value) {
    HostTensor t{DType::kInt32, {}, std::vector<std::byte>(4)};
    std::memcpy(t.data.Mutable().data(), &value, 4);
    return ir::MakeConstant(m, std::move(t));
  }
  Atom Global(std::string name) {
    return m.arena->New<ir::GlobalVar>(ir::GlobalVar{std::move(name)});
  }
  const ir::Block* Block(ir::Block block) { return m.arena->New<ir::Block>(std::move(block)); }
  template <typename T>
  const ir::Var* Let(ir::Block& block, Type type, T node) {
    const ir::Var* v = Var(std::move(type));
    block.bindings.push_back({v, ir::MakeExpr(m, std::move(node), {})});
    return v;
  }
  const ir::Var* Op(ir::Block& block, const char* name, std::vector<Atom> args, Type type) {
    const OpDef* op = OpTable::Get().Find(name);
    return Let(block, std::move(type), ir::OpCall{op, std::move(args), *CompleteAttrs(*op, {})});
  }
  const ir::Function* Function(std::string name, std::vector<const ir::Var*> params,
                               ir::Block body) {
    ir::Function f;
    f.name = name;
    f.params = std::move(params);
    f.body = Block(std::move(body));
    const ir::Function* made = m.arena->New<ir::Function>(std::move(f));
    m.functions[std::move(name)] = made;
    return made;
  }
};

Type I32() { return ir::MakeScalarType(DType::kInt32); }
Type Bool() { return ir::MakeScalarType(DType::kBool); }
Value IntValue(int32_t value) {
  HostTensor t{DType::kInt32, {}, std::vector<std::byte>(4)};
  std::memcpy(t.data.Mutable().data(), &value, 4);
  return MakeTensor(std::move(t));
}
Value Floats(std::vector<int64_t> shape) {
  HostTensor t{DType::kFloat32, std::move(shape), {}};
  t.data = SharedBytes::Zeros(static_cast<size_t>(4 * t.size()));
  return MakeTensor(std::move(t));
}
int64_t IntOf(const Value& v) { return te::ReadElement(DType::kInt32, TensorOf(v)->data.data()).i; }

// count(i) = if (i < limit) { count(i + 1) [+ 1] } else { i }
void DefineCount(Builder& b, int32_t limit, bool tail) {
  const ir::Var* i = b.Var(I32(), "i");
  ir::Block body, more, done;
  const ir::Var* less = b.Op(body, "less", {i, b.Int(limit)}, Bool());
  const ir::Var* next = b.Op(more, "add", {i, b.Int(1)}, I32());
  const ir::Var* result = b.Let(more, I32(), ir::CallExpr{b.Global("main"), {next}, {}});
  more.result = tail ? result : b.Op(more, "add", {result, b.Int(1)}, I32());
  done.result = i;
  body.result =
      b.Let(body, I32(), ir::IfExpr{less, b.Block(std::move(more)), b.Block(std::move(done))});
  b.Function("main", {i}, std::move(body));
}

TEST_CASE("tail calls take no depth, others do") {
  Builder tail;
  DefineCount(tail, 5000, true);
  Result<Value> result = Run(tail.m, "main", {IntValue(0)}, {.max_depth = 1});
  REQUIRE(result.ok());
  CHECK(IntOf(*result) == 5000);

  Builder deep;
  DefineCount(deep, 5000, false);
  result = Run(deep.m, "main", {IntValue(0)});
  REQUIRE(result.ok());
  CHECK(IntOf(*result) == 10000);
  result = Run(deep.m, "main", {IntValue(0)}, {.max_depth = 100});
  REQUIRE(!result.ok());
  CHECK(result.status().code() == StatusCode::kResourceExhausted);
  CHECK(result.status().message() == "calls are nested more than 100 deep, in @main");
}

TEST_CASE("a run that does not end is stopped") {
  Builder b;
  const ir::Var* i = b.Var(I32(), "i");
  ir::Block body;
  body.result = b.Let(body, I32(), ir::CallExpr{b.Global("main"), {i}, {}});
  b.Function("main", {i}, std::move(body));
  Result<Value> result =
      Run(b.m, "main", {IntValue(0)}, {.timeout = std::chrono::milliseconds(20)});
  REQUIRE(!result.ok());
  CHECK(result.status().code() == StatusCode::kDeadlineExceeded);
}

TEST_CASE("guards and types are checked") {
  Builder b;
  Dim n = Dim::Symbol(b.m.ids->Next(), "n");
  Dim k = Dim::Symbol(b.m.ids->Next(), "k");
  const ir::Var* x = b.Var(ir::MakeTensorType({n, 2}, DType::kFloat32), "x");
  const ir::Var* y = b.Var(ir::MakeTensorType({k, 2}, DType::kFloat32), "y");
  ir::Block body;
  b.Let(body, ir::UnitType(), ir::Guard{ir::Guard::Kind::kEqual, n, k, "add: n and k differ"});
  body.result = b.Op(body, "add", {x, y}, ir::MakeTensorType({n, 2}, DType::kFloat32));
  b.Function("main", {x, y}, std::move(body));
  CHECK(Run(b.m, "main", {Floats({3, 2}), Floats({3, 2})}).ok());
  Result<Value> differ = Run(b.m, "main", {Floats({3, 2}), Floats({4, 2})});
  REQUIRE(!differ.ok());
  CHECK(differ.status().code() == StatusCode::kFailedPrecondition);
  CHECK(differ.status().message() == "add: n and k differ: 3 does not equal 4");
  Result<Value> wrong = Run(b.m, "main", {Floats({3, 1}), Floats({3, 2})});
  REQUIRE(!wrong.ok());
  CHECK(wrong.status().code() == StatusCode::kInvalidArgument);
  CHECK(Run(b.m, "main", {Floats({3, 2})}).status().message() == "@main takes 2 inputs, not 1");
  CHECK(Run(b.m, "other", {}).status().code() == StatusCode::kNotFound);
}

TEST_CASE("a dim that cannot be computed is an error of the program") {
  Builder b;
  const Dim n = Dim::Symbol(b.m.ids->Next(), "n");
  const ir::Var* x = b.Var(ir::MakeTensorType({n}, DType::kFloat32), "x");
  ir::Block body;
  b.Let(body, ir::UnitType(),
        ir::Guard{ir::Guard::Kind::kEqual, Dim::FloorDiv(12, n), 4, "dyn.reshape: elements"});
  body.result = x;
  b.Function("main", {x}, std::move(body));
  CHECK(Run(b.m, "main", {Floats({3})}).ok());
  const Result<Value> result = Run(b.m, "main", {Floats({0})});
  REQUIRE(!result.ok());
  CHECK(result.status().code() == StatusCode::kFailedPrecondition);
  CHECK(result.status().message() ==
        "dyn.reshape: elements: the dimension floordiv(12, n) divides by 0 or is beyond 64 bits "
        "(n = 0)");
}

TEST_CASE("a host that throws ends the run") {
  Builder b;
  ir::Block body;
  body.result = b.Int(1);
  const ir::Var* x = b.Var(I32(), "x");
  b.Function("main", {x}, std::move(body));
  Options options;
  options.observe = [](const ValueEvent&) -> Status { throw std::bad_alloc(); };
  const Result<Value> result = Run(b.m, "main", {IntValue(0)}, options);
  REQUIRE(!result.ok());
  CHECK(result.status().code() == StatusCode::kResourceExhausted);
}

TEST_CASE("closures keep what they use, and call themselves") {
  // main(n) = let f = fn (i) { if (i < n) { f(i + n) } else { i } }; f(1)
  Builder b;
  const ir::Var* n = b.Var(I32(), "n");
  const ir::Var* i = b.Var(I32(), "i");
  const ir::Var* f = b.Var(nullptr, "f");
  ir::Block inner, more, done, body;
  const ir::Var* less = b.Op(inner, "less", {i, n}, Bool());
  const ir::Var* next = b.Op(more, "add", {i, n}, I32());
  more.result = b.Let(more, I32(), ir::CallExpr{f, {next}, {}});
  done.result = i;
  inner.result =
      b.Let(inner, I32(), ir::IfExpr{less, b.Block(std::move(more)), b.Block(std::move(done))});
  ir::Function closure;
  closure.name = "f";
  closure.params = {i};
  closure.body = b.Block(std::move(inner));
  body.bindings.push_back(
      {f,
       ir::MakeExpr(b.m, ir::FunctionExpr{b.m.arena->New<ir::Function>(std::move(closure))}, {})});
  body.result = b.Let(body, I32(), ir::CallExpr{f, {b.Int(1)}, {}});
  b.Function("main", {n}, std::move(body));
  Result<Value> result = Run(b.m, "main", {IntValue(10)});
  REQUIRE(result.ok());
  CHECK(IntOf(*result) == 11);
}

TEST_CASE("references: reads, writes, and cycles that are let go") {
  // main() = let r = ref(1); r := 2; (!r, r), then a reference that holds itself.
  for (bool in_result : {false, true}) {
    Builder b;
    ir::Block body;
    const ir::Var* r = b.Let(body, nullptr, ir::RefCreate{b.Int(1)});
    b.Let(body, ir::UnitType(), ir::RefWrite{r, b.Int(2)});
    const ir::Var* read = b.Let(body, I32(), ir::RefRead{r});
    b.Let(body, ir::UnitType(), ir::RefWrite{r, r});
    body.result = b.Let(body, nullptr, ir::MakeTuple{{read, in_result ? Atom(r) : Atom(read)}});
    b.Function("main", {}, std::move(body));
    Result<Value> result = Run(b.m, "main", {});
    if (in_result) {
      CHECK(result.status().code() == StatusCode::kUnsupported);
      continue;
    }
    REQUIRE(result.ok());
    CHECK(IntOf((*result)->As<Data>()->fields[0]) == 2);
  }
}

TEST_CASE("match takes the first clause that fits") {
  Builder b;
  const auto* nil = b.m.arena->New<ir::Constructor>(ir::Constructor{"Nil", "List", 0, {}});
  const auto* cons =
      b.m.arena->New<ir::Constructor>(ir::Constructor{"Cons", "List", 1, {I32(), I32()}});
  const ir::Var* list = b.Var(nullptr, "list");
  const ir::Var* head = b.Var(I32(), "head");
  ir::Pattern any, second;
  second.kind = ir::Pattern::Kind::kConstructor;
  second.constructor = cons;
  ir::Pattern bind;
  bind.kind = ir::Pattern::Kind::kVar;
  bind.var = head;
  second.fields = {bind, any};
  ir::Block body, then;
  then.result = head;
  body.result =
      b.Let(body, I32(), ir::MatchExpr{list, {{second, b.Block(std::move(then))}}, false});
  b.Function("main", {list}, std::move(body));
  Result<Value> result = Run(b.m, "main", {Make(Data{cons, {IntValue(7), IntValue(8)}})});
  REQUIRE(result.ok());
  CHECK(IntOf(*result) == 7);
  result = Run(b.m, "main", {Make(Data{nil, {}})});
  REQUIRE(!result.ok());
  CHECK(result.status().message() == "match: no clause matches the value");
}

TEST_CASE("deep values are destroyed without recursion") {
  Value list = MakeTuple({});
  for (int i = 0; i < 1'000'000; ++i) list = MakeTuple({IntValue(i), std::move(list)});
  Value kept = list->As<Data>()->fields[1];
  list.reset();
  CHECK(kept->As<Data>()->fields.size() == 2);
}

}  // namespace
}  // namespace relayvm::reference
