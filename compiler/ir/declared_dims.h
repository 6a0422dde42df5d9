// What the entry's parameters say of dims inside of data types: List[Tensor[(n, 4), float32]]. Type
// inference forgets such names, since programs may not rely on them: a list can be made of
// anything. Hosts are held to them all the same (vm/border/signature_dims.h), so an attribute of
// the entry keeps them, from the pipeline's start until the export is written. Tested by
// compiler/lowering/value_type_test.cc.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace relayvm::ir {

// For each tensor of the parameters, depth first through tuples and arguments of data types:
// "#rank", and for each of its dims "id:name" of a symbol, the dim itself of an expression over
// symbols, else "".
inline constexpr const char* kDeclaredDims = "declared_dims";

// A tensor that a parameter's type mentions.
struct MentionedTensor {
  const TensorType* type;
  bool inside;  // of a data type
};
inline void AddMentionedTensors(const Type& type, bool inside, std::vector<MentionedTensor>* to) {
  if (type == nullptr) return;
  if (const auto* tensor = type->As<TensorType>()) {
    to->push_back({tensor, inside});
  } else if (const auto* tuple = type->As<TupleType>()) {
    for (const Type& field : tuple->fields) AddMentionedTensors(field, inside, to);
  } else if (const auto* adt = type->As<AdtType>()) {
    for (const Type& arg : adt->args) AddMentionedTensors(arg, /*inside=*/true, to);
  }
}

// Of all parameters; none where a type is large, and may be a tree of any size.
inline std::vector<MentionedTensor> MentionedTensors(const Function& function) {
  std::vector<MentionedTensor> tensors;
  for (const Var* p : function.params) {
    if (p->type != nullptr && p->type->is_large()) return {};
    AddMentionedTensors(p->type, /*inside=*/false, &tensors);
  }
  return tensors;
}

inline std::string DeclaredName(const Dim& symbol) {
  return std::to_string(symbol.symbol_id()) + ":" + symbol.symbol_name();
}

// The attribute of a function's parameters; empty where no data type has a name.
inline AttrList DeclaredDimsOf(const Function& function) {
  const std::vector<MentionedTensor> tensors = MentionedTensors(function);
  AttrList dims;
  bool any = false;
  for (const MentionedTensor& tensor : tensors) {
    dims.emplace_back("#" + std::to_string(tensor.type->shape.size()));
    for (const Dim& d : tensor.type->shape) {
      bool is_named = !d.is_const() && !d.ContainsAny();
      d.ForEachSymbol([&](const Dim& s) { is_named = is_named && !s.symbol_name().empty(); });
      any = any || (is_named && tensor.inside);
      if (is_named && !d.is_symbol()) {
        dims.emplace_back(d);
      } else {
        dims.emplace_back(is_named ? DeclaredName(d) : std::string());
      }
    }
  }
  return any ? dims : AttrList();
}

}  // namespace relayvm::ir
