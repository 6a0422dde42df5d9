// IR to Relay text, version 0.0.5.
//
// PrintModule gives text that the frontend reads back to the same module: every binding is a `let`
// (a graph variable could move); variables without a name are %_1, %_2 ...; names are made unique
// in each function; a name that is not an identifier is quoted (%"layers.0.weight"); floats are the
// shortest that round-trip; tensors, size symbols and expressions over them stand in the metadata
// section. TVM reads it too, but for quoted names, `ref` types and what it has no syntax for. What
// only later passes make (PrimitiveCall, MakeClosure, Guard, ShapeValue) prints in a form for
// people. Tested by printer_test.cc.
#pragma once

#include <string>

#include "compiler/ir/ir.h"

namespace relayvm::ir {

struct PrintOptions {
  // For people: symbols by name, types of constants as comments, no metadata section.
  bool for_people = false;
};

std::string PrintModule(const Module& m, const PrintOptions& options = {});
// One function, for people.
std::string PrintFunction(const Module& m, const Function& f);
// One expression, for people; nested blocks in full.
std::string PrintExpr(const Module& m, const Expr& e);

}  // namespace relayvm::ir
