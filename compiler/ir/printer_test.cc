// The forms for people; that text reads back is tested in compiler/frontend/round_trip_test.cc.
#include "compiler/ir/printer.h"

#include <doctest/doctest.h>

#include "compiler/ir/scalar.h"

namespace relayvm::ir {
namespace {

class PrinterTest {
 protected:
  const Var* NewVar(const char* name, Type type = nullptr) {
    return MakeVar(m, name, std::move(type), {});
  }
  template <typename T>
  std::string Text(T node) {
    return PrintExpr(m, *MakeExpr(m, std::move(node), {}));
  }
  Module m = MakeModule();
};

TEST_CASE_FIXTURE(PrinterTest, "what only later passes make") {
  Dim n = Dim::Symbol(m.ids->Next(), "n");
  const Var* x = NewVar("x");
  const Var* p = NewVar("p");
  auto* body = m.arena->New(Block{{}, p});
  auto* primitive =
      m.arena->New(Function{"", {}, {p}, nullptr, body, {{"Primitive", AttrValue(1)}}, {}});
  auto* global = m.arena->New(GlobalVar{"lifted.0"});
  CHECK(Text(PrimitiveCall{primitive, {x}}) == "(fn (%p, Primitive=1) {\n  %p\n})(%x)");
  CHECK(Text(MakeClosure{global, {x, p}}) == "closure @\"lifted.0\"(%x, %p)");
  CHECK(Text(Guard{Guard::Kind::kEqual, n, 3, "add: \"lhs\""}) ==
        "guard(n == 3, \"add: \\\"lhs\\\"\")");
  CHECK(Text(Guard{Guard::Kind::kAtLeast, n, 1, "m"}) == "guard(n >= 1, \"m\")");
  CHECK(Text(Guard{Guard::Kind::kBroadcastable, n, 2, "m"}) == "guard(n broadcasts to 2, \"m\")");
  CHECK(Text(ShapeValue{{n, n * Dim(2)}}) == "shape[n, n*2]");
  CHECK(Text(ShapeByRule{{ShapeRule::kReshape, {n, 6}, {-1, n}, 2, 2}, "dyn.reshape"}) ==
        "reshape_shape((n, 6), (-1, n), zeros=0x2)");
}

TEST_CASE_FIXTURE(PrinterTest, "names are unique, odd ones are quoted, missing ones are numbered") {
  const Var* a = NewVar("x");
  const Var* b = NewVar("x");
  const Var* c = NewVar("x1");
  const Var* d = NewVar("");
  const Var* e = NewVar("x.0");
  const Var* f = NewVar("");
  Block block{{{b, MakeExpr(m, AtomExpr{a}, {})},
               {c, MakeExpr(m, AtomExpr{b}, {})},
               {d, MakeExpr(m, TupleGet{a, 0}, {})},
               {e, MakeExpr(m, AtomExpr{d}, {})},
               {f, MakeExpr(m, TupleGet{a, 0}, {})}},
              c};
  Function function{"f-1", {}, {a}, nullptr, m.arena->New(block), {}, {}};
  CHECK(PrintFunction(m, function) ==
        "def @\"f-1\"(%x) {\n"
        "  let %x1 = %x;\n"
        "  let %x11 = %x1;\n"
        "  let %_1 = %x.0;\n"
        "  let %\"x.0\" = %_1;\n"
        "  let %_2 = (%x).0;\n"
        "  %x11\n"
        "}\n");
}

TEST_CASE_FIXTURE(PrinterTest,
                  "for people: symbols by name, constants with their type, no metadata") {
  Dim n = Dim::Symbol(m.ids->Next(), "n");
  const Var* x = NewVar("x", MakeTensorType({n, n + Dim(1)}, DType::kFloat32));
  const Constant* weight = MakeConstant(m, {DType::kInt8, {3}, std::vector<std::byte>(3)}, "w.0");
  const Constant* one = MakeConstant(m, FloatScalar(DType::kFloat32, 1));
  const Var* t = NewVar("", MakeType(TupleType{{x->type}}));
  Block block{{{t, MakeExpr(m, MakeTuple{{x, weight, one}}, {})}}, t};
  m.functions["main"] =
      m.arena->New(Function{"main", {}, {x}, nullptr, m.arena->New(block), {}, {}});
  CHECK(PrintModule(m, PrintOptions{true}) ==
        "#[version = \"0.0.5\"]\n"
        "def @main(%x: Tensor[(n, n + 1), float32]) {\n"
        "  let %_1: (Tensor[(n, n + 1), float32],) = (%x, meta[relay.Constant][0] /* w.0: "
        "Tensor[(3), int8] */, 1f);\n"
        "  %_1\n"
        "}\n");
}

TEST_CASE_FIXTURE(PrinterTest, "the metadata section") {
  Dim n = Dim::Symbol(m.ids->Next(), "n");
  const Var* x = NewVar("x", MakeTensorType({n, n}, DType::kFloat32));
  const Constant* c = MakeConstant(m, {DType::kFloat32, {0}, {}});
  Block block{{}, c};
  m.functions["main"] =
      m.arena->New(Function{"main", {}, {x}, nullptr, m.arena->New(block), {}, {}});
  CHECK(PrintModule(m) == R"(#[version = "0.0.5"]
def @main(%x: Tensor[(meta[tir.SizeVar][0], meta[tir.SizeVar][0]), float32]) {
  meta[relay.Constant][0]
}

#[metadata]
{
  "root": 1,
  "nodes": [
    {"type_key": ""},
    {"type_key": "Map", "keys": ["relay.Constant", "tir.SizeVar"], "data": [8, 9]},
    {"type_key": "PrimType", "attrs": {"dtype": "int32"}},
    {"type_key": "runtime.String", "repr_str": "n"},
    {"type_key": "tir.SizeVar", "attrs": {"dtype": "int32", "name": "3", "span": "0", "type_annotation": "2"}},
    {"type_key": "runtime.String"},
    {"type_key": "VirtualDevice", "attrs": {"device_type_int": "-1", "memory_scope": "5", "target": "0", "virtual_device_id": "-1"}},
    {"type_key": "relay.Constant", "attrs": {"_checked_type_": "0", "data": "0", "span": "0", "virtual_device_": "6"}},
    {"type_key": "Array", "data": [7]},
    {"type_key": "Array", "data": [4]}
  ],
  "b64ndarrays": [
    "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQAAAAAAAAAAAAAAAAAAAAAA"
  ],
  "attrs": {"tvm_version": "0.14.0"}
}
)");
}

}  // namespace
}  // namespace relayvm::ir
