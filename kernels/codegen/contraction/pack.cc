#include "kernels/codegen/contraction/pack.h"

#include <algorithm>

#include "kernels/codegen/contraction/amx.h"
#include "kernels/codegen/contraction/integer.h"
#include "kernels/codegen/contraction/sorted_quads.h"
#include "kernels/codegen/contraction/tile.h"
#include "kernels/codegen/contraction/widen.h"
#include "kernels/codegen/ops.h"

namespace relayvm::codegen {

using llvm::Value;

ContractionContext::ContractionContext(const ContractionDetail& detail, Emitter& the_emitter,
                                       Builder& builder, Value* the_scratch)
    : d(detail), emitter(the_emitter), b(builder), scratch(the_scratch) {
  element = AccumulatorType(b.getContext(), d.dtype);
  vector = VectorOf(element, d.lanes);
  element_bytes = static_cast<unsigned>(DTypeBytes(d.dtype));
  batch = emitter.EmitDim(d.batch);
  rows = emitter.EmitDim(d.rows);
  columns = emitter.EmitDim(d.columns);
  depth = emitter.EmitDim(d.depth);
  unpacks_b = d.step_words > 1 || d.sorts_steps;
}

Value* ContractionContext::Scratch(const Dim& byte_offset) {
  return At(b, b.getInt8Ty(), scratch, emitter.EmitDim(byte_offset));
}

Value* ContractionContext::LoadView(const te::Tensor& view, Value* i, Value* j, Value* k,
                                    int vector_dim, Value* mask) {
  auto known = std::find_if(view_loads_.begin(), view_loads_.end(), [&](const ViewLoad& v) {
    return v.view == view && v.vector_dim == vector_dim;
  });
  if (known == view_loads_.end()) {
    ViewLoad load{view, vector_dim, {}, nullptr};
    std::vector<te::Expr> indices;
    for (const Dim& extent : view->shape) {
      load.axes.push_back(te::MakeAxis("i", extent));
      indices.push_back(te::AxisValue(load.axes.back()));
    }
    load.load = te::Load(view, std::move(indices));
    known = view_loads_.insert(view_loads_.end(), std::move(load));
  }
  Value* const positions[3] = {i, j, k};
  for (int dim = 0; dim < 3; ++dim) {
    if (dim != vector_dim) emitter.BindAxis(known->axes[dim].get(), positions[dim]);
  }
  return emitter.EmitVector(known->load,
                            {known->axes[vector_dim].get(), positions[vector_dim], d.lanes, mask});
}

const te::Expr& ContractionContext::Keep(te::Expr e) { return kept_.emplace_back(std::move(e)); }

Value* ContractionContext::PlainRow(const MatrixOperand& operand, Value* batch_index, Value* row) {
  emitter.BindAxis(operand.batch.get(), batch_index);
  Value* offset = Add(b, emitter.Emit(operand.base), Mul(b, row, emitter.EmitDim(operand.stride)));
  std::vector<Value*> origin(operand.buffer->shape.size(), I64(b, 0));
  return At(b, ElementOf(operand), emitter.ElementAddress(operand.buffer.get(), origin), offset);
}

llvm::Type* ContractionContext::ElementOf(const MatrixOperand& operand) const {
  return operand.halves ? emitter.MemoryType(DType::kFloat16) : element;
}

Value* ContractionContext::LoadLanes(Value* pointer) {
  return b.CreateAlignedLoad(vector, pointer, llvm::Align(element_bytes));
}

void ContractionContext::StoreLanes(Value* vector_value, Value* pointer) {
  b.CreateAlignedStore(vector_value, pointer, llvm::Align(element_bytes));
}

namespace {

// Calls body(k, mask) for vectors that cover [from, to), the last one masked.
void ForVectors(ContractionContext& c, Value* from, Value* to, std::string_view name,
                const std::function<void(Value* at, Value* mask)>& body) {
  Builder& b = c.b;
  const int64_t lanes = c.d.lanes;
  Value* whole = Add(b, from, b.CreateAnd(Sub(b, to, from), I64(b, -lanes)));
  For(b, from, whole, lanes, name, [&](Value* at) { body(at, nullptr); });
  If(b, b.CreateICmpSLT(whole, to),
     [&] { body(whole, MaskBelow(b, Sub(b, to, whole), c.d.lanes)); });
}

// b is (column, k) with k contiguous: squares of lanes x lanes are turned in registers.
void PackTransposed(ContractionContext& c, Value* batch, const PanelRows& rows,
                    Value* destination) {
  Builder& b = c.b;
  const unsigned lanes = c.d.lanes;
  Value* last = Add(b, c.columns, -1);
  For(b, I64(b, 0), I64(b, c.d.panel), lanes, "pack.vector", [&](Value* v) {
    ForVectors(c, rows.from, rows.to, "pack.k", [&](Value* k, Value* mask) {
      std::vector<Value*> square;
      for (unsigned i = 0; i < lanes; ++i) {
        // Columns past the end repeat the last one; what comes of them is not stored.
        Value* at = Min(b, Add(b, Add(b, rows.column, v), int64_t{i}), last);
        if (c.d.b.buffer) {
          Value* pointer = At(b, c.element, c.PlainRow(c.d.b, batch, at), k);
          const llvm::Align align(c.element_bytes);
          square.push_back(
              mask ? static_cast<Value*>(b.CreateMaskedLoad(c.vector, pointer, align, mask,
                                                            llvm::Constant::getNullValue(c.vector)))
                   : b.CreateAlignedLoad(c.vector, pointer, align));
        } else {
          // The view is (batch, k, column).
          square.push_back(c.LoadView(c.d.b.view, batch, k, at, 1, mask));
        }
      }
      Transpose(b, square);
      for (unsigned i = 0; i < lanes; ++i) {
        Value* row = Mul(b, Add(b, Sub(b, k, rows.from), int64_t{i}), c.d.panel);
        c.StoreLanes(square[i], At(b, c.element, destination, Add(b, row, v)));
      }
    });
  });
}

// How many rows of b ahead are fetched: where rows are pages apart, hardware does not.
constexpr int64_t kRowsAhead = 8;
constexpr int64_t kFetched = 64;  // bytes at a time

// b is (k, column), or panels of another width: runs of several panels are copied row by row.
void PackRowsOfPanels(ContractionContext& c, Value* batch, const PanelRows& rows, bool whole,
                      Value* destination) {
  Builder& b = c.b;
  const ContractionDetail& d = c.d;
  const bool fetches = d.panel_group > 1 && d.packed_width == 0 && d.b.buffer;
  For(b, rows.from, rows.to, 1, "pack.k", [&](Value* k) {
    Value* row = At(b, c.element, destination, Mul(b, Sub(b, k, rows.from), d.panel));
    Value* ahead = fetches ? c.PlainRow(d.b, batch, Add(b, k, kRowsAhead)) : nullptr;
    For(b, I64(b, 0), rows.count, 1, "pack.panel", [&](Value* q) {
      Value* column = Add(b, rows.column, Mul(b, q, d.panel));
      Value* row_of_panel = At(b, c.element, row, Mul(b, q, d.panel_pitch));
      for (int64_t at = 0; fetches && at < d.panel * c.element_bytes; at += kFetched)
        FetchLine(b, At(b, c.element, ahead, Add(b, column, at / c.element_bytes)));
      for (unsigned v = 0; v < d.vectors; ++v) {
        Value* at = Add(b, column, int64_t{v * d.lanes});
        Value* values;
        if (d.packed_width > 0) {
          values = c.LoadView(d.b.view, Div(b, at, I64(b, d.packed_width)), k,
                              Rem(b, at, I64(b, d.packed_width)), 2);
        } else {
          Value* mask = whole ? nullptr : MaskBelow(b, Sub(b, c.columns, at), d.lanes);
          values = c.LoadView(d.b.view, batch, k, at, 2, mask);
        }
        c.StoreLanes(values, At(b, c.element, row_of_panel, v * d.lanes));
      }
    });
  });
}

// a is (k, row): rows of several tiles are copied for one k after the other.
void PackRowsOfTiles(ContractionContext& c, Value* batch, Value* row, Value* count,
                     Value* destination) {
  Builder& b = c.b;
  const ContractionDetail& d = c.d;
  Value* pitch = c.emitter.EmitDim(TilePitch(d));
  // What tiles load past their rows belongs to the next one: the last are masked.
  Value* whole = Max(b, Add(b, count, -d.a_k_stride), I64(b, 0));
  whole = Mul(b, Div(b, whole, I64(b, d.tile_rows)), int64_t{d.tile_rows});
  For(b, I64(b, 0), c.depth, 1, "pack.k", [&](Value* k) {
    const auto tiles = [&](Value* from, Value* to, bool masked) {
      For(b, from, to, d.tile_rows, "pack.tile", [&](Value* first) {
        Value* tile =
            At(b, c.element, destination,
               Add(b, Mul(b, Div(b, first, I64(b, d.tile_rows)), pitch), Mul(b, k, d.a_k_stride)));
        for (int64_t at = 0; at < d.tile_rows; at += d.lanes) {
          Value* in_block = Add(b, first, at);
          Value* mask = masked ? MaskBelow(b, Sub(b, count, in_block), d.lanes) : nullptr;
          Value* values = c.LoadView(d.a.view, batch, Add(b, row, in_block), k, 1, mask);
          c.StoreLanes(values, At(b, c.element, tile, at));
        }
      });
    };
    tiles(I64(b, 0), whole, false);
    tiles(whole, count, true);
  });
}

}  // namespace

void EmitPackRows(ContractionContext& c, Value* batch, Value* row, Value* count,
                  Value* destination) {
  Builder& b = c.b;
  const ContractionDetail& d = c.d;
  if (d.panel_form == PanelForm::kQuads) return EmitPackByteRows(c, batch, row, count, destination);
  const int64_t tile_rows = d.tile_rows;
  if (!d.a.k_contiguous) {
    PackRowsOfTiles(c, batch, row, count, destination);
    return;
  }
  const bool in_pairs = d.panel_form == PanelForm::kPairs;
  const int64_t row_stride = in_pairs ? d.a_row_stride / 2 : d.a_row_stride;
  Value* k_blocks = c.emitter.EmitDim(d.k_blocks);
  For(b, I64(b, 0), count, 1, "pack.row", [&](Value* i) {
    Value* tile = Div(b, i, I64(b, tile_rows));
    Value* in_tile = Rem(b, i, I64(b, tile_rows));
    auto pack_block = [&](Value* block, Value* from, Value* to) {
      Value* packed_row = Add(b, Mul(b, Add(b, Mul(b, tile, k_blocks), block), tile_rows), in_tile);
      Value* pointer = At(b, c.element, destination, Mul(b, packed_row, row_stride));
      if (d.amx) {
        // The last words are filled up to a tile with 0, since what is no number times 0 is none.
        Value* extent = Sub(b, to, from);
        Value* whole = b.CreateAnd(extent, I64(b, -2 * kAmxTile));
        If(b, b.CreateICmpNE(whole, extent), [&] {
          c.StoreLanes(llvm::Constant::getNullValue(c.vector),
                       At(b, b.getInt16Ty(), pointer, whole));
        });
      }
      ForVectors(c, from, to, "pack.k", [&](Value* k, Value* mask) {
        Value* values = c.LoadView(d.a.view, batch, Add(b, row, i), k, 2, mask);
        if (!in_pairs) return c.StoreLanes(values, At(b, c.element, pointer, Sub(b, k, from)));
        if (mask) values = b.CreateSelect(mask, values, llvm::Constant::getNullValue(c.vector));
        Value* bits = b.CreateLShr(b.CreateBitCast(values, VectorOf(b.getInt32Ty(), d.lanes)), 16);
        b.CreateAlignedStore(b.CreateTrunc(bits, VectorOf(b.getInt16Ty(), d.lanes)),
                             At(b, b.getInt16Ty(), pointer, Sub(b, k, from)), llvm::Align(2));
      });
    };
    if (d.k_block == 0) {
      pack_block(I64(b, 0), I64(b, 0), c.depth);
      return;
    }
    For(b, I64(b, 0), k_blocks, 1, "pack.block", [&](Value* block) {
      Value* from = Mul(b, block, d.k_block);
      pack_block(block, from, Min(b, Add(b, from, d.k_block), c.depth));
    });
  });
}

void EmitWidenRows(ContractionContext& c, Value* from, Value* stride, Value* count, Value* extent,
                   Value* destination, Value* ahead) {
  Builder& b = c.b;
  Ops ops(b);
  llvm::Type* half = ops.MemoryType(DType::kFloat16);
  const int64_t lanes = c.d.lanes;
  constexpr int64_t kAtOnce = 4;  // vectors
  constexpr int64_t kLine = 32;   // of a cache
  Value* whole = b.CreateAnd(extent, I64(b, -lanes));
  Value* most = b.CreateAnd(extent, I64(b, -kAtOnce * lanes));
  For(b, I64(b, 0), count, 1, "widen.row", [&](Value* row) {
    Value* source = At(b, half, from, Mul(b, row, stride));
    Value* target = At(b, c.element, destination, Mul(b, row, c.d.a_row_stride));
    const auto step = [&](Value* k, llvm::Type* type) {
      Value* halves = b.CreateAlignedLoad(type, At(b, half, source, k), llvm::Align(2));
      b.CreateAlignedStore(ops.FromMemory(halves, DType::kFloat16), At(b, c.element, target, k),
                           llvm::Align(c.element_bytes));
    };
    For(b, I64(b, 0), most, kAtOnce * lanes, "widen.vectors", [&](Value* k) {
      for (int64_t at = 0; at < kAtOnce * lanes; at += kLine)
        FetchLine(b, At(b, half, source, Add(b, Add(b, k, at), ahead)));
      for (int64_t v = 0; v < kAtOnce; ++v) step(Add(b, k, v * lanes), VectorOf(half, c.d.lanes));
    });
    For(b, most, whole, lanes, "widen.k", [&](Value* k) { step(k, VectorOf(half, c.d.lanes)); });
    For(b, whole, extent, 1, "widen.rest", [&](Value* k) { step(k, half); });
  });
}

namespace {

// As EmitUnpackPanel, of weights of another form.
void WidenPanel(ContractionContext& c, const Panel& panel, Value* extent, Value* destination) {
  Builder& b = c.b;
  const ContractionDetail& d = c.d;
  const WeightForm& form = *d.widened;
  llvm::Type* word = WordTypeOf(b, d.dtype, d.panel_form, &form);
  llvm::FixedVectorType* words = VectorOf(word, d.lanes);
  const llvm::Align of_words(word->getPrimitiveSizeInBits() / 8), of_floats(c.element_bytes);
  // Of the block that begins at row `begin` of the destination.
  Value *block = panel.b, *begin = I64(b, 0);
  std::vector<Value*> scales(d.vectors), zeros(d.vectors);
  const auto step = [&](Value* from, int64_t align, int64_t at) {
    Value* row = Mul(b, Add(b, Add(b, begin, from), at), d.panel);
    for (unsigned v = 0; v < d.vectors; ++v) {
      const int64_t column = v * int64_t{d.lanes};
      Value* numbers =
          EmitNumbers(b, form, {from, align, at}, d.lanes, zeros[v], [&](Value* row_of_words) {
            Value* offset = Add(b, Mul(b, row_of_words, d.packed_width), column);
            return b.CreateAlignedLoad(words, At(b, word, block, offset), of_words);
          });
      if (scales[v]) numbers = b.CreateFMul(numbers, scales[v]);
      b.CreateAlignedStore(numbers, At(b, c.element, destination, Add(b, row, column)), of_floats);
    }
  };
  const auto steps = [&](Value* from, Value* to, int64_t at_once) {
    For(b, from, to, at_once, "widen.k", [&](Value* k) {
      for (int64_t at = 0; at < at_once; ++at) step(k, at_once, at);
    });
  };
  constexpr int64_t kAtOnce = 8;  // of which each block is a multiple
  if (d.weight_block == 0) {
    Value* whole = b.CreateAnd(extent, I64(b, -kAtOnce));
    steps(I64(b, 0), whole, kAtOnce);
    return steps(whole, extent, 1);
  }
  For(b, I64(b, 0), extent, d.weight_block, "widen.block", [&](Value* first) {
    begin = first;
    Value* index = Div(b, first, I64(b, d.weight_block));
    block = At(b, word, panel.b, Mul(b, index, form.Rows(d.weight_block) * d.packed_width));
    for (unsigned v = 0; v < d.vectors; ++v) {
      const auto load = [&](Value* from) {
        Value* at = Add(b, Mul(b, index, d.packed_width), v * int64_t{d.lanes});
        return b.CreateAlignedLoad(c.vector, At(b, c.element, from, at), of_floats);
      };
      scales[v] = load(panel.scales);
      if (panel.zero_points) zeros[v] = load(panel.zero_points);
    }
    steps(I64(b, 0), I64(b, d.weight_block), std::max(form.neighbours(), kAtOnce));
  });
}

}  // namespace

void EmitUnpackPanel(ContractionContext& c, const Panel& panel, Value* extent, Value* destination) {
  if (c.d.sorts_steps) {
    return EmitSortedPanel(c, extent, destination, [&](Value* k, unsigned v) {
      Value* at = Add(c.b, Mul(c.b, k, c.d.packed_width), int64_t{v} * c.d.lanes);
      return c.b.CreateAlignedLoad(c.vector, At(c.b, c.element, panel.b, at), llvm::Align(1));
    });
  }
  if (c.d.step_words > 1) return EmitSplitPanel(c, panel.b, extent, destination);
  WidenPanel(c, panel, extent, destination);
}

void EmitCopyRows(ContractionContext& c, Value* batch, Value* first, Value* count,
                  Value* destination, Value* stride) {
  Builder& b = c.b;
  For(b, I64(b, 0), count, 1, "copy.row", [&](Value* row) {
    Value* pointer = At(b, c.element, destination, Mul(b, row, stride));
    ForVectors(c, I64(b, 0), c.depth, "copy.k", [&](Value* k, Value* mask) {
      c.StoreLanes(c.LoadView(c.d.a.view, batch, Add(b, first, row), k, 2, mask),
                   At(b, c.element, pointer, k));
    });
  });
}

void EmitPackPanels(ContractionContext& c, Value* batch, const PanelRows& rows,
                    Value* destination) {
  Builder& b = c.b;
  const ContractionDetail& d = c.d;
  if (d.panel_form == PanelForm::kQuads)
    return EmitPackBytePanel(c, batch, rows.column, destination);
  if (d.b.k_contiguous) {
    For(b, I64(b, 0), rows.count, 1, "pack.panel", [&](Value* q) {
      PanelRows one = rows;
      one.column = Add(b, rows.column, Mul(b, q, d.panel));
      PackTransposed(c, batch, one, At(b, c.element, destination, Mul(b, q, d.panel_pitch)));
    });
    return;
  }
  const auto pack = [&](bool whole) { PackRowsOfPanels(c, batch, rows, whole, destination); };
  if (d.packed_width > 0) return pack(true);
  Value* end = Add(b, rows.column, Mul(b, rows.count, d.panel));
  If(b, b.CreateICmpSLE(end, c.columns), [&] { pack(true); }, [&] { pack(false); });
}

}  // namespace relayvm::codegen
