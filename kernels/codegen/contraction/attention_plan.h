// What EmitAttention works from. Immutable once made.
#pragma once

#include <array>
#include <vector>

#include "kernels/codegen/contraction/attention.h"

namespace relayvm::codegen {

// A panel: rows of so many queries, of which the first `width` are worked on: one vector or all.
struct AttentionPanel {
  unsigned lanes;
  int64_t queries;  // two vectors
};

// What is kept of each query of a panel, each an array of so many float32: the maximum of scores,
// and the sum of weights.
enum class QueryState : int64_t { kMax, kSum, kStates };

// A tensor of four dims in memory: how far apart batches, heads, positions and elements are.
struct HeadTensor {
  te::Tensor tensor;
  std::array<Dim, 4> strides;
};

struct AttentionDetail {
  ContractionTarget target;
  te::Tensor queries;     // a computation or memory
  HeadTensor query_rows;  // the same, where it is memory and its rows whole vectors; else null
  std::string query_layout;
  HeadTensor keys, values, result;
  Dim batch, heads, num_queries, num_keys, key_size, value_size;
  int64_t group = 1;  // heads of queries that share one of keys

  // The score over `product` (rank 0) and the axes (batch, head, query, key).
  te::Expr score;
  te::Tensor product;
  std::vector<te::Axis> axes;
  bool has_steps = false;
  // What steps read of memory both by query and by key: it is brought to scratch, transposed, and
  // `score` loads it there, at [key - first_key][query - first_query].
  struct Table {
    te::Expr value;    // over `axes`: a load, or a choice between loads
    te::Tensor local;  // (kTableKeys, panel)
    Dim offset;        // bytes into scratch
  };
  std::vector<Table> tables;
  te::Axis first_key, first_query;
  te::Expr row_score;  // the same score with everything where it is

  unsigned lanes = 1;
  int64_t panel = 1;  // queries that are worked on at a time: two vectors
  bool has_narrow_panels = true, has_whole_panels = true;  // of one vector, of two
  int64_t unit_panels = 1;  // that share each block of keys and values, which are near then
  Dim units;                // of a head
  // Rows of values are far apart, mostly a multiple of what sets of the first cache are: a block of
  // them is copied for the panels of a unit.
  bool copies_values = false;
  // Few queries: rows of scores that follow the keys; values in so many vectors of so many lanes. 0
  // vectors: keys or values are not as these read them.
  unsigned row_vectors = 0, row_lanes = 0;
  int64_t row_keys = 0;  // of a block
  // Bytes into scratch: queries; scores, and before them rows that are to be turned; sums of
  // values; states of queries; copied values. Of queries, sums and states there are as many as
  // panels, so many elements apart.
  Dim q_offset, s_offset, o_offset, row_offset, v_offset;
  Dim q_pitch, o_pitch;
  int64_t row_pitch = 0;
};

// Keys whose scores are in scratch at a time: they and what they are computed with stay in the
// first cache. A multiple of all lanes and of most tiles.
inline constexpr int64_t kKeyBlock = 144;
// All of a block, and what squares that are turned reach past it.
inline constexpr int64_t kTableKeys = kKeyBlock + 16;
// Queries of a unit.
inline constexpr int64_t kUnitQueries = 64;
// Queries that vectors along them would mostly leave empty: each is a row, with vectors along the
// keys and along the elements of values. So many rows are worked on together.
inline constexpr int64_t kFewQueries = 10;
inline constexpr int64_t kRowsTogether = 4;

}  // namespace relayvm::codegen
