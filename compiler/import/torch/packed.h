// Weights that PyTorch packs: what the states of its classes hold. Tested by
// op_quantised_test.cc.
#pragma once

#include <optional>

#include "compiler/import/composite/window.h"
#include "compiler/import/torch/quantised.h"

namespace relayvm::import::torch {

struct PackedLinear {
  Argument weight;  // (out, in), quantised or not
  Value bias;       // may be none
};
struct PackedConv {
  Argument weight;  // (out, in / groups, spatial..), transposed ones (in, out / groups, spatial..)
  Value bias;
  Window window;
  std::vector<int64_t> output_padding;
  int64_t groups = 1;
  bool transposed = false;
};

// Of argument `name`; nullopt with an error.
std::optional<PackedLinear> ReadPackedLinear(const Call& n, std::string_view name);
std::optional<PackedConv> ReadPackedConv(const Call& n, std::string_view name);
// The same of an object.
std::optional<PackedLinear> PackedLinearOf(const Call& n, const Argument& object);

// Objects that the readers read, as calls that pack make them.
Argument MakePackedLinear(Argument weight, Argument bias);
Argument MakePackedConv(Argument weight, Argument bias, const std::vector<int64_t>& strides,
                        const std::vector<int64_t>& padding, const std::vector<int64_t>& dilations,
                        const std::vector<int64_t>& output_padding, int64_t groups,
                        bool transposed);

// (out, ..) int8 weights, per tensor or per channel, by x in uint8: the sum of their products (and
// the bias) in the output's scale. `relu`: what is less than 0 is 0.
struct QuantisedSum {
  Term sum;     // int32
  Term factor;  // what a sum stands for: the scales' product, along `axis`
  int axis;     // of the output's channels
};
// y = sum * factor + bias as numbers.
Term NumbersOfSum(const QuantisedSum& s, const Value& bias);
Argument QuantisedOutput(const QuantisedSum& s, const Value& bias, const Quantisation& out,
                         bool relu);
// x (.., in); x (n, in, spatial..).
QuantisedSum QuantisedLinear(TypedBuilder& b, const Value& x, const Quantisation& qx,
                             const Argument& weight);
std::optional<QuantisedSum> QuantisedConv(TypedBuilder& b, const Value& x, const Quantisation& qx,
                                          const PackedConv& conv);

}  // namespace relayvm::import::torch
