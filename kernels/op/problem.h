// What a call computes, where that is a convolution or a product of matrices: a value of numbers
// and types, read from the attributes once. Passes, costs, packing and the planner of kernels take
// these, and ask for no operator's name; who writes such a call asks OperatorOf for it.
//
//   convolution   data of the axes NC and space, a kernel of OI and space, each in any Layout
//   product       data (..., k) or (b, m, k), weight (k, n) or (b, k, n); either transposed
//
// Stateless. Tested by problem_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/op/layouts.h"
#include "kernels/op/nn_helpers.h"
#include "kernels/op/op.h"

namespace relayvm {

// What the attributes of a convolution say.
struct ConvForm {
  ConvClass kind;
  Layout data, kernel, out;
  std::vector<int64_t> strides, dilation;  // one a spatial axis, as all lists are
  std::vector<int64_t> output_padding;     // of transposed ones
  nn::Padding padding;
  int64_t groups = 1;
  int64_t winograd_tile = 0;  // not 0: the kernel is transformed (winograd.h), and has no layout

  int spatial() const { return kind.spatial; }
  std::string_view letters() const { return nn::SpatialLetters(spatial()); }
  // Whether data and result are in NC and space, or in N, space and C, without blocks.
  bool is_channels_first() const { return HasData("NC" + std::string(letters())); }
  bool is_channels_last() const { return HasData("N" + std::string(letters()) + "C"); }
  // The kernel's usual layout beside such data: OI and space, or space and IO.
  std::string UsualKernel() const;
  bool has_usual_kernel() const { return kernel.ToString() == UsualKernel(); }
  // Strides and dilation of 1.
  bool is_dense() const;
  bool is_padded() const;

 private:
  bool HasData(const std::string& layout) const { return data.ToString() == layout && out == data; }
};

// And its operands' sizes and types.
struct ConvProblem : ConvForm {
  Dim batch, in_channels, out_channels;
  Dim kernel_out, kernel_in;  // the kernel's O and I
  std::vector<Dim> in_extent, kernel_extent, out_extent;
  // Output channel o reads input channel o / I alone: O is groups, and I > 1.
  bool has_multiplier = false;
  DType data_type = DType::kFloat32, kernel_type = DType::kFloat32, sum_type = DType::kFloat32;

  bool is_depthwise() const { return groups > 1 && (has_multiplier || kernel_in.is_const(1)); }
  bool has_window(int64_t extent) const;                // on all axes
  Dim pixels() const { return ProductOf(out_extent); }  // of a result's image
};

struct ProductProblem {
  ProductClass kind;
  bool transpose_a = false, transpose_b = false;
  Dim depth, units;             // k, n
  int64_t bits = 0, block = 0;  // kind.has_blocks: of a number; numbers that share a scale
  DType data_type = DType::kFloat32, weight_type = DType::kFloat32, sum_type = DType::kFloat32;
};

// The error names the attribute that is wrong.
Result<ConvProblem> ReadConv(ConvClass kind, const Attrs& attrs, const TensorType& data,
                             const TensorType& kernel);
// nullopt for other operators. REQUIRES: the types are those of a call that type inference took.
std::optional<ConvProblem> ConvOf(const OpDef& op, const Attrs& attrs, const TensorType& data,
                                  const TensorType& kernel);
std::optional<ProductProblem> MatrixProductOf(const OpDef& op, const Attrs& attrs,
                                              const TensorType& data, const TensorType& weight);
// A convolution whose windows are of one pixel, at every pixel, channels last: a product of each
// pixel's channels.
std::optional<ProductProblem> MatrixProductOf(const ConvProblem& conv);

// The operators of these kinds.
std::string OperatorOf(const ConvClass& kind);
std::string_view OperatorOf(const ProductClass& kind);
// The operator that takes a constant weight as PackWeight gives it, and those of its attributes
// that say how; nullopt where there is none.
struct NamedCall {
  std::string_view op;
  Attrs attrs;
};
std::optional<NamedCall> PackedProduct(const ProductProblem& product, const WeightForm& form);
// The convolution whose kernel Winograd's transforms have made (winograd.h).
NamedCall WinogradConvolution(const ConvProblem& conv, int64_t tile);

}  // namespace relayvm
