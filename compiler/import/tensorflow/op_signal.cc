// Fourier transforms (composite/fourier.h), spectrograms.
#include <cmath>

#include "compiler/import/checked.h"
#include "compiler/import/composite/fourier.h"
#include "compiler/import/tensorflow/convert.h"

namespace relayvm::import::tensorflow {

namespace {

// The last axis of v times a matrix.
Term Times(const Term& v, const Term& matrix) { return {v.b(), MatMulOf(v.b(), v, matrix)}; }

// Numbers with their parts along a last axis, as transforms take them.
Term WithParts(NodeContext& n, const Value& v) {
  if (!IsComplex(v)) return Term(n, v).Expand(v.rank());
  const Complex x = ComplexOf(n, v);
  const int rank = x.re.rank();
  return {n, n.b().Concat({x.re.Expand(rank), x.im.Expand(rank)}, rank)};
}
Value PartOf(const Term& x, int64_t i) {
  return x.b().Squeeze(x.Slice(x.rank() - 1, i, i + 1), {x.rank() - 1});
}
Value PairOfParts(const Term& x) { return x.b().Tuple({PartOf(x, 0), PartOf(x, 1)}); }

// An axis cut, or filled with zeros, to that length.
Term CutTo(const Term& x, int axis, const Term& length) {
  TypedBuilder& b = x.b();
  const auto known = b.ConstantInts(length);
  if (known && known->size() == 1 && x.value().dim(axis).is_const((*known)[0])) return x;
  const Term at = Range(length), extent = Extent(b, x, axis);
  const Term inside = Along(at < extent, axis, x.rank());
  return Select(inside, x.Take(Select(at < extent, at, at.Number(0)), axis), x.Number(0));
}

// x (.., parts) along an axis of the others.
Term TransformedAlong(const Term& x, int axis, const Term& length, const Term& bins, bool inverse) {
  const int rank = x.rank();
  const Term y =
      FourierTransform(x.Transpose(AxisMoved(rank, axis, rank - 2)), length, bins, inverse);
  return y.Transpose(AxisMoved(rank, rank - 2, axis));
}

template <int kAxes, bool kInverse>
Outputs Fft(NodeContext& n) {
  if (!IsComplex(n.Input(0))) return n.Fail("expected complex numbers");
  Term x = WithParts(n, n.Input(0));
  const int rank = x.rank() - 1;
  if (rank < kAxes) return n.Fail("expected rank {} or more", kAxes);
  for (int i = 1; i <= kAxes && Ok(n); ++i) {
    const Term length = Extent(n, x, rank - i);
    x = TransformedAlong(x, rank - i, length, length, kInverse);
  }
  return Ok(n) ? Outputs{PairOfParts(x)} : Outputs{};
}

// The lengths that input 1 says, one for each axis; none with an error.
std::vector<Term> Lengths(NodeContext& n, int axes) {
  const Value given = n.Input(1);
  if (given.rank() != 1 || Dim::ProvablyDifferent(given.dim(0), axes))
    return n.Fail("fft_length: expected {} numbers", axes);
  std::vector<Term> lengths;
  for (int i = 0; i < axes; ++i) {
    const Term own = ElementOf(Term(n, given), i).As(DType::kInt64);
    lengths.emplace_back(n, AtLeast({n, 1, "fft_length"}, own, 1));
  }
  return Ok(n) ? lengths : std::vector<Term>();
}

template <int kAxes>
Outputs RealFft(NodeContext& n) {
  if (n.Input(0).rank() < kAxes) return n.Fail("expected rank {} or more", kAxes);
  if (IsComplex(n.Input(0))) return n.Fail("expected real numbers");
  const std::vector<Term> lengths = Lengths(n, kAxes);
  Term x = WithParts(n, n.Input(0));
  const int rank = x.rank() - 1;
  for (int i = 1; i <= kAxes && !lengths.empty() && Ok(n); ++i) {
    const Term& length = lengths[static_cast<size_t>(kAxes - i)];
    x = CutTo(x, rank - i, length);
    x = TransformedAlong(x, rank - i, length, OneSidedBins(length, i == 1), false);
  }
  return Ok(n) ? Outputs{PairOfParts(x)} : Outputs{};
}

template <int kAxes>
Outputs RealFftInverse(NodeContext& n) {
  if (!IsComplex(n.Input(0))) return n.Fail("expected complex numbers");
  Term x = WithParts(n, n.Input(0));
  const int rank = x.rank() - 1;
  if (rank < kAxes) return n.Fail("expected rank {} or more", kAxes);
  const std::vector<Term> lengths = Lengths(n, kAxes);
  if (lengths.empty()) return {};
  for (int i = kAxes; i >= 2 && Ok(n); --i) {
    const Term& length = lengths[static_cast<size_t>(kAxes - i)];
    x = TransformedAlong(CutTo(x, rank - i, length), rank - i, length, length, true);
  }
  const Term length = lengths.back(), bins = OneSidedBins(length, true);
  if (!Ok(n)) return {};
  return {PartOf(RealFourierInverse(CutTo(x, rank - 1, bins), length, bins), 0)};
}

// --- Spectrograms ---

// (samples, channels) as (channels, frames, bins): frames under a window of Hann, as long as the
// next power of two.
Outputs AudioSpectrogram(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const int64_t window = n.Count("window_size", 0), stride = n.Count("stride", 0);
  if (x.rank() != 2 || window < 2 || window > 1 << 20 || stride < 1)
    return n.Fail("expected (samples, channels), a window of 2 to 2^20 and a stride above 0");
  int64_t length = 1;
  while (length < window) length *= 2;
  std::vector<double> hann;
  for (int64_t i = 0; i < window; ++i)
    hann.push_back(0.5 -
                   0.5 * std::cos(2 * M_PI * static_cast<double>(i) / static_cast<double>(window)));
  const Term room = Extent(b, x, 0) - static_cast<double>(window);
  const Term starts = room.Call("floor_divide", room.Number(static_cast<double>(stride))) + 1;
  const Term frames = Maximum(starts, starts.Number(0));
  const Term at =
      Range(frames).Expand(1) * static_cast<double>(stride) + Term(b, b.Ints(Iota(window)));
  const Term cut = x.Transpose({1, 0}).Take(at, 1) * Term(b, Table(b, hann, {window}));
  const Term count(b, b.Int(length));
  const Term y = FourierTransform(CutTo(cut.Expand(3), 2, count), count, OneSidedBins(count, true),
                                  /*inverse=*/false);
  const Term power(b, b.Op("sum", {y * y}, {{"axis", AttrList{3}}, {"keepdims", false}}));
  return {n.Bool("magnitude_squared", false) ? power : Sqrt(power)};
}

// Of spectrograms (channels, frames, bins): bands on the mel scale, their logarithms' cosine
// transform.
Outputs Mfcc(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const auto rate = n.ConstantInt(1, "sample_rate");
  if (!rate) return {};
  const double high = n.Float("upper_frequency_limit", 4000),
               low = n.Float("lower_frequency_limit", 20);
  const int64_t bands = n.Count("filterbank_channel_count", 40),
                kept = n.Count("dct_coefficient_count", 13);
  if (x.rank() != 3 || !x.value().dim(2).is_const() || bands < 1 || bands > 4096 || kept < 1 ||
      kept > bands || x.value().dim(2).value() < 2 || x.value().dim(2).value() > 1 << 20) {
    return n.Unsupported(
        "expected a spectrogram of rank 3 whose bins are known, and 1 to 4096 channels");
  }
  const int64_t bins = x.value().dim(2).value();
  const auto mel = [](double hertz) { return 1127 * std::log1p(hertz / 700); };
  const double mel_low = mel(low), step = (mel(high) - mel_low) / static_cast<double>(bands + 1);
  const double per_bin = 0.5 * static_cast<double>(*rate) / static_cast<double>(bins - 1);
  const auto first = static_cast<int64_t>(1.5 + low / per_bin),
             last = static_cast<int64_t>(high / per_bin);
  const auto centre = [&](int64_t i) { return mel_low + step * static_cast<double>(i + 1); };
  std::vector<double> weights(static_cast<size_t>(bins * bands), 0);
  for (int64_t i = std::max<int64_t>(first, 0); i < bins && i <= last; ++i) {
    const double here = mel(static_cast<double>(i) * per_bin);
    int64_t band = 0;
    while (band < bands && centre(band) < here) ++band;
    --band;
    const double from = band >= 0 ? centre(band) : mel_low;
    const double share = (centre(band + 1) - here) / (centre(band + 1) - from);
    const auto at = [&](int64_t k) -> double& {
      return weights[static_cast<size_t>(i * bands + k)];
    };
    if (band >= 0) at(band) += share;
    if (band + 1 < bands) at(band + 1) += 1 - share;
  }
  std::vector<double> cosines;
  for (int64_t j = 0; j < bands; ++j) {
    for (int64_t k = 0; k < kept; ++k) {
      cosines.push_back(std::sqrt(2.0 / static_cast<double>(bands)) *
                        std::cos(static_cast<double>(k) * M_PI / static_cast<double>(bands) *
                                 (static_cast<double>(j) + 0.5)));
    }
  }
  const Term mels = Times(Sqrt(x), {b, Table(b, weights, {bins, bands})});
  const Term logs = Log(Maximum(mels, mels.Number(1e-12)));
  return {Times(logs, {b, Table(b, cosines, {bands, kept})})};
}

constexpr OperatorDef kSignalOperators[] = {
    {"AudioSpectrogram", 1, 1, AudioSpectrogram, {}, "2"},
    {"BatchFFT", 1, 1, Fft<1, false>},
    {"BatchIFFT", 1, 1, Fft<1, true>},
    {"FFT", 1, 1, Fft<1, false>},
    {"FFT2D", 1, 1, Fft<2, false>},
    {"FFT3D", 1, 1, Fft<3, false>},
    {"IFFT", 1, 1, Fft<1, true>},
    {"IFFT2D", 1, 1, Fft<2, true>},
    {"IFFT3D", 1, 1, Fft<3, true>},
    {"IRFFT", 2, 2, RealFftInverse<1>},
    {"IRFFT2D", 2, 2, RealFftInverse<2>},
    {"IRFFT3D", 2, 2, RealFftInverse<3>},
    {"Mfcc", 2, 2, Mfcc, {}, "30"},
    {"RFFT", 2, 2, RealFft<1>},
    {"RFFT2D", 2, 2, RealFft<2>},
    {"RFFT3D", 2, 2, RealFft<3>},
};

}  // namespace

std::span<const OperatorDef> SignalOperators() { return kSignalOperators; }

}  // namespace relayvm::import::tensorflow
