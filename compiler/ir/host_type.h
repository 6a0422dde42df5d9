// Which types may stand in the signature of a host function. Tested by
// compiler/end_to_end/host_functions_test.cc.
#pragma once

#include <string>

#include "compiler/ir/ir.h"

namespace relayvm::ir {

// What of a type cannot go between program and host: "functions", "references", "values of an open
// type"; also where a constructor holds it. Empty when all can.
std::string WhatCannotCross(const Module& m, const Type& type);

}  // namespace relayvm::ir
