// How far a result is from a more exact one of the same program: what relayc --check prints.
//
//   output            elements      max abs     max rel    mean abs  of the norm
//   logits              1x1000     3.12e-03    2.41e-02    4.05e-04     1.31e-03
//
// max rel is the largest error of an element in units of that element; of the norm is the root of
// the sum of squared errors over that of the squared elements. Tested by error_report_test.cc.
#pragma once

#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "tools/values/flat_value.h"

namespace relayvm::tools {

struct TensorError {
  int64_t elements = 0;
  // Over the elements where both are finite numbers.
  double max_abs = 0, max_rel = 0, mean_abs = 0, of_norm = 0;
  // One is NaN or infinite and the other is not that.
  int64_t not_finite = 0;
};

// REQUIRES: both are tensors of one dtype and shape.
TensorError ErrorOf(const Value& found, const Value& exact);

// The table. Fails where the results have other parts, shapes or dtypes: sizes that hang on the
// numbers differ.
Result<std::string> ErrorReport(const ExportInfo& function, const FlatValue& found,
                                const FlatValue& exact);

}  // namespace relayvm::tools
