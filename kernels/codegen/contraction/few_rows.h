// Products of few rows, whose weights are read as they are: dot kernels. And what all products
// share: their epilogue, the scratch of their sums, and when they look at the clock. Tested through
// contraction_test.cc.
#pragma once

#include <algorithm>
#include <functional>

#include "kernels/codegen/contraction/amx.h"
#include "kernels/codegen/contraction/epilogue.h"
#include "kernels/codegen/contraction/tile_calls.h"

namespace relayvm::codegen {

class FewRows : protected TileCalls {
 protected:
  explicit FewRows(ContractionContext& c)
      : TileCalls(c), epilogue_(c), c_scratch_(c.Scratch(d_.c_offset)) {}

  void Poll(const std::function<Value*()>& work) {
    if (!d_.amx) return PollAfter(b_, is_long_, counter_, work);
    PollAfter(
        b_, is_long_, counter_, work, [&] { EmitAmxRelease(b_); }, [&] { EmitAmxConfigure(b_); });
  }

  // What `rows` times some panels are as work (ir.h), in vector instructions.
  Value* Work(Value* rows, int64_t panels) {
    Value* work = WorkOf(b_, I64(b_, 1), rows);
    return WorkOf(b_, WorkOf(b_, work, c_.depth),
                  I64(b_, panels * std::max<int64_t>(1, d_.panel / 8)));
  }

  // IsServedByDots, for more rows than kMaxDotRows.
  Value* DotsSkipPacking() {
    if (d_.target.schedule != TileSchedule()) return b_.getFalse();
    Value* few_rows = b_.CreateAnd(b_.CreateICmpSLE(c_.rows, I64(b_, kMostDotRows)),
                                   b_.CreateICmpSLE(Mul(b_, c_.rows, kDotDepthOfRow), c_.depth));
    Value* few_columns = b_.CreateAnd(b_.CreateICmpSLE(c_.columns, I64(b_, kMostDotColumns)),
                                      b_.CreateICmpSGE(c_.depth, I64(b_, kLeastDotDepth)));
    return b_.CreateOr(few_rows, few_columns);
  }

  void EmitDotBlock(Value* batch, Value* from, Value* to) {
    Value* a = nullptr;
    Value* a_stride = nullptr;
    if (d_.a.buffer) {
      a = c_.PlainRow(d_.a, batch, I64(b_, 0));
      a_stride = c_.emitter.EmitDim(d_.a.stride);
    } else {
      a = c_.Scratch(d_.dot_offset);
      a_stride = Mul(b_, CeilDiv(b_, c_.depth, d_.lanes), int64_t{d_.lanes});
      EmitCopyRows(c_, batch, I64(b_, 0), c_.rows, a, a_stride);
    }
    For(b_, from, to, 1, "panel", [&](Value* panel) {
      Poll([&] { return Work(c_.rows, 1); });
      Value* column = Mul(b_, panel, d_.panel);
      Value* count = Min(b_, Sub(b_, c_.columns, column), I64(b_, d_.panel));
      for (int64_t rows = 1; rows <= kMaxDotRows; ++rows) {
        if (d_.rows.is_const() && d_.rows.value() != rows) continue;
        If(b_, b_.CreateICmpEQ(c_.rows, I64(b_, rows)),
           [&] { EmitDots(static_cast<unsigned>(rows), 0, batch, column, count, a, a_stride); });
      }
      epilogue_.EmitTile(batch, I64(b_, 0), c_.rows, column, c_scratch_);
    });
  }

  // The same for any number of rows, in the order of a product of few.
  void EmitDotRows(Value* batch, Value* row_block, Value* from, Value* to) {
    Value* first_row = Mul(b_, row_block, d_.row_block);
    Value* last_row = d_.row_block ? Min(b_, c_.rows, Add(b_, first_row, d_.row_block)) : c_.rows;
    Value* a_stride = d_.a.buffer ? c_.emitter.EmitDim(d_.a.stride)
                                  : Mul(b_, CeilDiv(b_, c_.depth, d_.lanes), int64_t{d_.lanes});
    For(b_, from, to, 1, "panel", [&](Value* panel) {
      Value* column = Mul(b_, panel, d_.panel);
      Value* count = Min(b_, Sub(b_, c_.columns, column), I64(b_, d_.panel));
      For(b_, first_row, last_row, kMaxDotRows, "row", [&](Value* row) {
        Poll([&] { return Work(I64(b_, kMaxDotRows), 1); });
        Value* num_rows = Min(b_, Sub(b_, last_row, row), I64(b_, kMaxDotRows));
        Value* a = d_.a.buffer ? c_.PlainRow(d_.a, batch, row) : c_.Scratch(d_.dot_offset);
        if (!d_.a.buffer) EmitCopyRows(c_, batch, row, num_rows, a, a_stride);
        for (unsigned rows = 1; rows <= kMaxDotRows; ++rows) {
          If(b_, b_.CreateICmpEQ(num_rows, I64(b_, rows)),
             [&] { EmitDots(rows, d_.order.sets, batch, column, count, a, a_stride); });
        }
        epilogue_.EmitTile(batch, row, num_rows, column, c_scratch_);
      });
    });
  }

  // sets: of accumulators; 0: as many as are best for so many rows.
  void EmitDots(unsigned rows, unsigned sets, Value* batch, Value* column, Value* count, Value* a,
                Value* a_stride) {
    Value* weights = c_.PlainRow(d_.b, batch, column);
    Value* stride = c_.emitter.EmitDim(d_.b.stride);
    const unsigned registers = d_.target.vector_registers;
    // As many groups of columns as there are of each size, from `shape.units` down.
    auto dots = [&](DotShape shape) {
      Value* next = I64(b_, 0);
      for (auto units = static_cast<unsigned>(std::min<int64_t>(shape.units, d_.panel)); units > 0;
           units /= 2) {
        Value* last = Add(b_, next, b_.CreateAnd(Sub(b_, count, next), I64(b_, -int64_t{units})));
        For(b_, next, last, units, "unit", [&](Value* unit) {
          EmitDotCall(
              b_, {d_.dtype, rows, units, d_.target.vector_bytes / c_.element_bytes, shape.sets},
              {a, At(b_, c_.element, weights, Mul(b_, unit, stride)),
               At(b_, c_.element, c_scratch_, unit), c_.depth, a_stride, stride, d_.panel});
        });
        next = last;
      }
    };
    if (sets > 0) return dots(DotShapeOfSets(rows, sets, registers));
    const auto form = [&](DotForm f) { return [=] { dots(DotShapeOf(rows, f, registers)); }; };
    If(b_, b_.CreateICmpSLT(c_.columns, I64(b_, kFewDotColumns)), form(DotForm::kFewColumns), [&] {
      If(b_, b_.CreateICmpSLT(c_.depth, I64(b_, kLongDotDepth)), form(DotForm::kShort),
         form(DotForm::kLong));
    });
  }

  EpilogueEmitter epilogue_;
  Value* c_scratch_;
  Value *is_long_ = nullptr, *counter_ = nullptr;  // for PollAfter
};

}  // namespace relayvm::codegen
