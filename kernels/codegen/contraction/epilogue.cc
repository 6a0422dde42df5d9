#include "kernels/codegen/contraction/epilogue.h"

namespace relayvm::codegen {

using llvm::Value;

EpilogueEmitter::EpilogueEmitter(ContractionContext& c)
    : c_(c), b_(c.b), epilogue_(c.d.epilogue), column_base_(I64(c.b, 0)) {
  for (const auto& [flat, original] : epilogue_.flattened) {
    c_.emitter.BindBuffer(flat.get(), BufferOf(*original));
  }
  for (const Epilogue::Output& output : epilogue_.outputs) {
    outputs_.push_back(BufferOf(*output.tensor));
  }
}

void EpilogueEmitter::EmitTile(Value* batch, Value* row, Value* count, Value* column, Value* tile) {
  const ContractionDetail& d = c_.d;
  auto load = [&](Value* pointer) {
    return b_.CreateAlignedLoad(c_.vector, pointer, llvm::Align(c_.element_bytes));
  };
  For(b_, I64(b_, 0), count, 1, "out.row", [&](Value* i) {
    Value* sums = At(b_, c_.element, tile, Mul(b_, i, d.panel));
    Value* at_row = Add(b_, row, i);
    const bool one_axis = BindRow(batch, at_row);
    Value* offset = Offset(batch, at_row, column);
    auto end = [&] { return Min(b_, Sub(b_, c_.columns, column), I64(b_, d.panel)); };
    if (!one_axis) {
      For(b_, I64(b_, 0), end(), 1, "out.column", [&](Value* j) {
        Value* sum = b_.CreateLoad(c_.element, At(b_, c_.element, sums, j));
        StoreScalar(Add(b_, column, j), Add(b_, offset, j), sum);
      });
      return;
    }
    Value* base = Add(b_, column_base_, column);
    auto whole_panel = [&] {
      for (unsigned v = 0; v < d.vectors; ++v) {
        const int64_t j = v * d.lanes;
        StoreLanes(Add(b_, base, j), Add(b_, offset, j), load(At(b_, c_.element, sums, j)),
                   nullptr);
      }
    };
    auto part_of_panel = [&] {
      Value* last = end();
      For(b_, I64(b_, 0), last, d.lanes, "out.column", [&](Value* j) {
        StoreLanes(Add(b_, base, j), Add(b_, offset, j), load(At(b_, c_.element, sums, j)),
                   MaskBelow(b_, Sub(b_, last, j), d.lanes));
      });
    };
    if (d.columns.is_const() && d.columns.value() % d.panel == 0) return whole_panel();
    if (d.columns.is_const() && d.columns.value() < d.panel) return part_of_panel();
    If(b_, b_.CreateICmpSLE(Add(b_, column, d.panel), c_.columns), whole_panel, part_of_panel);
  });
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
    return Add(b_, Mul(b_, Add(b_, Mul(b_, batch, c_.rows), row), c_.columns), column);
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

// Columns that are pixels of several axes.
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
