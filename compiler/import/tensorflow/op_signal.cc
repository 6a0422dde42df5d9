// Fourier transforms, as products with waves.
#include <cmath>

#include "compiler/import/checked.h"
#include "compiler/import/tensorflow/convert.h"

namespace relayvm::import::tensorflow {

namespace {

// Cosines and sines of 2 pi j k / count, j below `rows`, k below `columns`. Angles are reduced as
// whole numbers first, so that they are exact.
struct Waves {
  Term cos, sin;
};
Waves WavesOf(const Term& rows, const Term& columns, const Term& count, DType dtype) {
  const Term product = Range(rows).Expand(1) * Range(columns);
  const Term angle =
      product.Call("floor_mod", count).As(DType::kFloat64) * (2 * M_PI) / count.As(DType::kFloat64);
  return {Cos(angle).As(dtype), Sin(angle).As(dtype)};
}

// The last axis of v times a matrix.
Term Times(const Term& v, const Term& matrix) { return {v.b(), MatMulOf(v.b(), v, matrix)}; }

// The last axis cut, or filled with zeros, to that length.
Term CutTo(const Term& x, const Term& length) {
  TypedBuilder& b = x.b();
  const auto known = b.ConstantInts(length);
  if (known && x.value().dim(-1).is_const((*known)[0])) return x;
  const Term at = Range(length);
  const Term inside = at < Extent(b, x, -1);
  return Select(inside, x.Take(Select(inside, at, at.Number(0)), x.rank() - 1), x.Number(0));
}

// Along the last axis, of length `length`; the first `bins` of the result.
Complex Transformed(const Complex& x, bool has_imaginary, const Term& length, const Term& bins,
                    bool inverse) {
  const Waves w = WavesOf(length, bins, length, x.re.dtype());
  const double sign = inverse ? 1 : -1;
  Term re = Times(x.re, w.cos), im = Times(x.re, w.sin) * sign;
  if (has_imaginary) {
    re = re - Times(x.im, w.sin) * sign;
    im = im + Times(x.im, w.cos);
  }
  if (!inverse) return {re, im};
  const Term count = length.As(x.re.dtype());
  return {re / count, im / count};
}

// The real numbers of that length whose transform begins with x: what follows mirrors that, so that
// all but the first and, of an even length, the last count twice.
Term RealInverse(const Complex& x, const Term& length, const Term& bins) {
  const Waves w = WavesOf(bins, length, length, x.re.dtype());
  const Term k = Range(bins);
  const Term alone = Or(Equal(k, 0), Equal(k * 2, length));
  const Term weight = Select(alone, x.re.Number(1), x.re.Number(2)) / length.As(x.re.dtype());
  return Times(x.re * weight, w.cos) - Times(x.im * weight, w.sin);
}

// Axis `axis` last, and back.
Complex Moved(const Complex& x, int axis, bool back) {
  const int last = x.re.rank() - 1;
  const auto axes = back ? AxisMoved(last + 1, last, axis) : AxisMoved(last + 1, axis, last);
  return {x.re.Transpose(axes), x.im.Transpose(axes)};
}
Complex AlongAxis(const Complex& x, int axis, const std::optional<Term>& length, bool inverse) {
  const bool is_last = axis == x.re.rank() - 1;
  Complex v = is_last ? x : Moved(x, axis, false);
  if (length) v = {CutTo(v.re, *length), CutTo(v.im, *length)};
  const Term count = Extent(v.re.b(), v.re, -1);
  v = Transformed(v, true, count, count, inverse);
  return is_last ? v : Moved(v, axis, true);
}

template <int kAxes, bool kInverse>
Outputs Fft(NodeContext& n) {
  if (!IsComplex(n.Input(0))) return n.Fail("expected complex numbers");
  Complex x = ComplexOf(n, n.Input(0));
  if (x.re.rank() < kAxes) return n.Fail("expected rank {} or more", kAxes);
  for (int i = 1; i <= kAxes; ++i) x = AlongAxis(x, x.re.rank() - i, std::nullopt, kInverse);
  return {PairOf(n, x)};
}

std::optional<Term> LengthAt(NodeContext& n, int i) {
  return AtLeast({n, 1, "fft_length"}, ElementOf(Term(n, 1), i).As(DType::kInt64), 1);
}

template <int kAxes>
Outputs RealFft(NodeContext& n) {
  Term x(n, 0);
  if (x.rank() < kAxes) return n.Fail("expected rank {} or more", kAxes);
  const Term length = *LengthAt(n, kAxes - 1);
  x = CutTo(x, length);
  Complex y = Transformed({x, x}, false, length, length / 2 + 1, false);
  for (int i = 2; i <= kAxes; ++i) y = AlongAxis(y, y.re.rank() - i, LengthAt(n, kAxes - i), false);
  return {PairOf(n, y)};
}

template <int kAxes>
Outputs RealFftInverse(NodeContext& n) {
  if (!IsComplex(n.Input(0))) return n.Fail("expected complex numbers");
  Complex x = ComplexOf(n, n.Input(0));
  if (x.re.rank() < kAxes) return n.Fail("expected rank {} or more", kAxes);
  for (int i = kAxes; i >= 2; --i) x = AlongAxis(x, x.re.rank() - i, LengthAt(n, kAxes - i), true);
  const Term length = *LengthAt(n, kAxes - 1), bins = length / 2 + 1;
  x = {CutTo(x.re, bins), CutTo(x.im, bins)};
  return {RealInverse(x, length, bins)};
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
  const Term count(b, b.Int(length)), bins(b, b.Int(length / 2 + 1)), rows(b, b.Int(window));
  const Waves w = WavesOf(rows, bins, count, x.dtype());
  const Term re = Times(cut, w.cos), im = Times(cut, w.sin);
  const Term power = re * re + im * im;
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
