// Recurrent layers: plain, GRU, LSTM, in any number of directions.
//
// What the input contributes to the gates is one product for all steps; then a loop over time,
// whose turn is a product with the state and one kernel for the gates. y is written in place, row
// by row. Short sequences of a known length are straight code. Tested by recurrent_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/checked.h"
#include "compiler/import/composite/activations.h"

namespace relayvm::import {

struct RecurrentActivation {
  const ActivationDef* def;
  double alpha = def->alpha, beta = def->beta;
  Value operator()(TypedBuilder& b, const Value& x) const {
    return def->apply(Term(b, x), alpha, beta);
  }
};

// What a product takes: (units, columns); or of 8 bits, (columns, units), with a scale and a zero
// point for all units or for each. By weights of 8 bits what they are multiplied with is quantised
// to uint8, by the extremes of the whole of it.
struct RecurrentWeights {
  Value w, scale, zero_point;  // no scale: numbers as they are
};

enum class RecurrentCell : uint8_t { kPlain, kGru, kLstm };

// One direction. `size` is the projection's rows where there is one, else `hidden`.
struct RecurrentDirection {
  bool backward = false;
  RecurrentWeights input;      // (gates * hidden, width of x)
  RecurrentWeights recurrent;  // (gates * hidden, size)
  Value bias, recurrent_bias;  // (gates * hidden); may be none
  // LSTM: (hidden), what the memory adds to a gate; may be none.
  Value peephole_i, peephole_o, peephole_f;
  Value projection;            // LSTM: (size, hidden), what h is made by; may be none
  Value initial_h, initial_c;  // (batch, size), (batch, hidden); none: zeros
  // Plain: of h. GRU: of gates, of the candidate. LSTM: of gates, of the candidate, of the memory.
  std::vector<RecurrentActivation> activations;
};

struct RecurrentSpec {
  RecurrentCell cell = RecurrentCell::kPlain;
  // In which order weights and biases hold the gates. GRU: "zrh" or "rzh" (update, reset,
  // candidate), and weights of 8 bits only with reset_after; LSTM: input, output, forget, candidate
  // as "iofc", "ifco" ..., where there is no "i" it is 1 - f. Plain: "h".
  std::string_view gates;
  int64_t hidden = 0;  // at most 2^31 - 1
  Value x;             // (time, batch, width)
  // (batch), each 0 to time. Beyond its length a sequence keeps its state, and y is 0; a backward
  // direction begins at a sequence's own end.
  std::optional<InputName> lengths;
  std::vector<RecurrentDirection> directions;
  double clip = 0;              // what activations get lies in -clip..clip; 0: anything
  double memory_clip = 0;       // LSTM: the memory lies in -memory_clip..memory_clip; 0: anything
  bool reset_after = false;     // GRU: r applies to h's product with its bias, not to h
  bool coupled_forget = false;  // LSTM: f is 1 - i, whatever the weights hold
  bool wants_y = true;
};

// Of a direction: y (time, batch, size), none where nobody wants it; the last state h (batch,
// size), for LSTM c (batch, hidden).
struct RecurrentResult {
  Value y, h, c;
};
// One for each direction; with an error of the builder none or fewer.
std::vector<RecurrentResult> Recurrent(TypedBuilder& b, const RecurrentSpec& spec);

}  // namespace relayvm::import
