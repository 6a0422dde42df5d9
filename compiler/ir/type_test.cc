#include "compiler/ir/type.h"

#include <doctest/doctest.h>

#include <functional>
#include <set>

namespace relayvm::ir {
namespace {

const Dim kN = Dim::Symbol(1, "n");
Type TypeVarOf(uint32_t id, std::string name) { return MakeType(TypeVar{id, std::move(name)}); }

TEST_CASE("types print as Relay writes them") {
  Type a = TypeVarOf(7, "A");
  const struct {
    Type type;
    const char* text;
    const char* without_names;
  } kCases[] = {
      {MakeScalarType(DType::kInt32), "int32", "int32"},
      {MakeScalarType(DType::kBool), "bool", "bool"},
      {MakeTensorType({1, 64}, DType::kFloat32), "Tensor[(1, 64), float32]",
       "Tensor[(1, 64), float32]"},
      {MakeTensorType({Dim::Any()}, DType::kBFloat16), "Tensor[(?), bfloat16]",
       "Tensor[(?), bfloat16]"},
      {MakeTensorType({kN * Dim(4) + Dim(1), 3}, DType::kInt8), "Tensor[(n*4 + 1, 3), int8]",
       "Tensor[(?, 3), int8]"},
      {UnitType(), "()", "()"},
      {MakeType(TupleType{{MakeScalarType(DType::kInt64)}}), "(int64,)", "(int64,)"},
      {MakeType(TupleType{{UnitType(), a}}), "((), A)", "((), A)"},
      {MakeType(FunctionType{{a}, {a, UnitType()}, a}), "fn [A](A, ()) -> A", "fn [A](A, ()) -> A"},
      {MakeType(FunctionType{{}, {}, UnitType()}), "fn () -> ()", "fn () -> ()"},
      {MakeType(RefType{MakeScalarType(DType::kInt32)}), "ref(int32)", "ref(int32)"},
      {MakeType(AdtType{"List", {a}}), "List[A]", "List[A]"},
      {MakeType(AdtType{"Nat", {}}), "Nat[]", "Nat[]"},
      {MakeType(InferVar{3}), "_", "_"},
      {nullptr, "_", "_"},
  };
  for (const auto& c : kCases) {
    CHECK(TypeToString(c.type) == c.text);
    CHECK(TypeToString(c.type, false) == c.without_names);
  }
}

TEST_CASE("types are equal by structure, functions up to their type parameters' identity") {
  auto identity = [](uint32_t id) {
    Type v = TypeVarOf(id, "T");
    return MakeType(FunctionType{{v}, {v}, v});
  };
  CHECK(TypeEquals(identity(1), identity(2)));
  CHECK_FALSE(TypeEquals(TypeVarOf(1, "A"), TypeVarOf(2, "A")));
  Type free_var = TypeVarOf(9, "T");
  Type bound = TypeVarOf(1, "T");
  CHECK_FALSE(TypeEquals(identity(2), MakeType(FunctionType{{bound}, {bound}, free_var})));
  CHECK(TypeEquals(MakeTensorType({kN, 2}, DType::kInt8), MakeTensorType({kN, 2}, DType::kInt8)));
  CHECK_FALSE(
      TypeEquals(MakeTensorType({kN, 2}, DType::kInt8), MakeTensorType({2, kN}, DType::kInt8)));
  CHECK_FALSE(TypeEquals(MakeTensorType({2}, DType::kInt8), MakeTensorType({2}, DType::kUInt8)));
  CHECK_FALSE(TypeEquals(UnitType(), MakeType(TupleType{{UnitType()}})));
  CHECK_FALSE(TypeEquals(MakeType(AdtType{"A", {}}), MakeType(AdtType{"B", {}})));
  CHECK(TypeEquals(nullptr, nullptr));
  CHECK_FALSE(TypeEquals(UnitType(), nullptr));
}

TEST_CASE("dims are visited and replaced everywhere in a type") {
  Type tensor = MakeTensorType({kN, 3}, DType::kFloat32);
  Type type = MakeType(FunctionType{{},
                                    {MakeType(RefType{tensor}), MakeType(AdtType{"List", {tensor}}),
                                     MakeType(TupleType{{tensor}})},
                                    tensor});
  int seen = 0;
  ForEachDim(type, [&](const Dim& d) { seen += d.is_symbol(); });
  CHECK(seen == 4);
  Type mapped = MapDims(type, [](const Dim& d) { return d.is_symbol() ? Dim(5) : d; });
  CHECK(TypeToString(mapped) ==
        "fn (ref(Tensor[(5, 3), float32]), List[Tensor[(5, 3), float32]], (Tensor[(5, 3), "
        "float32],)) -> "
        "Tensor[(5, 3), float32]");
  CHECK(MapDims(type, [](const Dim& d) { return d; }) == type);  // unchanged is shared
}

TEST_CASE("what a type shares, it shares with its variables replaced") {
  // Towers of four floors, one on another: as a tree the last is 2^40 large.
  Type type = MakeScalarType(DType::kFloat32);
  std::set<const TypeNode*> nodes;
  for (uint32_t i = 0; i < 10; ++i) {
    Type tower = TypeVarOf(i, "A");
    for (int floor = 0; floor < 4; ++floor) tower = MakeType(TupleType{{tower, tower}});
    type = SubstituteTypeVars(tower, {{i, type}});
  }
  const std::function<void(const Type&)> count = [&](const Type& t) {
    if (nodes.insert(t.get()).second) ForEachChild(*t, count);
  };
  count(type);
  CHECK(nodes.size() == 41);
}

TEST_CASE("scalar registers hold rank-0 tensors but for the 16-bit floats") {
  CHECK(IsScalarType(MakeScalarType(DType::kBool)));
  CHECK(IsScalarType(MakeScalarType(DType::kFloat64)));
  CHECK_FALSE(IsScalarType(MakeScalarType(DType::kFloat16)));
  CHECK_FALSE(IsScalarType(MakeScalarType(DType::kBFloat16)));
  CHECK_FALSE(IsScalarType(MakeTensorType({1}, DType::kInt32)));
  CHECK_FALSE(IsScalarType(UnitType()));
  CHECK_FALSE(IsScalarType(nullptr));
}

}  // namespace
}  // namespace relayvm::ir
