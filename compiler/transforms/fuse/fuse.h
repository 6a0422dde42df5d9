// Operator fusion: groups of operator calls become primitive functions, one kernel each.
//
// Within a block, a call joins the group of a producer when
//   - elementwise, broadcast or injective meets elementwise, broadcast or injective, or a reduction
//     takes such a producer in;
//   - elementwise follows a contraction, a pooling or a normalisation of the same shape (its
//     epilogue);
//   - a join that has to copy (its parts are no runs of it, it is a result, or such a join's part)
//     takes in what computes its parts for it alone, and is computed where it is read, like other injective operators; one
//     whose parts can be made in its place stands alone;
//   - attention computes queries and steps of scores as it reads them;
//   - nothing outside the group uses a member before the group's last call, so that one kernel can
//     stand there;
//   - members used outside have the group's shape: they are further outputs of the kernel.
// Shapes are compared as expressions, so that symbolic shapes fuse like static ones. Scalars (rank
// 0) stay instructions; views stay views, but of what Rematerialise copies. Before: typed. After:
// typed; PrimitiveCall. Tested by fuse_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

Module FuseOps(const Module& m);

}  // namespace relayvm::ir
