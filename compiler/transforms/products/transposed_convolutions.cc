#include "compiler/transforms/products/transposed_convolutions.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/problems.h"
#include "compiler/ir/rewrite.h"
#include "compiler/transforms/builder.h"

namespace relayvm::ir {
namespace {

using Sizes = std::vector<int64_t>;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Phases `first` to `first + count` of one axis, which have so many taps each.
struct Phases {
  int64_t first, count, taps;
};

// One spatial axis.
struct PhasedAxis {
  int64_t kernel, stride, dilation;         // a stride above 1 comes with dilation 1
  std::vector<Phases> phases;               // in order; those of most taps first
  int64_t pad_before = 0, pad_after = 0;    // of the convolution with most taps
  int64_t crop_before = 0, crop_after = 0;  // of the result, once its phases are in turn

  bool HasPhases() const { return stride > 1; }
  int64_t Taps() const { return phases.front().taps; }
};

PhasedAxis AxisOf(int64_t kernel, int64_t stride, int64_t dilation, int64_t before, int64_t after,
                  int64_t output_padding) {
  PhasedAxis axis{kernel, stride, dilation, {}};
  const int64_t taps = CeilDiv(kernel, stride), longer = kernel % stride;
  if (longer == 0 || taps == 1) {
    axis.phases = {{0, stride, taps}};
  } else {
    axis.phases = {{0, longer, taps}, {longer, stride - longer, taps - 1}};
  }
  // With as much padding as taps reach, the first row begins with phase 0 at position 0.
  const int64_t reach = (taps - 1) * dilation;
  const int64_t least = (axis.phases.back().taps - 1) * dilation;
  const int64_t rows_before = std::min(before / stride, least);
  axis.pad_before = reach - rows_before;
  axis.crop_before = before - rows_before * stride;
  const int64_t tail = taps * stride - kernel + after - output_padding;
  if (tail < 0) {
    const int64_t rows = CeilDiv(-tail, stride);
    axis.pad_after = reach + rows;
    axis.crop_after = rows * stride + tail;
  } else {
    const int64_t rows = std::min(tail / stride, reach);
    axis.pad_after = reach - rows;
    axis.crop_after = tail - rows * stride;
  }
  return axis;
}

class TransposedCallLowering {
 public:
  TransposedCallLowering(const Module& m, const Binding& binding, const OpCall& call,
                         std::vector<Binding>& out)
      : m_(m), binding_(binding), call_(call), out_(out), b_(m, binding.value->span, out) {}

  // False where the call stays; nothing is appended then.
  bool Run() {
    if (!call_.op->conv || !call_.op->conv->is_transposed || !Read()) return false;
    // What stands in its place computes nonsense, without an error, where the result would be
    // negative.
    KeepGuards(m_, call_, binding_.value->span, out_);
    Atom weight = PreparedWeight();
    // Results of all phases: those of the last axis are joined first.
    Atom y = Join(weight, 0, {});
    y = InTurn(y);
    y = Cropped(y);
    // The last step is the result.
    if (out_.size() == first_ || std::get<const Var*>(y) != out_.back().var) return Fail();
    out_.back().var = binding_.var;
    return true;
  }

 private:
  bool Fail() {
    out_.resize(first_);
    return false;
  }

  // --- What is asked for ---

  bool Read() {
    first_ = out_.size();
    auto problem = ConvOf(m_, call_);
    if (!problem) return false;
    g_ = *std::move(problem);
    if (g_.data_type != g_.kernel_type && !g_.kind.is_quantised) return false;
    if (g_.kind.is_quantised && !ReadZeroPoint()) return false;
    const std::string letters(g_.letters());
    if (g_.data.rank() != g_.spatial() + 2 || g_.kernel.rank() != g_.data.rank()) return false;
    if (!(g_.out == g_.data)) return false;
    if (!g_.kernel_in.is_const() || !g_.kernel_out.is_const()) return false;
    inputs_ = g_.kernel_in.value();
    outputs_ = g_.kernel_out.value();
    if (inputs_ < 1 || outputs_ < 1 || inputs_ % g_.groups != 0) return false;
    for (size_t s = 0; s < letters.size(); ++s) {
      if (!g_.kernel_extent[s].is_const() || g_.kernel_extent[s].value() < 1) return false;
      int64_t kernel = g_.kernel_extent[s].value(), dilation = g_.dilation[s];
      const int64_t before = g_.padding.before[s], after = g_.padding.after[s];
      constexpr int64_t kMost = int64_t{1} << 20;  // beyond it nobody means it
      for (int64_t n :
           {kernel, g_.strides[s], dilation, before + 1, after + 1, g_.output_padding[s] + 1}) {
        if (n < 1 || n > kMost) return false;
      }
      dilate_.push_back(g_.strides[s] > 1 ? dilation : 1);
      if (g_.strides[s] > 1) {
        kernel = (kernel - 1) * dilation + 1;
        dilation = 1;
      }
      axes_.push_back(AxisOf(kernel, g_.strides[s], dilation, before, after, g_.output_padding[s]));
    }
    // nn.dilate puts zeros between the taps.
    if (zero_point_ != 0 && std::ranges::any_of(dilate_, [](int64_t d) { return d > 1; }))
      return false;
    layout_ = g_.data.Axes();
    channel_ = layout_.find('C');
    is_last_ = channel_ + 1 == layout_.size();
    return true;
  }

  // The number that stands for a weight of 0: taps that are not there have it.
  bool ReadZeroPoint() {
    const auto* constant = std::get_if<const Constant*>(&call_.args[3]);
    if (constant == nullptr || (*constant)->value.size() != 1) return false;
    const HostTensor& value = (*constant)->value;
    if (value.dtype != DType::kInt32) return false;
    int32_t number = 0;
    std::memcpy(&number, value.data.data(), sizeof number);
    zero_point_ = number;
    return true;
  }

  size_t SpatialOf(char letter) const { return g_.letters().find(letter); }

  // --- Steps ---

  Atom Reshape(const Atom& a, const Sizes& shape) { return b_.Reshape(a, Ints(shape)); }
  Atom Transpose(const Atom& a, const Sizes& axes) {
    Sizes order(axes.size());
    std::iota(order.begin(), order.end(), int64_t{0});
    if (axes == order) return a;
    return b_.Transpose(a, axes);
  }
  static int64_t Product(const Sizes& values) {
    return std::accumulate(values.begin(), values.end(), int64_t{1}, std::multiplies<>());
  }

  // --- Weights ---

  // (inputs, outputs of a group, taps and phases of each axis in turn).
  Atom PreparedWeight() {
    const std::string letters(g_.letters());
    Sizes order;
    for (char letter : "IO" + letters) order.push_back(g_.kernel.Position(letter));
    Atom w = Transpose(call_.args[1], order);
    AttrList widths = {AttrList{0, 0}, AttrList{0, 0}};
    Sizes dilation = {1, 1};
    Sizes shape = {inputs_, outputs_};
    bool pads = false, dilates = false;
    for (size_t s = 0; s < axes_.size(); ++s) {
      const int64_t more = axes_[s].Taps() * axes_[s].stride - axes_[s].kernel;
      widths.push_back(AttrList{0, more});
      dilation.push_back(dilate_[s]);
      shape.push_back(axes_[s].Taps());
      shape.push_back(axes_[s].stride);
      pads = pads || more > 0;
      dilates = dilates || dilate_[s] > 1;
    }
    if (dilates) w = b_.Dilate(w, dilation);
    const DType dtype = g_.kernel_type;
    if (pads) w = b_.Pad(w, b_.Scalar(static_cast<double>(zero_point_), dtype), widths);
    return Reshape(w, shape);
  }

  // The weights of a plain convolution for one choice of phases on each axis.
  Atom WeightOf(Atom w, const std::vector<Phases>& chosen) {
    Sizes begin(2, 0), end = {inputs_, outputs_}, taps, counts;
    bool cuts = false;
    for (size_t s = 0; s < chosen.size(); ++s) {
      const Phases& p = chosen[s];
      begin.insert(begin.end(), {0, p.first});
      end.insert(end.end(), {p.taps, p.first + p.count});
      taps.push_back(p.taps);
      counts.push_back(p.count);
      cuts = cuts || p.taps != axes_[s].Taps() || p.count != axes_[s].stride;
    }
    if (cuts) {
      w = b_.Slice(w, begin, end);
    }
    for (size_t s = 0; s < chosen.size(); ++s) {
      if (taps[s] == 1) continue;
      w = b_.Reverse(w, static_cast<int64_t>(2 + 2 * s));
    }
    // (group, inputs of it, outputs of it, taps and phases): where each goes.
    Sizes shape = {g_.groups, inputs_ / g_.groups, outputs_};
    Sizes tap_axes, phase_axes;
    for (size_t s = 0; s < chosen.size(); ++s) {
      tap_axes.push_back(static_cast<int64_t>(shape.size()));
      phase_axes.push_back(tap_axes.back() + 1);
      shape.insert(shape.end(), {taps[s], counts[s]});
    }
    if (g_.groups > 1) w = Reshape(w, shape);
    const int64_t shift = g_.groups > 1 ? 0 : 1;  // without groups, that axis is not there
    Sizes order, channels;
    if (g_.groups > 1) channels.push_back(0);
    if (PhasesFirst()) channels.insert(channels.end(), phase_axes.begin(), phase_axes.end());
    channels.push_back(2);
    if (!PhasesFirst()) channels.insert(channels.end(), phase_axes.begin(), phase_axes.end());
    if (is_last_) {
      order = tap_axes;
      order.push_back(1);
      order.insert(order.end(), channels.begin(), channels.end());
    } else {
      order = channels;
      order.push_back(1);
      order.insert(order.end(), tap_axes.begin(), tap_axes.end());
    }
    for (int64_t& axis : order) axis -= shift;
    w = Transpose(w, order);
    const int64_t out = g_.groups * outputs_ * Product(counts);
    Sizes flat = is_last_ ? taps : Sizes{out, inputs_ / g_.groups};
    if (is_last_) {
      flat.insert(flat.end(), {inputs_ / g_.groups, out});
    } else {
      flat.insert(flat.end(), taps.begin(), taps.end());
    }
    return Reshape(w, flat);
  }

  // Channels of the convolution are (phases, outputs), else (outputs, phases).
  bool PhasesFirst() const { return is_last_ && g_.groups == 1; }

  // --- The convolutions ---

  // The data's dims with the phases of each axis that has them before or after the channels.
  Atom Convolution(const Atom& weight, const std::vector<Phases>& chosen) {
    const std::string letters(g_.letters());
    Sizes taps, counts, padding, after, dilation;
    for (size_t s = 0; s < chosen.size(); ++s) {
      taps.push_back(chosen[s].taps);
      counts.push_back(chosen[s].count);
      dilation.push_back(axes_[s].dilation);
      const int64_t fewer = (axes_[s].Taps() - chosen[s].taps) * axes_[s].dilation;
      padding.push_back(axes_[s].pad_before - fewer);
      after.push_back(axes_[s].pad_after);
    }
    padding.insert(padding.end(), after.begin(), after.end());
    Attrs attrs = AttrsOf({{"strides", Ints(Sizes(chosen.size(), 1))},
                           {"padding", Ints(padding)},
                           {"dilation", Ints(dilation)},
                           {"groups", g_.groups},
                           {"channels", g_.groups * outputs_ * Product(counts)},
                           {"kernel_size", Ints(taps)},
                           {"data_layout", layout_},
                           {"kernel_layout", is_last_ ? letters + "IO" : "OI" + letters}});
    if (auto dtype = call_.attrs.OptionalDType("out_dtype"))
      attrs.Set("out_dtype", std::string(DTypeName(*dtype)));
    std::vector<Atom> args = {call_.args[0], WeightOf(weight, chosen)};
    if (g_.kind.is_quantised) {
      // Scales do not count in the sums; those of channels would have to be one for each phase.
      const Atom one = b_.Scalar(1, DType::kFloat32);
      args.insert(args.end(), {call_.args[2], call_.args[3], one, one});
    }
    ConvClass plain = g_.kind;
    plain.is_transposed = false;
    Atom y = b_.Call(OperatorOf(plain), std::move(args), attrs);
    Sizes parts;
    for (size_t s = 0; s < chosen.size(); ++s) {
      if (axes_[s].HasPhases()) parts.push_back(counts[s]);
    }
    if (parts.empty()) return y;
    const int64_t outputs = g_.groups * outputs_;
    parts.insert(PhasesFirst() ? parts.end() : parts.begin(), outputs);
    // One part at a time leaves the channels.
    int64_t rest = Product(parts);
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      rest /= parts[i];
      Sizes shape(channel_ + i, 0);
      shape.insert(shape.end(), {-4, parts[i], rest});
      shape.resize(shape.size() + layout_.size() - channel_ - 1, 0);
      y = Reshape(y, shape);
    }
    return y;
  }

  // The position of an axis' phases in what Convolution gives.
  size_t PhaseAxis(size_t spatial) const {
    size_t at = channel_ + (PhasesFirst() ? 0 : 1);
    for (size_t s = 0; s < spatial; ++s) at += axes_[s].HasPhases() ? 1 : 0;
    return at;
  }

  Atom Join(const Atom& weight, size_t axis, std::vector<Phases> chosen) {
    if (axis == axes_.size()) return Convolution(weight, chosen);
    std::vector<Atom> parts;
    for (const Phases& phases : axes_[axis].phases) {
      chosen.push_back(phases);
      parts.push_back(Join(weight, axis + 1, chosen));
      chosen.pop_back();
    }
    if (parts.size() == 1) return parts[0];
    return b_.Concatenate(std::move(parts), static_cast<int64_t>(PhaseAxis(axis)));
  }

  // --- The result ---

  Atom InTurn(Atom y) {
    Sizes phase_axes;
    for (size_t s = 0; s < axes_.size(); ++s) {
      if (axes_[s].HasPhases()) phase_axes.push_back(static_cast<int64_t>(PhaseAxis(s)));
    }
    if (phase_axes.empty()) return y;
    // Where the data's axes are by now.
    const size_t channels_at = channel_ + (PhasesFirst() ? phase_axes.size() : 0);
    auto position = [&](size_t axis) {
      if (axis == channel_) return channels_at;
      return axis < channel_ ? axis : axis + phase_axes.size();
    };
    Sizes order, merged;
    for (size_t axis = 0; axis < layout_.size(); ++axis) {
      order.push_back(static_cast<int64_t>(position(axis)));
      const size_t spatial = SpatialOf(layout_[axis]);
      const bool has_phases = spatial < axes_.size() && axes_[spatial].HasPhases();
      if (has_phases) order.push_back(static_cast<int64_t>(PhaseAxis(spatial)));
      merged.push_back(has_phases ? -3 : 0);
    }
    return Reshape(Transpose(y, order), merged);
  }

  Atom Cropped(const Atom& y) {
    Sizes begin, end, axes;
    for (size_t axis = 0; axis < layout_.size(); ++axis) {
      const size_t spatial = SpatialOf(layout_[axis]);
      if (spatial >= axes_.size()) continue;
      const PhasedAxis& a = axes_[spatial];
      if (a.crop_before == 0 && a.crop_after == 0) continue;
      axes.push_back(static_cast<int64_t>(axis));
      begin.push_back(a.crop_before);
      end.push_back(a.crop_after == 0 ? std::numeric_limits<int32_t>::max() : -a.crop_after);
    }
    if (axes.empty()) return y;
    return b_.Slice(y, begin, end, axes);
  }

  const Module& m_;
  const Binding& binding_;
  const OpCall& call_;
  std::vector<Binding>& out_;
  BindingBuilder b_;
  size_t first_ = 0;        // binding of ours in out_
  int64_t zero_point_ = 0;  // of quantised weights
  ConvProblem g_;
  int64_t inputs_ = 0, outputs_ = 0;  // of the kernel: all, and of a group
  std::vector<PhasedAxis> axes_;
  Sizes dilate_;  // of each axis, by zeros in the kernel
  std::string layout_;
  size_t channel_ = 0;
  bool is_last_ = false;
};

}  // namespace

Module TransposedConvolutions(const Module& m) {
  return RewriteModule(m, [&](const Binding& b, std::vector<Binding>& out) {
    const auto* call = b.value->As<OpCall>();
    if (call == nullptr || !TransposedCallLowering(m, b, *call, out).Run()) out.push_back(b);
  });
}

}  // namespace relayvm::ir
