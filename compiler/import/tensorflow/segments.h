// What operators on rows by segments share: op_index.cc, op_segment.cc, op_sparse.cc.
#pragma once

#include "compiler/import/tensorflow/convert.h"

namespace relayvm::import::tensorflow {

// The first so many axes as one.
Term Flattened(const Term& v, int first);

enum class SegmentKind : uint8_t { kSum, kMean, kSqrtN, kProd, kMin, kMax };
// Rows of `data` by the segment (`ids`, int64, rank 1, below `count`, rank 0) that each belongs to.
// Extremes of none are `fill`, or 0.
Term Segmented(const Term& data, const Term& ids, const Term& count, SegmentKind kind,
               const std::optional<Term>& fill = std::nullopt);

}  // namespace relayvm::import::tensorflow
