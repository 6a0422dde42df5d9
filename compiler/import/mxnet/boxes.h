// Boxes of which those go that overlap better ones, each batch by itself.
#pragma once

#include <optional>

#include "compiler/import/mxnet/operator.h"

namespace relayvm::import::mxnet {

struct Candidates {
  Term boxes;               // (batch, boxes, 4), corners, the best first
  std::optional<Term> ids;  // (batch, boxes): only boxes of one id are compared
  Term count;               // (batch): how many of them count
  double threshold;         // a box goes where the overlap is that much or more; above 0
};
// Whether each box stays: (batch, boxes), bool. False beyond the count.
Term KeptInOrder(const Candidates& c);
// A little more, so that "that much or more" is "more than `threshold`" of float32.
double JustAbove(double threshold);

// Rows `at` (batch, n) of (batch, rows, ..).
Term RowsAt(const Term& data, const Term& at);
// The order along the last axis, from the greatest on; equals stay in order.
Term BestFirst(const Term& scores);

}  // namespace relayvm::import::mxnet
