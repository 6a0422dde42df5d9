// Fourier transforms as products with waves, and windows. Tested by fourier_test.cc and
// compiler/import/onnx/op_signal_test.cc.
#pragma once

#include "compiler/import/arithmetic.h"

namespace relayvm::import {

// The transform of the last axis but one of `x` (.., length, 1 or 2 parts), whose other axes are
// kept: (.., bins, 2), real and imaginary parts. `inverse`: divided by the length. Length and bins
// are rank 0, int64.
Term FourierTransform(const Term& x, const Term& length, const Term& bins, bool inverse);
// The real signal of that length whose first `bins` complex numbers are `x` (.., bins, 2), as (..,
// length, 1): the others mirror them, so that all but the first and, of an even length, the last
// count twice.
Term RealFourierInverse(const Term& x, const Term& length, const Term& bins);
// How many bins of a transform are not the mirror of others.
Term OneSidedBins(const Term& length, bool onesided);

// a0 - a1 cos(t) + a2 cos(2t), t a turn over the window (float64). `periodic`: over one more.
Term WindowOfCosines(const Term& size, bool periodic, double a0, double a1, double a2);

}  // namespace relayvm::import
