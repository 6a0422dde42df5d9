#include "compiler/ir/problems.h"

namespace relayvm::ir {
namespace {

// read(data, weight), of tensors.
template <typename Read>
auto WithOperands(const Module& m, const OpCall& call, const Read& read)
    -> decltype(read(TensorType(), TensorType())) {
  if (call.args.size() < 2) return std::nullopt;
  const Type data = AtomType(m, call.args[0]), weight = AtomType(m, call.args[1]);
  const auto *x = data->As<TensorType>(), *w = weight->As<TensorType>();
  if (x == nullptr || w == nullptr) return std::nullopt;
  return read(*x, *w);
}

}  // namespace

std::optional<ConvProblem> ConvOf(const Module& m, const OpCall& call) {
  if (!call.op->conv) return std::nullopt;
  return WithOperands(m, call, [&](const TensorType& x, const TensorType& w) {
    return relayvm::ConvOf(*call.op, call.attrs, x, w);
  });
}

std::optional<ProductProblem> MatrixProductOf(const Module& m, const OpCall& call) {
  if (!call.op->product) return std::nullopt;
  return WithOperands(m, call, [&](const TensorType& x, const TensorType& w) {
    return relayvm::MatrixProductOf(*call.op, call.attrs, x, w);
  });
}

}  // namespace relayvm::ir
