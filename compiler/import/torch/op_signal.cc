// Fourier transforms, short ones over time and back, windows. See composite/fourier.h.
#include <cmath>
#include <numbers>

#include "compiler/import/composite/fourier.h"
#include "compiler/import/composite/from_windows.h"
#include "compiler/import/composite/padding.h"
#include "compiler/import/torch/complex.h"
#include "compiler/import/torch/nn_tables.h"

namespace relayvm::import::torch {

namespace {

// --- Numbers with their parts along a last axis of 1 (real) or 2 ---

Term WithParts(const Call& n, const Argument& a) {
  const DType own = a.value.dtype();
  const Term x(n, n.b().Cast(a.value, own == DType::kFloat64 ? own : DType::kFloat32));
  return a.complex ? x : x.Expand(x.rank());
}
bool IsRealOnly(const Term& x) { return x.value().dim(-1).is_const(1); }
Argument AsComplex(const Term& x) {
  Argument a(x.value());
  a.complex = true;
  return a;
}
Argument AsReal(const Term& x) { return x.b().Squeeze(x, {x.rank() - 1}); }
Term Conjugated(const Term& x) {
  TypedBuilder& b = x.b();
  const int last = x.rank() - 1;
  if (IsRealOnly(x)) return x;
  return {b, b.Concat({x.Slice(last, 0, 1), -x.Slice(last, 1, 2)}, last)};
}

// An axis cut, or filled with zeros, to that length (rank 0).
Term Fitted(const Term& x, int axis, const Term& length) {
  TypedBuilder& b = x.b();
  const Term extent = Extent(b, x, axis);
  if (const auto same = b.Elements(length); same && (*same)[0] == x.value().dim(axis)) return x;
  const Term place = Range(length);
  const Term taken = x.Take(Minimum(place, extent - 1), axis);
  return Select(Along(place < extent, axis, x.rank()), taken, x.Number(0));
}

// What a transform of that length is multiplied by. FourierTransform divides inverse ones.
Term ByNorm(const Term& y, const Term& length, const std::string& norm, bool inverse) {
  const Term size = length.As(y.dtype());
  if (norm == "ortho") return inverse ? y * Sqrt(size) : y / Sqrt(size);
  if (norm == "forward") return inverse ? y * size : y / size;
  return y;
}

// x (.., parts) along an axis of the others.
Term ComplexTransform(const Term& x, int axis, const Term& length, const std::string& norm,
                      bool inverse, bool onesided) {
  const int rank = x.rank();
  if (rank < 2) return x;  // after an error
  const Term in = Fitted(x, axis, length).Transpose(AxisMoved(rank, axis, rank - 2));
  const Term y = FourierTransform(in, length, OneSidedBins(length, onesided), inverse);
  return ByNorm(y.Transpose(AxisMoved(rank, rank - 2, axis)), length, norm, inverse);
}
// To real numbers, (.., 1). REQUIRES: two parts.
Term RealTransform(const Term& x, int axis, const Term& length, const std::string& norm) {
  const int rank = x.rank();
  if (rank < 2) return x;  // after an error
  const Term bins = OneSidedBins(length, true);
  const Term in = Fitted(x, axis, bins).Transpose(AxisMoved(rank, axis, rank - 2));
  const Term y = RealFourierInverse(in, length, bins);
  return ByNorm(y.Transpose(AxisMoved(rank, rank - 2, axis)), length, norm, true);
}

std::string NormOf(const Call& n) {
  const std::string norm = n.String("norm", "backward");
  if (norm != "backward" && norm != "ortho" && norm != "forward")
    n.Fail("norm: expected backward, ortho or forward, found '{}'", norm);
  return norm;
}
// Of a transform from real numbers to real ones the other way around.
std::string OtherNorm(const std::string& norm) {
  return norm == "backward" ? "forward" : norm == "forward" ? "backward" : norm;
}

enum class Fourier : uint8_t {
  kForward,
  kInverse,
  kReal,
  kRealInverse,
  kHermitian,
  kHermitianInverse
};

Term AsPair(const Term& x) {
  TypedBuilder& b = x.b();
  return IsRealOnly(x) ? Term(b, b.Concat({x, x * 0.0}, x.rank() - 1)) : x;
}

// Over axes in turn, the last one first: of what is real it is the half one.
Results TransformOver(const Call& n, Fourier kind, const std::vector<int>& axes,
                      const std::vector<std::optional<Term>>& lengths, const std::string& norm) {
  TypedBuilder& b = n.b();
  Term x = WithParts(n, n.Arg(size_t{0}));
  if (!b.status().ok() || axes.empty()) return {};
  if (x.rank() < 2) return n.Fail("expected an axis, found a tensor of rank 0");
  const auto length = [&](size_t i) { return lengths[i] ? *lengths[i] : Extent(b, x, axes[i]); };
  const size_t last = axes.size() - 1;
  const bool inverse = kind == Fourier::kInverse || kind == Fourier::kRealInverse;
  if (kind == Fourier::kReal || kind == Fourier::kHermitianInverse) {
    const bool hermitian = kind == Fourier::kHermitianInverse;
    if (!IsRealOnly(x)) return n.Fail("expected real numbers");
    x = ComplexTransform(x, axes[last], length(last), hermitian ? OtherNorm(norm) : norm, false,
                         true);
    if (hermitian) x = Conjugated(x);
    for (size_t i = last; i-- > 0;)
      x = ComplexTransform(x, axes[i], length(i), norm, hermitian, false);
    return {AsComplex(x)};
  }
  if (kind == Fourier::kForward || kind == Fourier::kInverse) {
    for (size_t i = axes.size(); i-- > 0;)
      x = ComplexTransform(x, axes[i], length(i), norm, inverse, false);
    return {AsComplex(AsPair(x))};
  }
  x = AsPair(x);
  const Term size = lengths[last] ? *lengths[last] : (Extent(b, x, axes[last]) - 1) * 2;
  const bool hermitian = kind == Fourier::kHermitian;
  for (size_t i = 0; i < last; ++i)
    x = ComplexTransform(x, axes[i], length(i), norm, !hermitian, false);
  if (hermitian) x = Conjugated(x);
  return {AsReal(RealTransform(x, axes[last], size, hermitian ? OtherNorm(norm) : norm))};
}

int SignalRank(const Argument& a) { return a.value.rank() - (a.complex ? 1 : 0); }

template <Fourier kKind>
Results FftOne(Call& n) {
  const int axis = n.Axis("dim", SignalRank(n.Arg(size_t{0})), -1);
  std::optional<Term> length;
  if (n.Has("n")) length = Term(n, n.SymInt("n"));
  return TransformOver(n, kKind, {axis}, {length}, NormOf(n));
}
template <Fourier kKind>
Results FftMany(Call& n) {
  const int rank = SignalRank(n.Arg(size_t{0}));
  std::vector<std::optional<Term>> lengths;
  for (const Value& v : n.SymInts("s")) {
    const auto known = n.b().ConstantInts(v);
    lengths.push_back(known && (*known)[0] == -1 ? std::nullopt : std::optional(Term(n, v)));
  }
  std::vector<int> axes;
  if (n.Has("dim")) {
    for (const int64_t axis : n.Ints("dim")) axes.push_back(AxisIn(n, axis, rank));
  } else {
    const int count = lengths.empty() ? rank : static_cast<int>(lengths.size());
    for (int i = 0; i < count; ++i) axes.push_back(rank - count + i);
  }
  if (lengths.empty()) lengths.resize(axes.size());
  if (lengths.size() != axes.size()) return n.Fail("s and dim differ in length");
  return TransformOver(n, kKind, axes, lengths, NormOf(n));
}

// What decomposed graphs have: axes, 0 no factor, 1 1/sqrt(n), 2 1/n.
std::string NormByNumber(int64_t number, bool inverse) {
  if (number == 1) return "ortho";
  return (number == 2) == inverse ? "backward" : "forward";
}
template <Fourier kKind>
Results FftRaw(Call& n) {
  const int rank = SignalRank(n.Arg(size_t{0}));
  std::vector<int> axes;
  for (const int64_t axis : n.Ints("dim")) axes.push_back(AxisIn(n, axis, rank));
  std::vector<std::optional<Term>> lengths(axes.size());
  const bool inverse = kKind == Fourier::kRealInverse || !n.Bool("forward", true);
  const std::string norm = NormByNumber(n.Int("normalization"), inverse);
  if (axes.empty()) return n.Fail("dim: expected an axis");
  if (kKind == Fourier::kRealInverse) lengths.back() = Term(n, n.SymInt("last_dim_size"));
  const Fourier kind = kKind == Fourier::kForward && inverse ? Fourier::kInverse : kKind;
  if (kKind == Fourier::kReal && !n.Bool("onesided", true))
    return TransformOver(n, Fourier::kForward, axes, lengths, norm);
  return TransformOver(n, kind, axes, lengths, norm);
}

template <bool kInverse>
Results FftShift(Call& n) {
  TypedBuilder& b = n.b();
  const Argument& a = n.Arg(size_t{0});
  Term x(n, a.value);
  std::vector<int64_t> axes = n.Axes("dim", SignalRank(a));
  for (const int64_t axis : axes) {
    const int at = static_cast<int>(axis);
    const Term extent = Extent(b, x, at);
    const Term half = (kInverse ? extent : extent + 1).Call("floor_divide", b.Int(2));
    x = x.Take((Range(extent) + half).Call("floor_mod", extent), at);
  }
  Argument out(x.value());
  out.complex = a.complex;
  return {out};
}
template <bool kReal>
Results FftFrequencies(Call& n) {
  const int64_t count = n.Int("n", 1);
  const double step = static_cast<double>(count) * n.Float("d", 1);
  if (count < 1 || count > (1 << 24)) return n.Fail("n: {} is out of range", count);
  std::vector<double> out;
  const int64_t half = (count + 1) / 2;
  for (int64_t i = 0; i < (kReal ? count / 2 + 1 : count); ++i)
    out.push_back(static_cast<double>(kReal || i < half ? i : i - count) / step);
  const auto size = static_cast<int64_t>(out.size());
  return {import::Table(n, out, {size}, DType::kFloat64).As(n.Dtype().value_or(DType::kFloat32))};
}

// --- Short transforms over time ---

struct Frames {
  int64_t size, step;
  Term window;  // of `size` numbers
};
std::optional<Frames> ReadFrames(const Call& n, DType dtype) {
  TypedBuilder& b = n.b();
  const int64_t size = n.Int("n_fft", 1), step = n.Int("hop_length", size / 4),
                length = n.Int("win_length", size);
  if (!b.status().ok()) return std::nullopt;
  if (size < 1 || size > (1 << 24) || step < 1 || length < 1 || length > size)
    return n.Fail(
        "expected n_fft, hop_length and win_length above 0, and no window longer than n_fft");
  Term window(b, b.Full({length}, 1, dtype));
  if (n.Has("window")) window = Term(n, n.Tensor("window")).As(dtype);
  if (window.rank() != 1) return n.Fail("window: expected rank 1");
  const int64_t before = (size - length) / 2;
  const auto padded =
      Padded(b, window, {{before, size - length - before}}, {.fill = Like(b, window, 0)});
  if (!padded) return std::nullopt;
  return Frames{size, step, Term(b, *padded)};
}

Results Stft(Call& n) {
  TypedBuilder& b = n.b();
  Term x = WithParts(n, n.Arg(size_t{0}));
  const bool alone = x.rank() == 2;
  if (alone) x = x.Expand(0);
  if (x.rank() != 3) return n.Fail("expected a signal of rank 1 or 2");
  const auto frames = ReadFrames(n, x.dtype());
  if (!frames) return {};
  const int64_t half = frames->size / 2;
  if (n.schema().Find("center") >= 0 && n.Bool("center", true)) {
    const std::string mode = n.String("pad_mode", "reflect");
    const auto padded = Padded(b, x, {{0, 0}, {half, half}, {0, 0}},
                               {.fill = Like(b, x, 0),
                                .mode = mode == "replicate"  ? "edge"
                                        : mode == "circular" ? "wrap"
                                                             : mode});
    if (!padded) return {};
    x = Term(b, *padded);
  }
  const Term size(b, b.Int(frames->size));
  const Term count = (Extent(b, x, 1) - size).Call("floor_divide", b.Int(frames->step)) + 1;
  const Term places = Range(count).Expand(1) * static_cast<double>(frames->step) + Range(size);
  const Term cut = x.Take(places, 1) * frames->window.Expand(1);  // (batch, frames, size, parts)
  const bool onesided = n.Bool("onesided", IsRealOnly(x));
  Term y = FourierTransform(cut, size, OneSidedBins(size, onesided), false);
  if (n.Bool("normalized")) y = y * (1 / std::sqrt(static_cast<double>(frames->size)));
  y = y.Transpose({0, 2, 1, 3});
  if (alone) y = Term(b, b.Squeeze(y, {0}));
  return {n.Bool("return_complex") ? AsComplex(y) : Argument(y)};
}

// Windows (batch, size, count) where they overlap, one each step.
std::optional<Value> Overlapped(const Term& x, const Frames& frames) {
  TypedBuilder& b = x.b();
  const Term total =
      (Extent(b, x, 2) - 1) * static_cast<double>(frames.step) + static_cast<double>(frames.size);
  return Folded(x, {b, total.Reshape({1}).value(), "the signal's length"},
                {b, b.Ints({frames.size}), "n_fft"},
                {.strides = {frames.step}, .dilations = {1}, .pads = {0, 0}});
}

Results InverseStft(Call& n) {
  TypedBuilder& b = n.b();
  const Argument& given = n.Arg(size_t{0});
  Term x(n, given.value);
  if (!given.complex && !x.value().dim(-1).is_const(2)) return n.Fail("expected complex numbers");
  const bool alone = x.rank() == 3;
  if (alone) x = x.Expand(0);
  if (x.rank() != 4) return n.Fail("expected rank 2 or 3");
  const auto frames = ReadFrames(n, x.dtype());
  if (!frames) return {};
  const Term size(b, b.Int(frames->size));
  x = x.Transpose({0, 2, 1, 3});  // (batch, frames, bins, 2)
  const Dim bins = x.value().dim(2);
  const bool onesided = n.Bool("onesided", !bins.is_const(frames->size) || frames->size == 1);
  Term y = onesided ? RealFourierInverse(x, size, OneSidedBins(size, true))
                    : FourierTransform(x, size, size, true);
  if (!onesided && !n.Bool("return_complex")) y = y.Slice(3, 0, 1);
  const bool complex = n.Bool("return_complex");
  if (complex && onesided) return n.Fail("return_complex of a one-sided transform");
  if (n.Bool("normalized")) y = y * std::sqrt(static_cast<double>(frames->size));
  // Parts of complex numbers by themselves, one behind the other.
  y = complex ? Term(b, ShapedAs(b, y.Transpose({3, 0, 1, 2}),
                                 {b.Ints({-1}), b.DimOf(y, 1), b.DimOf(y, 2)}))
              : Term(b, b.Squeeze(y, {3}));
  y = (y * frames->window).Transpose({0, 2, 1});
  const Term square = (frames->window * frames->window).Reshape({1, frames->size, 1});
  const Term envelopes(
      b, BroadcastTo(b, square, b.Concat({b.Ints({1, frames->size}), b.DimOf(y, 2)}, 0)));
  const auto sum = Overlapped(y, *frames), weight = Overlapped(envelopes, *frames);
  if (!sum || !weight) return {};
  Term signal = Term(b, *sum) / Term(b, *weight);
  signal = Term(b, b.Squeeze(signal, {1}));  // one channel
  const Term total = Extent(b, signal, 1);
  const int64_t start = n.Bool("center", true) ? frames->size / 2 : 0;
  Term end = total - static_cast<double>(start);
  if (n.Has("length")) {
    const Term length(n, n.SymInt("length"));
    end = Minimum(length + static_cast<double>(start), total);
    signal = Term(b, Sliced(b, signal, 1, b.Int(start), end));
    signal = Fitted(signal, 1, length);
  } else {
    signal = Term(b, Sliced(b, signal, 1, b.Int(start), end));
  }
  if (complex) {
    const Term parts(b, ShapedAs(b, signal, {b.Ints({2, -1}), b.DimOf(signal, 1)}));
    signal = parts.Transpose({1, 2, 0});
  }
  if (alone) signal = Term(b, b.Squeeze(signal, {0}));
  return {complex ? AsComplex(signal) : Argument(signal)};
}

// --- Windows ---

template <typename At>
Results WindowBy(const Call& n, const At& at) {
  const int64_t length = n.Int("window_length");
  if (length < 0 || length > (1 << 24)) return n.Fail("window_length: {} is out of range", length);
  const double steps = static_cast<double>(length - (n.Bool("periodic", true) ? 0 : 1));
  std::vector<double> out;
  for (int64_t i = 0; i < length; ++i)
    out.push_back(length == 1 ? 1 : at(static_cast<double>(i) / steps));
  return {import::Table(n, out, {length}, DType::kFloat64).As(n.Dtype().value_or(DType::kFloat32))};
}
Results Cosines(const Call& n, double a0, double a1, double a2) {
  if (!n.KnownInt("window_length"))
    return {WindowOfCosines({n, n.SymInt("window_length")}, n.Bool("periodic", true), a0, a1, a2)
                .As(n.Dtype().value_or(DType::kFloat32))};
  return WindowBy(n, [&](double part) {
    const double turn = 2 * std::numbers::pi * part;
    return a0 - a1 * std::cos(turn) + a2 * std::cos(2 * turn);
  });
}
Results HannWindow(Call& n) { return Cosines(n, 0.5, 0.5, 0); }
Results HammingWindow(Call& n) {
  return Cosines(n, n.Float("alpha", 0.54), n.Float("beta", 0.46), 0);
}
Results BlackmanWindow(Call& n) { return Cosines(n, 0.42, 0.5, 0.08); }
Results BartlettWindow(Call& n) {
  return WindowBy(n, [](double part) { return 1 - std::abs(2 * part - 1); });
}
Results KaiserWindow(Call& n) {
  const double beta = n.Float("beta", 12);
  return WindowBy(n, [&](double part) {
    const double side = 2 * part - 1;
    return std::cyl_bessel_i(0.0, beta * std::sqrt(std::max(0.0, 1 - side * side))) /
           std::cyl_bessel_i(0.0, beta);
  });
}

constexpr OperatorDef kSignalOperators[] = {
    {"aten::fft_fft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
     FftOne<Fourier::kForward>, Takes::kComplex},
    {"aten::fft_ifft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
     FftOne<Fourier::kInverse>, Takes::kComplex},
    {"aten::fft_rfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
     FftOne<Fourier::kReal>, Takes::kComplex},
    {"aten::fft_irfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
     FftOne<Fourier::kRealInverse>, Takes::kComplex},
    {"aten::fft_hfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
     FftOne<Fourier::kHermitian>, Takes::kComplex},
    {"aten::fft_ihfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
     FftOne<Fourier::kHermitianInverse>, Takes::kComplex},
    {"aten::fft_fft2(Tensor self, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> "
     "Tensor",
     FftMany<Fourier::kForward>, Takes::kComplex},
    {"aten::fft_ifft2(Tensor self, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None) "
     "-> Tensor",
     FftMany<Fourier::kInverse>, Takes::kComplex},
    {"aten::fft_rfft2(Tensor self, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None) "
     "-> Tensor",
     FftMany<Fourier::kReal>, Takes::kComplex},
    {"aten::fft_irfft2(Tensor self, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None) "
     "-> Tensor",
     FftMany<Fourier::kRealInverse>, Takes::kComplex},
    {"aten::fft_hfft2(Tensor self, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None) "
     "-> Tensor",
     FftMany<Fourier::kHermitian>, Takes::kComplex},
    {"aten::fft_ihfft2(Tensor self, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None) "
     "-> Tensor",
     FftMany<Fourier::kHermitianInverse>, Takes::kComplex},
    {"aten::fft_fftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> "
     "Tensor",
     FftMany<Fourier::kForward>, Takes::kComplex},
    {"aten::fft_ifftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> "
     "Tensor",
     FftMany<Fourier::kInverse>, Takes::kComplex},
    {"aten::fft_rfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> "
     "Tensor",
     FftMany<Fourier::kReal>, Takes::kComplex},
    {"aten::fft_irfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> "
     "Tensor",
     FftMany<Fourier::kRealInverse>, Takes::kComplex},
    {"aten::fft_hfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> "
     "Tensor",
     FftMany<Fourier::kHermitian>, Takes::kComplex},
    {"aten::fft_ihfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> "
     "Tensor",
     FftMany<Fourier::kHermitianInverse>, Takes::kComplex},
    {"aten::_fft_c2c(Tensor self, int[] dim, int normalization, bool forward) -> Tensor",
     FftRaw<Fourier::kForward>, Takes::kComplex},
    {"aten::_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
     FftRaw<Fourier::kReal>, Takes::kComplex},
    {"aten::_fft_c2r(Tensor self, int[] dim, int normalization, int last_dim_size) -> "
     "Tensor",
     FftRaw<Fourier::kRealInverse>, Takes::kComplex},
    {"aten::fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor", FftShift<false>,
     Takes::kComplex},
    {"aten::fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor", FftShift<true>,
     Takes::kComplex},
    {"aten::fft_fftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     FftFrequencies<false>},
    {"aten::fft_rfftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     FftFrequencies<true>},
    {"aten::stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, "
     "Tensor? window=None, bool normalized=False, bool? onesided=None, bool? "
     "return_complex=None, bool? align_to_window=None) -> Tensor",
     Stft, Takes::kComplex},
    {"aten::stft.center(Tensor self, int n_fft, int? hop_length=None, int? "
     "win_length=None, Tensor? window=None, bool center=True, str pad_mode=\"reflect\", "
     "bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? "
     "align_to_window=None) -> Tensor",
     Stft, Takes::kComplex},
    {"aten::istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, "
     "Tensor? window=None, bool center=True, bool normalized=False, bool? onesided=None, "
     "int? length=None, bool return_complex=False) -> Tensor",
     InverseStft, Takes::kComplex},
    {"aten::hann_window(int window_length, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     HannWindow},
    {"aten::hann_window.periodic(int window_length, bool periodic, *, ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
     "Tensor",
     HannWindow},
    {"aten::hamming_window(int window_length, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     HammingWindow},
    {"aten::hamming_window.periodic(int window_length, bool periodic, *, ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
     "Tensor",
     HammingWindow},
    {"aten::hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, "
     "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor",
     HammingWindow},
    {"aten::hamming_window.periodic_alpha_beta(int window_length, bool periodic, float "
     "alpha, float beta, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor",
     HammingWindow},
    {"aten::blackman_window(int window_length, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     BlackmanWindow},
    {"aten::blackman_window.periodic(int window_length, bool periodic, *, ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
     "Tensor",
     BlackmanWindow},
    {"aten::bartlett_window(int window_length, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     BartlettWindow},
    {"aten::bartlett_window.periodic(int window_length, bool periodic, *, ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
     "Tensor",
     BartlettWindow},
    {"aten::kaiser_window(int window_length, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     KaiserWindow},
    {"aten::kaiser_window.periodic(int window_length, bool periodic, *, ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
     "Tensor",
     KaiserWindow},
    {"aten::kaiser_window.beta(int window_length, bool periodic, float beta, *, "
     "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor",
     KaiserWindow},
};

}  // namespace

OperatorTable SignalOperators() { return kSignalOperators; }

}  // namespace relayvm::import::torch
