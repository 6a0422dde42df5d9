#include "compiler/typing/op_typing.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

namespace relayvm::typing {
namespace {

const Dim n = Dim::Symbol(1, "n");
const Dim m = Dim::Symbol(2, "m");
const Dim k = Dim::Symbol(3, "k", /*nonnegative=*/false);

class FakeHost final : public OpHost {
 public:
  std::vector<Dim> Elements(size_t, int64_t size) override {
    return std::vector<Dim>(static_cast<size_t>(size), k);
  }
  Dim Element(size_t, int64_t index) override {
    return Dim::Symbol(50 + static_cast<uint32_t>(index), "e", /*nonnegative=*/false);
  }
  const ir::Constant* ConstantArg(size_t) override { return nullptr; }
  Dim NewSymbol(std::string_view name) override { return Dim::Symbol(next_++, std::string(name)); }
  Dim NameDim(const Dim&) override { return Dim::Symbol(next_++, "named"); }
  Broadcasts& broadcasts() override { return broadcasts_; }

 private:
  uint32_t next_ = 100;
  Broadcasts broadcasts_;
};

// Types a call of an operator with the given relation and these arguments.
Result<OpTyping> Run(std::function<Result<OpResult>(TypeContext&)> relation,
                     const std::vector<ArgType>& args = {}) {
  OpDef op;
  op.name = "op";
  op.num_args = static_cast<int>(args.size());
  op.infer = std::move(relation);
  FakeHost host;
  return TypeOp(op, {}, args, host);
}

OpResult Vector(Dim d) { return TensorType{{std::move(d)}, DType::kFloat32}; }

TEST_CASE("equations are proved, refused or guarded") {
  auto equal = [](const Dim& a, const Dim& b) {
    return Run([=](TypeContext& ctx) -> Result<OpResult> {
      RELAYVM_RETURN_IF_ERROR(ctx.RequireEqual(a, b, "widths"));
      return Vector(1);
    });
  };
  CHECK(equal(n, n)->guards.empty());
  CHECK(equal(3, 4).status().message() == "op: widths: 3 and 4 differ");
  CHECK(equal(n, n + 1).status().message() == "op: widths: n and n + 1 differ");
  auto open = equal(n, 3);
  REQUIRE(open->guards.size() == 1);
  CHECK(open->guards[0].kind == ir::Guard::Kind::kEqual);
  CHECK(open->guards[0].message == "op: widths");
}

TEST_CASE("broadcasting") {
  struct Row {
    Dim a, b;
    const char* result;
    size_t guards;
  };
  const Row rows[] = {
      {n, n, "n", 0}, {n, 1, "n", 0}, {1, n, "n", 0}, {3, 3, "3", 0},
      {n, 3, "3", 1}, {3, n, "3", 1}, {0, 1, "0", 0}, {n, m, "min(1, n, m)*max(n, m)", 1},
  };
  for (const Row& r : rows) {
    auto typing = Run([&](TypeContext& ctx) -> Result<OpResult> {
      RELAYVM_ASSIGN_OR_RETURN(Dim d, ctx.Broadcast(r.a, r.b, "operands"));
      return Vector(d);
    });
    REQUIRE(typing.ok());
    CHECK(typing->result.tensors[0].shape[0].ToString() == r.result);
    CHECK(typing->guards.size() == r.guards);
  }
  CHECK(Run([](TypeContext& ctx) -> Result<OpResult> {
          return ctx.Broadcast(2, 3, "operands").status();
        })
            .status()
            .message() == "op: operands: 2 and 3 do not broadcast");
}

TEST_CASE("a broadcast absorbs what it was made of") {
  Broadcasts b;
  bool proved;
  Dim nm = b.Combine(n, m, &proved);
  CHECK_FALSE(proved);
  CHECK(b.Combine(nm, n, &proved) == nm);
  CHECK(proved);
  CHECK(b.Combine(m, nm, &proved) == nm);
  CHECK(proved);
  Dim o = Dim::Symbol(9, "o");
  Dim all = b.Combine(nm, o, &proved);
  CHECK_FALSE(proved);
  CHECK(b.Combine(all, nm, &proved) == all);
  CHECK(proved);
  // The expression is right wherever the dims do broadcast.
  for (int64_t x : {0, 1, 4}) {
    for (int64_t y : {0, 1, 4}) {
      if (x != y && x != 1 && y != 1) continue;
      auto value = nm.Evaluate([&](uint32_t id) { return std::optional(id == 1 ? x : y); });
      CHECK(value == (x == 1 ? y : x));
    }
  }
}

TEST_CASE("a result has no negative and no unknown dimension") {
  auto result = [](const Dim& d) { return Run([=](TypeContext&) { return Vector(d); }); };
  CHECK(result(n + 1)->guards.empty());
  auto open = result(n - 2);
  REQUIRE(open->guards.size() == 1);
  CHECK(open->guards[0].message == "op: dimension 0 of the result");
  CHECK(result(-1).status().message() == "op: dimension 0 of the result is negative: -1");
  CHECK(result(Dim::Any()).status().code() == StatusCode::kUnsupported);
  CHECK(result(k)->guards.size() == 1);
}

TEST_CASE("a long expression gets a name") {
  Dim sum = 1;
  for (uint32_t i = 0; i < 2 * kMaxDimSize; ++i) sum = sum + Dim::Symbol(1000 + i, "s");
  auto typing = Run([=](TypeContext&) { return Vector(sum); });
  CHECK(typing->result.tensors[0].shape[0].ToString() == "named");
}

TEST_CASE("order") {
  auto at_least = [](const Dim& a, const Dim& b) {
    return Run([=](TypeContext& ctx) -> Result<OpResult> {
      RELAYVM_RETURN_IF_ERROR(ctx.RequireAtLeast(a, b, "sizes"));
      return Vector(1);
    });
  };
  CHECK(at_least(n + 1, n)->guards.empty());
  CHECK(at_least(n, 3)->guards.size() == 1);
  CHECK(at_least(2, 3).status().message() == "op: sizes: expected at least 3, found 2");
}

TEST_CASE("one element of a vector of any length") {
  auto second = [](TensorType t) {
    return Run(
        [](TypeContext& ctx) -> Result<OpResult> {
          RELAYVM_ASSIGN_OR_RETURN(Dim d, ctx.Element(0, 1));
          return Vector(Dim::Max(Dim(0), d));
        },
        {ArgType{false, {std::move(t)}}});
  };
  auto open = second({{n}, DType::kInt64});
  REQUIRE(open.ok());
  CHECK(open->result.tensors[0].shape[0].ToString() == "max(0, e)");
  REQUIRE(open->guards.size() == 1);
  CHECK(open->guards[0].kind == ir::Guard::Kind::kAtLeast);
  CHECK((open->guards[0].left == n && open->guards[0].right == Dim(2)));
  CHECK(second({{n + 2}, DType::kInt64})->guards.empty());
  CHECK(second({{3}, DType::kInt32})->guards.empty());
  CHECK(second({{1}, DType::kInt64}).status().message() ==
        "op: argument 0: expected more than 1 element, found 1");
  CHECK_FALSE(second({{n, 2}, DType::kInt64}).ok());
}

TEST_CASE("a relation's own error names the operator once") {
  auto fail = [](const std::string& message) {
    return Run([=](TypeContext&) -> Result<OpResult> {
             return Status(StatusCode::kUnsupported, message);
           })
        .status();
  };
  CHECK(fail("no such mode").message() == "op: no such mode");
  CHECK(fail("op: no such mode").message() == "op: no such mode");
  CHECK(fail("no such mode").code() == StatusCode::kUnsupported);
}

TEST_CASE("a size of uint64 must be one of int64") {
  const auto run = [](DType dtype) {
    return Run(
        [](TypeContext& ctx) -> Result<OpResult> {
          RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> elements, ctx.Elements(0));
          return Vector(Dim::Max(0, elements[0]));
        },
        {ArgType{false, {TensorType{{}, dtype}}}});
  };
  CHECK(run(DType::kInt64)->guards.empty());
  const auto guarded = run(DType::kUInt64);
  REQUIRE(guarded->guards.size() == 1);
  CHECK(guarded->guards[0].kind == ir::Guard::Kind::kAtLeast);
  CHECK((guarded->guards[0].left == k));
  CHECK((guarded->guards[0].right == Dim(0)));
}

TEST_CASE("elements of constants") {
  HostTensor t;
  t.dtype = DType::kInt16;
  t.shape = {2};
  t.data = std::vector{std::byte{1}, std::byte{0}, std::byte{0xff}, std::byte{0xff}};
  CHECK(IntegerElements(t) == std::vector<int64_t>{1, -1});
  HostTensor floats{DType::kFloat64, {4}, {}};
  const double values[] = {-2.5, HUGE_VAL, -1e300, std::nan("")};
  floats.data = SharedBytes::Zeros(sizeof values);
  std::memcpy(floats.data.Mutable().data(), values, sizeof values);
  CHECK(IntegerElements(floats) == std::vector<int64_t>{-2, INT64_MAX, INT64_MIN, INT64_MIN});
  CHECK(TrackedSize({{2, 3}, DType::kInt64}) == 6);
  CHECK_FALSE(TrackedSize({{n}, DType::kInt64}).has_value());
  CHECK_FALSE(TrackedSize({{2}, DType::kFloat32}).has_value());
  CHECK_FALSE(TrackedSize({{1000}, DType::kInt32}).has_value());
}

}  // namespace
}  // namespace relayvm::typing
