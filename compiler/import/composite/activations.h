// Activations: formulas by name, which operators, cells of recurrent layers and nodes that
// activations are fused into have. Tested by recurrent_test.cc and
// compiler/import/onnx/op_math_test.cc.
#pragma once

#include <string_view>

#include "compiler/import/arithmetic.h"

namespace relayvm::import {

// Its name in lower case ("sigmoid", "hardsigmoid", "tanh", "relu" ...), how many of alpha and beta
// it takes, and what they are where nothing else is said.
struct ActivationDef {
  std::string_view name;
  int parameters;
  double alpha, beta;
  Term (*apply)(const Term& x, double alpha, double beta);
};
const ActivationDef* FindActivation(std::string_view name);  // in any case; null: there is none

Term GeluOf(const Term& x);
Term TanhGeluOf(const Term& x);  // nearly, by tanh
Term SwishOf(const Term& x, double alpha);

}  // namespace relayvm::import
