// The weights of direct convolutions, one by one; those of float16 are made float32 in scratch, a
// group's at a time. Tested through kernels/codegen/contraction/conv_test.cc.
#pragma once

#include <vector>

#include "kernels/codegen/contraction/pack.h"

namespace relayvm::codegen {

class DirectWeights {
 public:
  // REQUIRES: c.d.form == kDirect.
  explicit DirectWeights(ContractionContext& c);

  // Of float16 (d.a.halves): makes those of a group float32, d.a_offset bytes into `memory`, and
  // returns where they are.
  llvm::Value* Widen(llvm::Value* group, llvm::Value* memory);
  // Makes `group` the one that Load reads of. `widened`: what Widen returned for it; without it
  // those of float16 are widened here, into the scratch.
  void Bind(llvm::Value* group, llvm::Value* widened = nullptr);
  // After Bind: where `is_turned`, the taps of the two axes, which are as many, change places. The
  // weights are then in the scratch, if they are `needed`. REQUIRES: memory of the accumulators'
  // type.
  void Turn(llvm::Value* group, llvm::Value* is_turned, llvm::Value* needed);
  // Of tap (and input channel) k, for output channel `output` of the group.
  llvm::Value* Load(int64_t output, llvm::Value* k);
  // Where an output's are, one after the other; null: nowhere.
  llvm::Value* Row(int64_t output) const {
    return rows_.empty() || block() != 1 ? nullptr : rows_[static_cast<size_t>(output)];
  }

 private:
  int64_t block() const;
  llvm::Value* RowIn(llvm::Value* weights, int64_t output);

  ContractionContext& c_;
  llvm::Value* group_ = nullptr;
  std::vector<llvm::Value*> rows_;  // of the group's output channels, where they are in memory
  std::vector<te::Axis> axes_;
  te::Expr element_;  // over axes_
};

}  // namespace relayvm::codegen
