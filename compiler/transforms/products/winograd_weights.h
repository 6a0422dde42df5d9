// The constant kernels of the convolutions that become nn.contrib_conv2d_winograd: a part of
// PackWeights.
//
// Transformed they take up to four times the room. Where all of them together would make the
// module's constants larger by more than kMostGrowth, each has a recipe (ir::Recipe), so that files
// hold the kernels as they are given (as float16 where that holds their numbers) and transform them
// when they are loaded; else files hold them transformed. Either way the numbers are the same bits,
// made by the same builtin. Graphs have theirs in the file of their kernels; native code
// transforms them at its first use.
//
// Tested by pack_kernels_test.cc.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "compiler/ir/ir.h"
#include "kernels/codegen/machine.h"
#include "kernels/op/problem.h"

namespace relayvm::ir {

class WinogradWeights {
 public:
  static constexpr double kMostGrowth = 0.1;

  // `m`: typed, and outlives this.
  WinogradWeights(const Module& m, const Machine& machine);

  struct Transformed {
    const Constant* weight;
    NamedCall call;  // of the data and it
  };
  // nullopt: the call stays as it is. The same kernel is transformed once.
  std::optional<Transformed> Of(const OpCall& call);

 private:
  const Module& m_;
  const Machine machine_;
  bool when_loaded_ = false;
  std::map<std::pair<const Constant*, int64_t>, const Constant*> transformed_;  // by tile
};

}  // namespace relayvm::ir
