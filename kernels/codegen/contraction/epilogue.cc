#include "kernels/codegen/contraction/epilogue.h"

namespace relayvm::codegen {

using llvm::Value;

EpilogueEmitter::EpilogueEmitter(ContractionContext& c)
    : c_(c), b_(c.b), epilogue_(c.d.epilogue), column_base_(I64(c.b, 0)) {
  if (c.d.form != ContractionForm::kDirect) line_ = c.emitter.EmitDim(LineExtent());
  for (const auto& [flat, original] : epilogue_.flattened) {
    c_.emitter.BindBuffer(flat.get(), BufferOf(*original));
  }
  for (const Epilogue::Output& output : epilogue_.outputs) {
    outputs_.push_back(BufferOf(*output.tensor));
  }
}

void EpilogueEmitter::EmitTile(Value* batch, Value* row, Value* count, Value* column, Value* tile,
                               Columns columns) {
  const ContractionDetail& d = c_.d;
  const Dim& line = LineExtent();
  if (line.is_const() && line.value() % d.panel == 0) columns = Columns::kAll;
  if (line.is_const() && line.value() < d.panel) columns = Columns::kPart;
  if (d.form != ContractionForm::kPixelColumns || d.images.is_const(1)) {
    return EmitTileOfLine(batch, row, count, column, tile, columns);
  }
  Value* image = Div(b_, column, line_);
  Value* pixel = Rem(b_, column, line_);
  auto of_image = [&] { EmitTileOfLine(BatchOf(image, batch), row, count, pixel, tile, columns); };
  if (columns == Columns::kAll) return of_image();
  Value* crosses = b_.CreateICmpSGT(Add(b_, pixel, d.panel), line_);
  Value* is_last = b_.CreateICmpEQ(Add(b_, image, 1), c_.emitter.EmitDim(d.images));
  If(
      b_, b_.CreateAnd(crosses, b_.CreateNot(is_last)),
      [&] { EmitTileOfImages(batch, row, count, column, tile); }, of_image);
}

void EpilogueEmitter::EmitTileOfLine(Value* batch, Value* row, Value* count, Value* column,
                                     Value* tile, Columns columns) {
  const ContractionDetail& d = c_.d;
  For(b_, I64(b_, 0), count, 1, "out.row", [&](Value* i) {
    Value* sums = At(b_, c_.element, tile, Mul(b_, i, d.panel));
    Value* at_row = Add(b_, row, i);
    const bool one_axis = BindRow(batch, at_row);
    Value* offset = Offset(batch, at_row, column);
    auto end = [&] { return Min(b_, Sub(b_, line_, column), I64(b_, d.panel)); };
    if (!one_axis) return StoreScalars(column, offset, sums, end());
    Value* base = Add(b_, column_base_, column);
    auto vector = [&](Value* j, Value* mask) {
      StoreLanes(Add(b_, base, j), Add(b_, offset, j), LoadSums(sums, j), mask);
    };
    auto whole_panel = [&] {
      if (d.has_long_epilogue) {
        return For(b_, I64(b_, 0), I64(b_, d.panel), d.lanes, "out.column",
                   [&](Value* j) { vector(j, nullptr); });
      }
      for (unsigned v = 0; v < d.vectors; ++v) vector(I64(b_, int64_t{v} * d.lanes), nullptr);
    };
    auto part_of_panel = [&] {
      Value* last = end();
      For(b_, I64(b_, 0), last, d.lanes, "out.column",
          [&](Value* j) { vector(j, MaskBelow(b_, Sub(b_, last, j), d.lanes)); });
    };
    if (columns == Columns::kAll) return whole_panel();
    if (columns == Columns::kPart) return part_of_panel();
    If(b_, b_.CreateICmpSLE(Add(b_, column, d.panel), line_), whole_panel, part_of_panel);
  });
}

Value* EpilogueEmitter::TakesRegisters(Value* column) {
  const ContractionDetail& d = c_.d;
  const Dim& line = LineExtent();
  if (d.form == ContractionForm::kPixelColumns && epilogue_.axes.size() != 3) return nullptr;
  if (line.is_const() && line.value() % d.panel == 0) return b_.getTrue();
  if (d.form != ContractionForm::kPixelColumns) {
    return b_.CreateICmpSLE(Add(b_, column, d.panel), line_);
  }
  if (d.images.is_const(1)) return b_.CreateICmpSLE(Add(b_, column, d.panel), line_);
  return b_.CreateICmpSLE(Add(b_, Rem(b_, column, line_), d.panel), line_);
}

void EpilogueEmitter::EmitRegisters(Value* batch, Value* row, Value* column,
                                    const std::vector<Value*>& sums) {
  const ContractionDetail& d = c_.d;
  if (d.form == ContractionForm::kPixelColumns && !d.images.is_const(1)) {
    batch = BatchOf(Div(b_, column, line_), batch);
    column = Rem(b_, column, line_);
  }
  for (unsigned i = 0; i < sums.size() / d.vectors; ++i) {
    Value* at_row = Add(b_, row, i);
    BindRow(batch, at_row);
    Value* offset = Offset(batch, at_row, column);
    for (unsigned v = 0; v < d.vectors; ++v) {
      const int64_t j = v * d.lanes;
      StoreLanes(Add(b_, column_base_, Add(b_, column, j)), Add(b_, offset, j),
                 sums[i * d.vectors + v], nullptr);
    }
  }
}

void EpilogueEmitter::EmitTileOfImages(Value* group, Value* row, Value* count, Value* column,
                                       Value* tile) {
  const ContractionDetail& d = c_.d;
  For(b_, I64(b_, 0), I64(b_, d.panel), d.lanes, "out.vector", [&](Value* v) {
    Value* first = Add(b_, column, v);
    Value* limit = Min(b_, Sub(b_, c_.columns, first), I64(b_, d.lanes));
    // The lanes of one image after those of another.
    ForNext(b_, I64(b_, 0), limit, "out.run", [&](Value* run) {
      Value* at = Add(b_, first, run);
      Value* batch = BatchOf(Div(b_, at, line_), group);
      Value* pixel = Rem(b_, at, line_);
      Value* length = Min(b_, Sub(b_, limit, run), Sub(b_, line_, pixel));
      Value* next = Add(b_, run, length);
      Value* mask =
          b_.CreateAnd(MaskBelow(b_, next, d.lanes), b_.CreateNot(MaskBelow(b_, run, d.lanes)));
      For(b_, I64(b_, 0), count, 1, "out.row", [&](Value* i) {
        Value* sums = At(b_, c_.element, tile, Add(b_, Mul(b_, i, d.panel), v));
        Value* at_row = Add(b_, row, i);
        if (!BindRow(batch, at_row)) {
          return StoreScalars(pixel, Offset(batch, at_row, pixel), At(b_, c_.element, sums, run),
                              length);
        }
        Value* base = Sub(b_, pixel, run);
        StoreLanes(base, Offset(batch, at_row, base), LoadSums(sums, I64(b_, 0)), mask);
      });
      return next;
    });
  });
}

Value* EpilogueEmitter::LoadSums(Value* sums, Value* column) {
  return b_.CreateAlignedLoad(c_.vector, At(b_, c_.element, sums, column),
                              llvm::Align(c_.element_bytes));
}

const Dim& EpilogueEmitter::LineExtent() const {
  return c_.d.form == ContractionForm::kPixelColumns ? c_.d.image_pixels : c_.d.columns;
}

Value* EpilogueEmitter::BatchOf(Value* image, Value* group) {
  return Add(b_, Mul(b_, image, c_.d.pixels.groups), group);
}

void EpilogueEmitter::EmitVector(const std::vector<Value*>& outer, Value* position, Value* sums,
                                 Value* mask) {
  Value* offset = I64(b_, 0);
  for (size_t i = 0; i < outer.size(); ++i) {
    Bind(i, outer[i]);
    offset = Add(b_, offset, outer[i]);
    offset = Mul(b_, offset, c_.emitter.EmitDim(epilogue_.axes[i + 1]->extent));
  }
  StoreLanes(position, Add(b_, offset, position), sums, mask);
}

Value* EpilogueEmitter::BufferOf(const te::TensorNode& tensor) {
  return c_.emitter.ElementAddress(&tensor, std::vector<Value*>(tensor.shape.size(), I64(b_, 0)));
}

void EpilogueEmitter::Bind(size_t axis, Value* value) {
  c_.emitter.BindAxis(epilogue_.axes[axis].get(), value);
}

void EpilogueEmitter::BindFlat(size_t first, size_t count, Value* flat) {
  std::vector<Dim> extents;
  for (size_t i = 0; i < count; ++i) extents.push_back(epilogue_.axes[first + i]->extent);
  std::vector<Value*> coordinates = EmitUnflatten(c_, flat, extents);
  for (size_t i = 0; i < count; ++i) Bind(first + i, coordinates[i]);
}

bool EpilogueEmitter::BindRow(Value* batch, Value* row) {
  const ContractionDetail& d = c_.d;
  if (d.form == ContractionForm::kMatrix) {
    BindFlat(0, d.row_axes, Add(b_, Mul(b_, batch, c_.rows), row));
    return true;
  }
  Value* groups = I64(b_, d.pixels.groups);
  Value* group = Rem(b_, batch, groups);
  Bind(0, Div(b_, batch, groups));
  if (d.form == ContractionForm::kPixelRows) {
    BindFlat(1, d.row_axes - 1, row);
    column_base_ = Mul(b_, group, c_.columns);
    return true;
  }
  Bind(1, Add(b_, Mul(b_, group, c_.rows), row));
  return epilogue_.axes.size() == 3;
}

Value* EpilogueEmitter::Offset(Value* batch, Value* row, Value* column) {
  if (c_.d.form != ContractionForm::kPixelRows) {
    return Add(b_, Mul(b_, Add(b_, Mul(b_, batch, c_.rows), row), line_), column);
  }
  Value* groups = I64(b_, c_.d.pixels.groups);
  Value* pixel = Add(b_, Mul(b_, Div(b_, batch, groups), c_.rows), row);
  return Add(b_, Mul(b_, pixel, Mul(b_, groups, c_.columns)), Add(b_, column_base_, column));
}

void EpilogueEmitter::StoreLanes(Value* base, Value* offset, Value* sums, Value* mask) {
  Emitter& emitter = c_.emitter;
  const VectorAxis axis{epilogue_.axes.back().get(), base, c_.d.lanes, mask};
  emitter.BindValue(epilogue_.accumulator.get(), sums);
  emitter.BindValue(epilogue_.value.get(), emitter.EmitVector(epilogue_.result, axis));
  // All are computed before the first is stored: an output may overwrite an input that others read.
  std::vector<Value*> values;
  for (const Epilogue::Output& output : epilogue_.outputs) {
    values.push_back(emitter.EmitVector(output.expr, axis));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const DType dtype = epilogue_.outputs[i].tensor->dtype;
    Value* pointer = At(b_, emitter.MemoryType(dtype), outputs_[i], offset);
    emitter.StoreVector(values[i], dtype, pointer, mask);
  }
}

void EpilogueEmitter::StoreScalars(Value* column, Value* offset, Value* sums, Value* count) {
  For(b_, I64(b_, 0), count, 1, "out.column", [&](Value* j) {
    Value* sum = b_.CreateLoad(c_.element, At(b_, c_.element, sums, j));
    StoreScalar(Add(b_, column, j), Add(b_, offset, j), sum);
  });
}

void EpilogueEmitter::StoreScalar(Value* column, Value* offset, Value* sum) {
  Emitter& emitter = c_.emitter;
  BindFlat(2, epilogue_.axes.size() - 2, column);
  emitter.BindValue(epilogue_.accumulator.get(), sum);
  emitter.BindValue(epilogue_.value.get(), emitter.Emit(epilogue_.result));
  std::vector<Value*> values;
  for (const Epilogue::Output& output : epilogue_.outputs) {
    values.push_back(emitter.Emit(output.expr));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const DType dtype = epilogue_.outputs[i].tensor->dtype;
    emitter.Store(values[i], dtype, At(b_, emitter.MemoryType(dtype), outputs_[i], offset));
  }
}

}  // namespace relayvm::codegen
