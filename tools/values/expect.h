// Comparing a result's tensors with recorded ones: --expect.
// Tested by expect_test.cc.
#pragma once

#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/io/npz.h"
#include "vm/border/value.h"

namespace relayvm::tools {

struct Tolerance {
  double rtol = 1e-5;
  double atol = 1e-5;
};

// Empty, or how they differ: "out0: values differ in 2 of 6 places, most at [1, 2]: found 1.5,
// expected 1.25 (difference 0.25)". Floats are equal when |found - expected| <= atol + rtol *
// |expected|, or both are NaN; all others must be equal.
std::string CompareTensors(const std::string& name, const Value& found, const Value& expected,
                           const Tolerance& tolerance);

// `expected` as read from a .npy (one tensor) or a .npz file. An archive's arrays are found by
// `names`; when it has none of them, they are taken in order. Arrays of other names are left out of
// the comparison, unless they are further outputs (outN).
Result<std::string> CompareWithFile(const std::string& path, const std::vector<std::string>& names,
                                    const std::vector<Value>& found, const Tolerance& tolerance);

}  // namespace relayvm::tools
