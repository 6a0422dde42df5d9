// Signals: windows, Fourier transforms, mel filters.
#include <fmt/format.h>

#include <numbers>

#include "compiler/import/composite/fourier.h"
#include "compiler/import/onnx/checked.h"

namespace relayvm::import {

namespace {

// --- Windows ---

Outputs CosineWindow(NodeContext& n, double a0, double a1, double a2) {
  const Term size = AtLeast({n, 0, "size"}, AsScalar(Term(n, 0)).As(DType::kInt64), 0);
  return {WindowOfCosines(size, n.Int("periodic", 1) != 0, a0, a1, a2)
              .As(n.Type("output_datatype", DType::kFloat32))};
}
Outputs HannWindow(NodeContext& n) { return CosineWindow(n, 0.5, 0.5, 0); }
Outputs HammingWindow(NodeContext& n) { return CosineWindow(n, 25.0 / 46, 21.0 / 46, 0); }
Outputs BlackmanWindow(NodeContext& n) { return CosineWindow(n, 0.42, 0.5, 0.08); }

// --- Fourier transforms ---

Outputs Dft(NodeContext& n) {
  TypedBuilder& b = n.b();
  Term x(n, 0);
  const int rank = x.rank();
  if (rank < 2 || !x.value().dim(-1).is_const())
    return n.Unsupported("expected an input whose last dim is 1 or 2 and known");
  int64_t at = n.Int("axis", 1);
  if (n.opset() >= 20) {
    at = -2;
    if (n.Has(2)) {
      const auto given = n.ConstantInts(2, "axis");
      if (!given || given->size() != 1) return {};
      at = (*given)[0];
    }
  }
  const int axis = n.Axis(at, rank);
  if (!b.status().ok()) return {};
  if (axis == rank - 1) return n.Fail("axis: the last axis holds the parts of a number");
  const bool inverse = n.Int("inverse", 0) != 0, onesided = n.Int("onesided", 0) != 0;
  const bool real = inverse && onesided;
  if (real && !x.value().dim(-1).is_const(2))
    return n.Fail("inverse with onesided: expected complex numbers, whose last dim is 2");
  const Term extent = Extent(b, x, axis);
  Term length = real ? (extent - 1) * 2 : extent;
  if (n.Has(1)) {  // cut, or filled with zeros
    length = AtLeast({n, 1, "dft_length"}, AsScalar(Term(n, 1)).As(DType::kInt64), 1);
    if (!b.status().ok()) return {};
    const Term place = Range(real ? OneSidedBins(length, true) : length);
    x = Select(Along(place < extent, axis, rank), x.Take(place, axis), x.Number(0));
  }
  x = x.Transpose(AxisMoved(rank, axis, rank - 2));
  const Term bins = OneSidedBins(length, onesided);
  const Term y =
      real ? RealFourierInverse(x, length, bins) : FourierTransform(x, length, bins, inverse);
  return {y.Transpose(AxisMoved(rank, rank - 2, axis))};
}

Outputs Stft(NodeContext& n) {
  TypedBuilder& b = n.b();
  Term x(n, 0);
  if (x.rank() == 2) x = x.Expand(2);
  if (x.rank() != 3 || !x.value().dim(-1).is_const())
    return n.Fail("signal: expected batch, length and the parts of a number");
  if (!n.Has(2) && !n.Has(3)) return n.Fail("expected a window or a frame_length");
  const auto positive = [&](size_t i, const char* what) {
    return AtLeast({n, i, what}, AsScalar(Term(n, i)).As(DType::kInt64), 1);
  };
  const Term step = positive(1, "frame_step");
  const Term length = n.Has(3) ? positive(3, "frame_length") : Extent(b, n.Input(2), 0);
  // A signal that is shorter than a frame has none.
  const Term starts = (Extent(b, x, 1) - length).Call("floor_divide", step) + 1;
  const Term frames = Maximum(starts, starts.Number(0));
  const Term places = Range(frames).Expand(1) * step + Range(length);
  Term cut = x.Take(places, 1);  // batch, frames, length, parts
  if (n.Has(2)) cut = cut * Term(n, 2).Expand(1);
  return {FourierTransform(cut, length, OneSidedBins(length, n.Int("onesided", 1) != 0), false)};
}

// Triangles whose corners are evenly spaced on the mel scale, (spectrogram bins, mel bins).
Outputs MelWeightMatrix(NodeContext& n) {
  const auto real = [&](size_t i) { return AsScalar(Term(n, i)).As(DType::kFloat64); };
  const auto positive = [&](size_t i, const char* what) {
    return AtLeast({n, i, what}, AsScalar(Term(n, i)).As(DType::kInt64), 1);
  };
  const Term bins = positive(0, "num_mel_bins"), length = positive(1, "dft_length");
  const auto mel = [](const Term& hertz) {
    return 2595 * (1.0 + hertz / 700).Call("log") / std::numbers::ln10;
  };
  const Term low = mel(real(3)), high = mel(real(4));
  const Term step = (high - low) / (bins + 2).As(DType::kFloat64);
  const Term mels = Range(bins + 2).As(DType::kFloat64) * step + low;
  const Term hertz = 700 * (Exp(mels * (std::numbers::ln10 / 2595)) - 1);
  const Term corner = Floor((length + 1).As(DType::kFloat64) * hertz / real(2)).As(DType::kInt64);
  const Term left = corner.Slice(0, 0, -2), middle = corner.Slice(0, 1, -1),
             right = corner.Slice(0, 2, INT64_MAX);
  const Term j = Range(length / 2 + 1).Expand(1);
  const auto ratio = [](const Term& x, const Term& y) {
    return x.As(DType::kFloat64) / Maximum(y, y.Number(1)).As(DType::kFloat64);
  };
  const Term rising = Select(Equal(middle, left), Equal(j, middle).As(DType::kFloat64),
                             Select(And(j >= left, j <= middle), ratio(j - left, middle - left),
                                    Term(n.b(), n.b().Scalar(0, DType::kFloat64))));
  const Term falls = And(And(j >= middle, j < right), right > middle);
  const Term y = Select(falls, ratio(right - j, right - middle), rising);
  return {y.As(n.Type("output_datatype", DType::kFloat32))};
}

constexpr OperatorDef kSignalOperators[] = {
    {"BlackmanWindow", 1, 1, BlackmanWindow, 17},   {"DFT", 1, 3, Dft, 17},
    {"HammingWindow", 1, 1, HammingWindow, 17},     {"HannWindow", 1, 1, HannWindow, 17},
    {"MelWeightMatrix", 5, 5, MelWeightMatrix, 17}, {"STFT", 2, 4, Stft, 17},
};

}  // namespace

std::span<const OperatorDef> SignalOperators() { return kSignalOperators; }

}  // namespace relayvm::import
