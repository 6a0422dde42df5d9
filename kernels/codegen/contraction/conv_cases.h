// Convolutions as cases of kernels, for tests of contractions.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "kernels/codegen/contraction/harness.h"

namespace relayvm {

enum class Around { kNothing, kBiasReluResidual, kPrologue, kWidthOnly };

struct Conv {
  std::vector<int64_t> input;
  int64_t in_channels = 1, out_channels = 1, groups = 1;
  std::vector<int64_t> kernel, stride, padding, dilation;
  bool channels_last = false;
  std::string kernel_layout;  // empty: the usual one
  DType in = DType::kFloat32, out = DType::kFloat32;
  int64_t batch = 1;
  Around around = Around::kNothing;
  bool symbolic = false;
  std::optional<DType> weight;  // none: as `in`
};

inline AttrList List(const std::vector<int64_t>& values) {
  return AttrList(values.begin(), values.end());
}

// The convolution with what is around it; the extents of its symbols go to `symbols`.
inline KernelSpec SpecOf(const Conv& c, SymbolValues& symbols) {
  const size_t spatial = c.input.size();
  const std::string letters = std::string("DHW").substr(3 - spatial);
  const std::string layout = c.channels_last ? "N" + letters + "C" : "NC" + letters;
  std::string kernel_layout = c.kernel_layout;
  if (kernel_layout.empty()) kernel_layout = c.channels_last ? letters + "IO" : "OI" + letters;

  auto extent = [&](uint32_t id, int64_t value) -> Dim {
    if (!c.symbolic) return value;
    symbols[id] = value;
    return Dim::Symbol(id, "s" + std::to_string(id));
  };
  const Dim batch = extent(1, c.batch);
  std::vector<Dim> in_space, out_space;
  for (size_t s = 0; s < spatial; ++s) {
    in_space.push_back(extent(static_cast<uint32_t>(2 + s), c.input[s]));
    const int64_t window = (c.kernel[s] - 1) * c.dilation[s] + 1;
    out_space.push_back(Dim::FloorDiv(in_space[s] + (2 * c.padding[s] - window), c.stride[s]) + 1);
  }
  auto shape = [&](const std::vector<Dim>& space, int64_t channels) {
    std::vector<Dim> result = {batch};
    if (!c.channels_last) result.push_back(channels);
    result.insert(result.end(), space.begin(), space.end());
    if (c.channels_last) result.push_back(channels);
    return result;
  };
  std::vector<Dim> kernel_shape;
  // OI...8o
  const size_t digits = kernel_layout.find_first_of("0123456789");
  const int64_t packed = digits == std::string::npos ? 1 : std::stoll(kernel_layout.substr(digits));
  for (char letter : kernel_layout) {
    if (letter >= '0' && letter <= '9') continue;
    if (letter == 'o') {
      kernel_shape.push_back(packed);
    } else if (letter == 'O') {
      kernel_shape.push_back(c.out_channels / packed);
    } else if (letter == 'I') {
      kernel_shape.push_back(c.in_channels / c.groups);
    } else {
      kernel_shape.push_back(c.kernel[letters.find(letter)]);
    }
  }
  Attrs attrs;
  attrs.Set("strides", List(c.stride));
  attrs.Set("padding", List(c.padding));
  attrs.Set("dilation", List(c.dilation));
  attrs.Set("groups", c.groups);
  attrs.Set("data_layout", layout);
  attrs.Set("kernel_layout", kernel_layout);
  attrs.Set("out_dtype", std::string(DTypeName(c.out)));
  std::vector<te::Tensor> in = {Input(shape(in_space, c.in_channels), 0, c.in),
                                Input(kernel_shape, 1, c.weight.value_or(c.in))};
  const std::vector<Dim> out_shape = shape(out_space, c.out_channels);
  const te::Tensor data = c.around == Around::kPrologue ? Relu(in[0]) : in[0];
  te::Tensor t = Apply(fmt::format("nn.conv{}d", spatial), attrs, {data, in[1]}, out_shape, c.out);
  if (c.around == Around::kBiasReluResidual) {
    in.push_back(Input({c.out_channels}, 2, c.out));
    in.push_back(Input(out_shape, 3, c.out));
    t = AddTensor(Relu(AddBias(t, in[2], c.channels_last ? spatial + 1 : 1)), in[3]);
  } else if (c.around == Around::kWidthOnly) {
    // Varies along the width alone, so that pixels cannot be one axis.
    in.push_back(Input({out_space.back()}, 2, c.out));
    t = AddBias(t, in[2], c.channels_last ? spatial : spatial + 1);
  }
  const std::string name =
      fmt::format("conv_{}_{}_{}x{}_k{}_s{}_p{}_d{}_g{}_{}_{}_{}{}", layout, kernel_layout,
                  c.in_channels, c.out_channels, c.kernel.back(), c.stride.back(), c.padding.back(),
                  c.dilation.back(), c.groups, DTypeName(c.weight.value_or(c.in)), DTypeName(c.out),
                  static_cast<int>(c.around), c.symbolic ? "_symbolic" : "");
  return Spec(name, in, {t});
}

// `sizes`: further extents of a symbolic convolution's input that its kernel is checked with.
inline void AddTo(ContractionCases& cases, const Conv& c,
                  const std::vector<std::vector<int64_t>>& sizes = {}) {
  SymbolValues symbols;
  const KernelSpec spec = SpecOf(c, symbols);
  std::vector<SymbolValues> values = {symbols};
  for (const std::vector<int64_t>& size : sizes) {
    for (size_t i = 0; i < size.size(); ++i) symbols[static_cast<uint32_t>(2 + i)] = size[i];
    values.push_back(symbols);
  }
  cases.Add(spec, values);
}

// Each form, in both layouts, with what may stand around it, static and symbolic in turn.
inline void AddEverywhere(ContractionCases& cases, Conv c) {
  bool symbolic = false;
  for (bool last : {false, true}) {
    for (Around around :
         {Around::kNothing, Around::kBiasReluResidual, Around::kPrologue, Around::kWidthOnly}) {
      c.channels_last = last;
      c.around = around;
      c.symbolic = symbolic = !symbolic;
      c.batch = around == Around::kNothing ? 1 : 2;
      AddTo(cases, c);
    }
  }
}

}  // namespace relayvm
