// The passes on regions as rows of the pipeline (compiler/pass.h), with TVM's names. They run where
// --byoc names an engine. Tested by regions_test.cc.
#pragma once

#include "compiler/pass.h"

namespace relayvm::regions {

// What the engines have no operator for becomes simpler operators, and constants are folded:
// normalisations become part of a convolution's weights.
Pass PrepareRegionsPass();
Pass MergeCompositePass();
Pass AnnotateTargetPass();
Pass MergeCompilerRegionsPass();
Pass PartitionGraphPass();
Pass PruneRegionsPass();
Pass ChooseRegionsPass();  // --byoc auto
Pass LowerRegionsPass();

}  // namespace relayvm::regions
