// The weights of direct convolutions, one by one. Tested through contraction/conv_test.cc.
#pragma once

#include <vector>

#include "kernels/codegen/contraction/pack.h"

namespace relayvm::codegen {

class DirectWeights {
 public:
  // REQUIRES: c.d.form == kDirect.
  explicit DirectWeights(ContractionContext& c);

  // Makes `group` the one that Load reads of.
  void Bind(llvm::Value* group);
  // Of tap (and input channel) k, for output channel `output` of the group.
  llvm::Value* Load(int64_t output, llvm::Value* k);

 private:
  ContractionContext& c_;
  llvm::Value* group_ = nullptr;
  std::vector<llvm::Value*> rows_;  // of the group's output channels, where they are plain memory
  std::vector<te::Axis> axes_;
  te::Expr element_;  // over axes_
};

}  // namespace relayvm::codegen
