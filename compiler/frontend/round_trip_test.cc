// Printed modules read back to the same module.
#include <doctest/doctest.h>

#include <cmath>

#include "compiler/frontend/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/scalar.h"

namespace relayvm::frontend {
namespace {

constexpr const char* kProgram = R"(#[version = "0.0.5"]
type List[A] {
  Cons(A, List[A]),
  Nil,
}

type Storage

def @main(%data: Tensor[(?, 3), float32], %"layers.0.weight": Tensor[(3, 3), float32], %c: bool, %r: ref(int32), Inline=1, tag="a\"\n\x01") -> (float32, int32) {
  let %data1 = nn.dense(%data, %"layers.0.weight", units=3);
  let %"a b" = %data1;
  let %_1 = (%"a b", 1);
  let %_2 = %_1.0;
  let %f: fn [B](B) -> B = fn [C](%y: C, Primitive=1) -> C {
    let %g = @"torch.nn/0:x"(%y);
    %f(%g)
  };
  let %_3 = ref_write(%r, -7);
  let %alias = %r;
  let %m = (match? (%alias) {
    Cons(%h: int32, Cons(_, %t)) => {
      Cons(%h, %t)
    },
    (%p, ()) => {
      Nil
    },
    _ => {
      let %_4 = ref_read(%r);
      %_4.2
    },
  });
  if (%c) {
    clip(%_2, a_min=-inff, a_max=0.1f)
  } else {
    let %_5 = cumsum(%_2, axis=1, attrs_type_key="relay.attrs.ScanopAttrs");
    @"torch.nn/0:x"(%_5)
  }
}

def @"torch.nn/0:x"[A](%x: A) -> A {
  %x
}
)";

TEST_CASE("text in the printer's form is a fixed point") {
  auto m = ParseRelay("test", kProgram);
  REQUIRE_MESSAGE(m.ok(), m.status().message());
  CHECK(ir::PrintModule(*m) == kProgram);
}

TEST_CASE("constants, symbols and expressions over them survive in the metadata section") {
  auto m = ParseRelay("test", "#[version = \"0.0.5\"]\ndef @main(%x, %y) { add(%x, %y) }");
  REQUIRE(m.ok());
  Dim n = Dim::Symbol(m->ids->Next(), "n");
  Dim k = Dim::Symbol(m->ids->Next(), "strange \"name\"\n");
  std::vector<Dim> dims = {n,
                           k * n * Dim(-3) + Dim(1),
                           Dim::FloorDiv(n + Dim(7), Dim(2)),
                           Dim::FloorMod(k, Dim(5000000000)),
                           Dim::Min(n, Dim::Max(k, Dim(4))),
                           Dim::Any()};
  std::vector<HostTensor> values;
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    values.push_back(ir::IntScalar(dtype, 1));
    values.push_back(
        {dtype,
         {2, 1},
         std::vector<std::byte>(2 * static_cast<size_t>(DTypeBytes(dtype)), std::byte{1})});
  }
  for (float f : {0.1f, 1e-45f, 3.4028235e38f, -0.0f})
    values.push_back(ir::FloatScalar(DType::kFloat32, f));
  for (double d : {0.1, 5e-324, 1e300, static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    values.push_back(ir::FloatScalar(DType::kFloat64, d));
    values.push_back(ir::FloatScalar(DType::kFloat32, d));
    values.push_back(ir::FloatScalar(DType::kFloat16, d));
  }
  ir::Block body;
  for (const auto& v : values) {
    const ir::Constant* c = ir::MakeConstant(*m, v);
    const ir::Var* var = ir::MakeVar(*m, "c", nullptr, {});
    body.bindings.push_back({var, ir::MakeExpr(*m, ir::MakeTuple{{c, c}}, {})});
  }
  const ir::Var* x = ir::MakeVar(*m, "x", ir::MakeTensorType(dims, DType::kInt8), {});
  const ir::Var* y = ir::MakeVar(*m, "y", ir::MakeTensorType({n}, DType::kInt8), {});
  body.result = x;
  m->functions["main"] =
      m->arena->New(ir::Function{"main", {}, {x, y}, nullptr, m->arena->New(body), {}, {}});

  const std::string text = ir::PrintModule(*m);
  auto again = ParseRelay("again", text);
  REQUIRE_MESSAGE(again.ok(), again.status().message());
  CHECK(ir::PrintModule(*again) == text);
  const ir::Function& f = *again->functions.at("main");
  REQUIRE(f.body->bindings.size() == values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const auto& fields = f.body->bindings[i].value->As<ir::MakeTuple>()->fields;
    const HostTensor& v = std::get<const ir::Constant*>(fields[0])->value;
    CAPTURE(i);
    CHECK(v.dtype == values[i].dtype);
    CHECK(v.shape == values[i].shape);
    CHECK(v.data == values[i].data);
  }
  // The symbols are new, but one for each name, and the expressions are the same over them.
  const auto& shape = f.params[0]->type->As<TensorType>()->shape;
  CHECK(shape[0] == f.params[1]->type->As<TensorType>()->shape[0]);
  REQUIRE(shape[1].operands().size() == 2);
  auto to_old = [&](const Dim& s) { return std::optional<Dim>(s.symbol_name() == "n" ? n : k); };
  for (size_t i = 0; i < dims.size(); ++i) CHECK(shape[i].Substitute(to_old) == dims[i]);
}

}  // namespace
}  // namespace relayvm::frontend
