// LSTM layers of TensorFlow Lite: floats, floats with weights of 8 bits, and codes of 8 bits with
// gates and a memory of 16. Cells may have peepholes, a projection and norms of their gates; one
// without weights of its input gate has 1 - f there. Tested by operators_test.cc.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "compiler/import/tflite/graph_importer.h"
#include "compiler/import/tflite/products.h"

namespace relayvm::import::tflite {

// Inputs of the operator by their numbers; those of gates stand in the order i, f, c, o, peepholes
// as i, f, o. 0: there is none.
struct LstmInputs {
  std::array<size_t, 4> w, recurrent;
  std::array<size_t, 3> peepholes;
  std::array<size_t, 4> bias;
  size_t projection, projection_bias;
  size_t h, c;  // states
  std::array<size_t, 4> norms;
};

struct LstmOptions {
  double memory_clip = 0, projection_clip = 0;  // 0: none
  fb::Activation activation = fb::Activation::TANH;
  bool has_zero = false;  // data is quantised with a zero point where weights have 8 bits
  bool backward = false;
  bool rows_apart = false;  // one sequence after the other is run, not one step of all
};

struct LstmResult {
  Value y;     // (time, batch, size)
  Value h, c;  // the last states
};

// x is (time, batch, width). Nullopt with an error.
std::optional<LstmResult> RunLstm(NodeContext& n, const Value& x, const LstmInputs& inputs,
                                  const LstmOptions& options);

// Rows of floats by the weights of several inputs (units, width), one behind the other: floats, or
// codes of 8 bits, for which rows are quantised.
Term DenseOfWeights(NodeContext& n, const Term& rows, const std::vector<size_t>& weights,
                    bool has_zero);

}  // namespace relayvm::import::tflite
