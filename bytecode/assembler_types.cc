#include "bytecode/assembler_types.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "bytecode/verifier.h"

namespace relayvm::assembler {

DType ParseDTypeWord(TextCursor* in) {
  std::string_view word = in->Word();
  std::optional<DType> dtype = ParseDType(word);
  if (!dtype) in->Fail(fmt::format("unknown dtype '{}'", word));
  return dtype.value_or(DType::kBool);
}

uint8_t Device(TextCursor* in) { return in->Eat('@') ? in->Number<uint8_t>() : uint8_t{0}; }

void StaticType(TextCursor* in, DType* dtype, std::vector<int64_t>* dims, uint8_t* device) {
  *dtype = ParseDTypeWord(in);
  if (device != nullptr) *device = Device(in);
  in->Expect('[');
  while (in->ok() && !in->Eat(']')) {
    if (!dims->empty()) in->Expect(',');
    dims->push_back(in->Number<int64_t>());
  }
}

namespace {

void SizeProduct(TextCursor* in, SizeFormula* to, int depth);
void SizeFactor(TextCursor* in, SizeFormula* to, int depth);

}  // namespace

ValueType Type(TextCursor* in, int depth) {
  ValueType type;
  if (depth >= kMaxTypeDepth) in->Fail(fmt::format("type nests deeper than {}", kMaxTypeDepth));
  if (!in->ok()) return type;
  if (in->Peek('(')) {
    type.kind = ValueType::Kind::kTuple;
    type.args = Types(in, depth + 1);
  } else if (in->EatWord("data")) {
    type.kind = ValueType::Kind::kAdt;
    type.index = in->Number<uint32_t>();
    type.args = Types(in, depth + 1);
  } else if (in->EatWord("fn")) {
    type.kind = ValueType::Kind::kFunction;
  } else if (in->EatWord("ref")) {
    type.kind = ValueType::Kind::kRef;
    type.args = Types(in, depth + 1);
  } else if (in->EatWord("var")) {
    type.kind = ValueType::Kind::kTypeVar;
    type.index = in->Number<uint32_t>();
  } else {
    type.dtype = ParseDTypeWord(in);
    in->Expect('[');
    while (in->ok() && !in->Eat(']')) {
      if (!type.dims.empty()) in->Expect(',');
      type.dims.push_back(in->Eat('?') ? -1 : in->Number<int64_t>());
      type.dim_names.push_back(in->Peek('"') ? in->String() : "");
      if (!in->Eat('=')) continue;
      type.dim_formulas.resize(type.dims.size());
      Size(in, &type.dim_formulas.back(), 0);
    }
    if (!type.dim_formulas.empty()) type.dim_formulas.resize(type.dims.size());
  }
  return type;
}

std::vector<ValueType> Types(TextCursor* in, int depth) {
  std::vector<ValueType> types;
  in->Expect('(');
  while (in->ok() && !in->Eat(')')) {
    if (!types.empty()) in->Expect(',');
    types.push_back(Type(in, depth));
  }
  return types;
}

void Size(TextCursor* in, SizeFormula* to, int depth) {
  SizeProduct(in, to, depth);
  while (in->ok()) {
    const bool add = in->Eat('+');
    if (!add && !in->Eat('-')) return;
    SizeProduct(in, to, depth);
    to->push_back({add ? SizeStep::Kind::kAdd : SizeStep::Kind::kSub});
  }
}
namespace {

void SizeProduct(TextCursor* in, SizeFormula* to, int depth) {
  SizeFactor(in, to, depth);
  while (in->Eat('*')) {
    SizeFactor(in, to, depth);
    to->push_back({SizeStep::Kind::kMul});
  }
}
void SizeFactor(TextCursor* in, SizeFormula* to, int depth) {
  if (depth > static_cast<int>(kMaxSizeSteps)) return in->Fail("a size nests too deep");
  if (in->Eat('(')) {
    Size(in, to, depth + 1);
    return in->Expect(')');
  }
  if (in->Peek('s')) return to->push_back({SizeStep::Kind::kScalar, in->Index("s")});
  const std::pair<const char*, SizeStep::Kind> functions[] = {
      {"floordiv", SizeStep::Kind::kFloorDiv},
      {"floormod", SizeStep::Kind::kFloorMod},
      {"min", SizeStep::Kind::kMin},
      {"max", SizeStep::Kind::kMax}};
  for (const auto& [name, kind] : functions) {
    if (!in->EatWord(name)) continue;
    in->Expect('(');
    Size(in, to, depth + 1);
    in->Expect(',');
    Size(in, to, depth + 1);
    in->Expect(')');
    return to->push_back({kind});
  }
  to->push_back({SizeStep::Kind::kConst, in->Number<int64_t>()});
}

}  // namespace

}  // namespace relayvm::assembler
