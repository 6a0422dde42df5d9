#include "kernels/codegen/contraction/integer.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>

#include <vector>

#include "kernels/codegen/contraction/sorted_quads.h"
#include "kernels/codegen/instructions.h"

namespace relayvm::codegen {

using llvm::Value;

QuadHalves SplitQuads(Builder& b, Value* words, bool is_signed) {
  llvm::Type* type = VectorOf(b.getInt16Ty(), 2 * LanesOf(words));
  Value* pairs = b.CreateBitCast(words, type);
  Value *even, *odd;
  if (is_signed) {
    even = b.CreateAShr(b.CreateShl(pairs, 8), 8);
    odd = b.CreateAShr(pairs, 8);
  } else {
    even = b.CreateAnd(pairs, llvm::ConstantInt::get(type, 255));
    odd = b.CreateLShr(pairs, 8);
  }
  return {b.CreateBitCast(even, words->getType()), b.CreateBitCast(odd, words->getType())};
}

Value* AddPairProducts(Builder& b, Value* x, Value* y, Value* sum) {
  llvm::Type* type = VectorOf(b.getInt16Ty(), 2 * LanesOf(x));
  return b.CreateAdd(sum, b.machine().instructions->MultiplyPairs(b, b.CreateBitCast(x, type),
                                                                  b.CreateBitCast(y, type)));
}

Value* AddQuadProducts(Builder& b, Value* unsigned_words, Value* signed_words, Value* sum) {
  // Of lanes that the instruction has no form for, in registers.
  if (Value* all = b.machine().dots.quads->add(b, unsigned_words, signed_words, sum)) return all;
  const QuadHalves x = SplitQuads(b, unsigned_words, false), y = SplitQuads(b, signed_words, true);
  return AddPairProducts(b, x.odd, y.odd, AddPairProducts(b, x.even, y.even, sum));
}

// --- Packing ---

namespace {

llvm::Constant* ConstantVector(llvm::Type* element, const std::vector<int>& values) {
  std::vector<llvm::Constant*> elements;
  for (int v : values) elements.push_back(llvm::ConstantInt::getSigned(element, v));
  return llvm::ConstantVector::get(elements);
}

// A constant of whose value LLVM knows nothing: loaded once, where the function begins.
Value* Hidden(Builder& b, llvm::Constant* value) {
  llvm::Function* function = b.GetInsertBlock()->getParent();
  llvm::Module& module = *function->getParent();
  for (llvm::Instruction& i : function->getEntryBlock()) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&i);
    auto* from =
        load == nullptr ? nullptr : llvm::dyn_cast<llvm::GlobalVariable>(load->getPointerOperand());
    if (from != nullptr && from->getInitializer() == value) return load;
  }
  auto* global = new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage, value, "hidden");
  global->setAlignment(llvm::Align(64));
  llvm::BasicBlock& entry = function->getEntryBlock();
  return llvm::IRBuilder<>(&entry, entry.begin())
      .CreateAlignedLoad(value->getType(), global, llvm::Align(64), /*isVolatile=*/true);
}

// Four vectors of bytes as words, the first lowest.
Value* WordsOf(Builder& b, const std::vector<Value*>& bytes) {
  const unsigned lanes = LanesOf(bytes[0]);
  std::vector<int> halves, all, fours, ones;
  for (unsigned i = 0; i < 2 * lanes; ++i) halves.push_back(static_cast<int>(i));
  for (unsigned i = 0; i < 4 * lanes; ++i) all.push_back(static_cast<int>(i));
  // The four vectors behind each other; four bytes of each to the same 16 bytes; then one of each.
  Value* vectors = b.CreateShuffleVector(b.CreateShuffleVector(bytes[0], bytes[1], halves),
                                         b.CreateShuffleVector(bytes[2], bytes[3], halves), all);
  for (unsigned i = 0; i < lanes; ++i)
    fours.push_back(static_cast<int>(i % 4 * (lanes / 4) + i / 4));
  for (unsigned i = 0; i < 4 * lanes; ++i) {
    ones.push_back(static_cast<int>(i / 16 * 16 + i % 4 * 4 + i % 16 / 4));
  }
  llvm::FixedVectorType* words = VectorOf(b.getInt32Ty(), lanes);
  vectors = b.CreateBitCast(vectors, words);
  if (lanes == 16) {
    // LLVM takes both shuffles apart into more.
    Value* of_fours = Hidden(b, ConstantVector(b.getInt32Ty(), fours));
    for (int& one : ones) one %= 16;
    Value* of_ones = Hidden(b, ConstantVector(b.getInt8Ty(), ones));
    const Instructions& instructions = *b.machine().instructions;
    Value* grouped = instructions.Pick(b, vectors, of_fours);
    grouped = b.CreateBitCast(grouped, of_ones->getType());
    return b.CreateBitCast(instructions.Pick(b, grouped, of_ones), words);
  }
  Value* grouped = b.CreateShuffleVector(vectors, fours);
  grouped = b.CreateBitCast(grouped, VectorOf(b.getInt8Ty(), 4 * lanes));
  return b.CreateBitCast(b.CreateShuffleVector(grouped, ones), words);
}

// Bytes that follow each other; zero where the mask is off.
Value* LoadBytes(ContractionContext& c, Value* pointer, unsigned count, Value* mask) {
  Builder& b = c.b;
  llvm::FixedVectorType* type = VectorOf(b.getInt8Ty(), count);
  if (!mask) return b.CreateAlignedLoad(type, pointer, llvm::Align(1));
  return b.CreateMaskedLoad(type, pointer, llvm::Align(1), mask,
                            llvm::Constant::getNullValue(type));
}

// Both words of each quad behind each other.
Value* Interleaved(Builder& b, const QuadHalves& halves) {
  const unsigned lanes = LanesOf(halves.even);
  std::vector<int> turns;
  for (unsigned i = 0; i < 2 * lanes; ++i) turns.push_back(static_cast<int>(i / 2 + i % 2 * lanes));
  return b.CreateShuffleVector(halves.even, halves.odd, turns);
}

// Of a row of a (of unsigned data), byte `at` on.
void StoreBytes(ContractionContext& c, Value* bytes, Value* row, Value* at) {
  Builder& b = c.b;
  if (c.d.step_words > 1) {
    Value* words = b.CreateBitCast(bytes, VectorOf(b.getInt32Ty(), LanesOf(bytes) / kQuad));
    bytes = Interleaved(b, SplitQuads(b, words, /*is_signed=*/false));
    at = Mul(b, at, c.d.step_words);
  }
  b.CreateAlignedStore(bytes, At(b, b.getInt8Ty(), row, at), llvm::Align(1));
}

// Calls body(at, mask) for runs of `step` that cover 0..count, the last one masked.
void ForRuns(ContractionContext& c, Value* count, unsigned step, std::string_view name,
             const std::function<void(Value* at, Value* mask)>& body) {
  Builder& b = c.b;
  Value* whole = b.CreateAnd(count, I64(b, -static_cast<int64_t>(step)));
  For(b, I64(b, 0), whole, step, name, [&](Value* at) { body(at, nullptr); });
  If(b, b.CreateICmpSLT(whole, count),
     [&] { body(whole, MaskBelow(b, Sub(b, count, whole), step)); });
}

// The address of element (row, 0) of a matrix of bytes in memory.
Value* ByteRow(ContractionContext& c, const MatrixOperand& operand, Value* batch, Value* row) {
  Builder& b = c.b;
  c.emitter.BindAxis(operand.batch.get(), batch);
  Value* offset =
      Add(b, c.emitter.Emit(operand.base), Mul(b, row, c.emitter.EmitDim(operand.stride)));
  std::vector<Value*> origin(operand.bytes->shape.size(), I64(b, 0));
  return At(b, b.getInt8Ty(), c.emitter.ElementAddress(operand.bytes.get(), origin), offset);
}

}  // namespace

void EmitPackByteRows(ContractionContext& c, Value* batch, Value* row, Value* count,
                      Value* destination) {
  Builder& b = c.b;
  const ContractionDetail& d = c.d;
  Value* k_blocks = c.emitter.EmitDim(d.k_blocks);
  Value* depth = c.emitter.EmitDim(d.byte_depth);
  const bool in_memory = d.a.bytes != nullptr;
  const unsigned step = in_memory ? d.lanes * kQuad : d.lanes;
  For(b, I64(b, 0), count, 1, "pack.row", [&](Value* i) {
    Value* tile = Div(b, i, I64(b, d.tile_rows));
    Value* in_tile = Rem(b, i, I64(b, d.tile_rows));
    Value* source = in_memory ? ByteRow(c, d.a, batch, Add(b, row, i)) : nullptr;
    For(b, I64(b, 0), k_blocks, 1, "pack.block", [&](Value* block) {
      Value* from = Mul(b, block, d.k_block * kQuad);
      Value* extent = Sub(b, depth, from);
      if (d.k_block > 0) extent = Min(b, extent, I64(b, d.k_block * kQuad));
      Value* packed_row =
          Add(b, Mul(b, Add(b, Mul(b, tile, k_blocks), block), int64_t{d.tile_rows}), in_tile);
      Value* to = At(b, c.element, destination, Mul(b, packed_row, d.a_row_stride));
      // The last word is filled up with what weights of 0 meet.
      ForRuns(c, extent, step, "pack.k", [&](Value* k, Value* mask) {
        if (in_memory) {
          Value* values = LoadBytes(c, At(b, b.getInt8Ty(), source, Add(b, from, k)), step, mask);
          return StoreBytes(c, values, to, k);
        }
        Value* values = c.LoadView(d.a.view, batch, Add(b, row, i), Add(b, from, k), 2, mask);
        values = b.CreateTrunc(values, VectorOf(b.getInt8Ty(), d.lanes));
        if (mask)
          values = b.CreateSelect(mask, values, llvm::Constant::getNullValue(values->getType()));
        StoreBytes(c, values, to, k);
      });
    });
  });
}

void StoreQuads(ContractionContext& c, Value* words, Value* panel, Value* row, Value* column,
                Value* mask) {
  Builder& b = c.b;
  const auto store = [&](Value* values, Value* at) {
    Value* offset = Add(b, Mul(b, at, c.d.panel), column);
    StoreMasked(c, values, At(b, c.element, panel, offset), mask);
  };
  if (!c.unpacks_b || c.d.step_words == 1) return store(words, row);
  const bool is_signed = c.d.form != ContractionForm::kPixelColumns;
  const QuadHalves halves = SplitQuads(b, words, is_signed);
  row = Mul(b, row, c.d.step_words);
  store(halves.even, row);
  store(halves.odd, Add(b, row, 1));
}

void EmitSplitRows(ContractionContext& c, Value* from, Value* stride, Value* count, Value* extent,
                   Value* destination) {
  Builder& b = c.b;
  const llvm::Align align(c.element_bytes);
  const auto words_at = [&](Value* pointer, Value* at, unsigned lanes) {
    Value* words =
        b.CreateAlignedLoad(VectorOf(c.element, lanes), At(b, c.element, pointer, at), align);
    return SplitQuads(b, words, /*is_signed=*/true);
  };
  if (!c.d.a.k_contiguous) {
    const unsigned rows = c.d.tile_rows;
    For(b, I64(b, 0), extent, 1, "split.k", [&](Value* k) {
      const QuadHalves halves = words_at(from, Mul(b, k, int64_t{rows}), rows);
      Value* to = At(b, c.element, destination, Mul(b, k, 2 * int64_t{rows}));
      b.CreateAlignedStore(halves.even, to, align);
      b.CreateAlignedStore(halves.odd, At(b, c.element, to, int64_t{rows}), align);
    });
    return;
  }
  For(b, I64(b, 0), count, 1, "split.row", [&](Value* row) {
    Value* source = At(b, c.element, from, Mul(b, row, stride));
    Value* target = At(b, c.element, destination, Mul(b, row, c.d.a_row_stride));
    const auto step = [&](Value* k, unsigned lanes) {
      b.CreateAlignedStore(Interleaved(b, words_at(source, k, lanes)),
                           At(b, c.element, target, Mul(b, k, int64_t{2})), align);
    };
    Value* whole = b.CreateAnd(extent, I64(b, -int64_t{c.d.lanes}));
    For(b, I64(b, 0), whole, c.d.lanes, "split.k", [&](Value* k) { step(k, c.d.lanes); });
    For(b, whole, extent, 1, "split.rest", [&](Value* k) { step(k, 1); });
  });
}

void EmitSplitPanel(ContractionContext& c, Value* panel, Value* extent, Value* destination) {
  Builder& b = c.b;
  For(b, I64(b, 0), extent, 1, "split.k", [&](Value* k) {
    Value* row = At(b, c.element, panel, Mul(b, k, c.d.packed_width));
    for (unsigned v = 0; v < c.d.vectors; ++v) {
      const int64_t at = v * c.d.lanes;
      Value* words = b.CreateAlignedLoad(c.vector, At(b, c.element, row, at), llvm::Align(1));
      StoreQuads(c, words, destination, k, I64(b, at), nullptr);
    }
  });
}

namespace {

// b is (column, k) with k contiguous: squares of words are turned in registers.
void PackTransposedBytes(ContractionContext& c, Value* batch, Value* column, Value* destination) {
  Builder& b = c.b;
  const unsigned lanes = c.d.lanes;
  Value* last = Add(b, c.columns, -1);
  Value* depth = c.emitter.EmitDim(c.d.byte_depth);
  For(b, I64(b, 0), I64(b, c.d.panel), lanes, "pack.vector", [&](Value* v) {
    ForRuns(c, depth, lanes * kQuad, "pack.k", [&](Value* k, Value* mask) {
      std::vector<Value*> square;
      for (unsigned i = 0; i < lanes; ++i) {
        // Columns past the end repeat the last one; what comes of them is not stored.
        Value* at = Min(b, Add(b, Add(b, column, v), int64_t{i}), last);
        Value* pointer = At(b, b.getInt8Ty(), ByteRow(c, c.d.b, batch, at), k);
        square.push_back(b.CreateBitCast(LoadBytes(c, pointer, lanes * kQuad, mask), c.vector));
      }
      Transpose(b, square);
      Value* first = b.CreateLShr(k, 2);
      for (unsigned i = 0; i < lanes; ++i) {
        StoreQuads(c, square[i], destination, Add(b, first, int64_t{i}), v, nullptr);
      }
    });
  });
}

// b is (k, column) in memory: four rows, of which the last may be missing, are a row of words.
void PackByteRowsOfWords(ContractionContext& c, Value* batch, Value* column, Value* destination) {
  Builder& b = c.b;
  const ContractionDetail& d = c.d;
  Value* depth = c.emitter.EmitDim(d.byte_depth);
  llvm::FixedVectorType* type = VectorOf(b.getInt8Ty(), d.lanes);
  auto pack = [&](bool whole) {
    For(b, I64(b, 0), c.depth, 1, "pack.k", [&](Value* word) {
      for (unsigned v = 0; v < d.vectors; ++v) {
        Value* at = Add(b, column, int64_t{v * d.lanes});
        Value* mask = whole ? nullptr : MaskBelow(b, Sub(b, c.columns, at), d.lanes);
        std::vector<Value*> bytes;
        for (int64_t i = 0; i < kQuad; ++i) {
          Value* k = Add(b, Mul(b, word, kQuad), i);
          Value* inside = b.CreateICmpSLT(k, depth);
          Value* pointer = At(b, b.getInt8Ty(),
                              ByteRow(c, d.b, batch, b.CreateSelect(inside, k, I64(b, 0))), at);
          bytes.push_back(b.CreateSelect(inside, LoadBytes(c, pointer, d.lanes, mask),
                                         llvm::Constant::getNullValue(type)));
        }
        StoreQuads(c, WordsOf(b, bytes), destination, word, I64(b, v * d.lanes), nullptr);
      }
    });
  };
  If(
      b, b.CreateICmpSLE(Add(b, column, d.panel), c.columns), [&] { pack(true); },
      [&] { pack(false); });
}

}  // namespace

void EmitPackBytePanel(ContractionContext& c, Value* batch, Value* column, Value* destination) {
  Builder& b = c.b;
  const ContractionDetail& d = c.d;
  if (d.b.bytes && d.b.k_contiguous) return PackTransposedBytes(c, batch, column, destination);
  if (d.b.bytes) return PackByteRowsOfWords(c, batch, column, destination);
  // Words in memory, a row for each of k.
  const auto words_at = [&](Value* k, unsigned v, bool whole) -> Value* {
    const int64_t at = v * d.lanes;
    Value* source = At(b, c.element, c.PlainRow(d.b, batch, k), column);
    Value* pointer = At(b, c.element, source, at);
    const llvm::Align align(1);
    if (whole) return b.CreateAlignedLoad(c.vector, pointer, align);
    Value* mask = MaskBelow(b, Sub(b, c.columns, Add(b, column, at)), d.lanes);
    return b.CreateMaskedLoad(c.vector, pointer, align, mask,
                              llvm::Constant::getNullValue(c.vector));
  };
  auto pack = [&](bool whole) {
    if (d.sorts_steps && c.unpacks_b) {
      // Rows are far apart, and narrow: no processor fetches them.
      constexpr int64_t kRowsAhead = 16;
      return EmitSortedPanel(c, c.depth, destination, [&](Value* k, unsigned v) {
        Value* ahead = c.PlainRow(d.b, batch, Add(b, k, kRowsAhead));
        if (v == 0) FetchLine(b, At(b, c.element, ahead, column));
        return words_at(k, v, whole);
      });
    }
    For(b, I64(b, 0), c.depth, 1, "pack.k", [&](Value* k) {
      for (unsigned v = 0; v < d.vectors; ++v)
        StoreQuads(c, words_at(k, v, whole), destination, k, I64(b, v * d.lanes), nullptr);
    });
  };
  If(
      b, b.CreateICmpSLE(Add(b, column, d.panel), c.columns), [&] { pack(true); },
      [&] { pack(false); });
}

// --- Convolutions ---

namespace {

// The bytes at pointer + lane * stride, zero where the mask is off.
Value* LoadStridedBytes(ContractionContext& c, Value* pointer, int64_t stride, Value* mask) {
  Builder& b = c.b;
  const unsigned lanes = c.d.lanes;
  if (stride == 1) return LoadBytes(c, pointer, lanes, mask);
  llvm::FixedVectorType* type = VectorOf(b.getInt8Ty(), lanes);
  Value* zero = llvm::Constant::getNullValue(type);
  if (stride == 2 && b.machine().masks) {
    // The even ones of 2 * lanes - 1, which may be all there are.
    llvm::FixedVectorType* wide = VectorOf(b.getInt16Ty(), lanes);
    Value* evens = mask ? b.CreateAnd(b.CreateSExt(mask, wide), llvm::ConstantInt::get(wide, 255))
                        : static_cast<Value*>(llvm::ConstantInt::get(wide, 255));
    llvm::FixedVectorType* pairs = VectorOf(b.getInt8Ty(), 2 * lanes);
    Value* is_even =
        b.CreateICmpNE(b.CreateBitCast(evens, pairs), llvm::Constant::getNullValue(pairs));
    Value* loaded = LoadBytes(c, pointer, 2 * lanes, is_even);
    return b.CreateTrunc(b.CreateBitCast(loaded, wide), type);
  }
  if (stride == 2) {
    // The second load ends with the last even element, which is the last that may exist.
    std::vector<int> even;
    for (unsigned i = 0; i < lanes; ++i) {
      even.push_back(static_cast<int>(2 * i < lanes ? 2 * i : 2 * i + 1));
    }
    Value* second = At(b, b.getInt8Ty(), pointer, int64_t{lanes} - 1);
    if (!mask) {
      return b.CreateShuffleVector(LoadBytes(c, pointer, lanes, nullptr),
                                   LoadBytes(c, second, lanes, nullptr), even);
    }
    std::vector<int> low, high;
    for (unsigned i = 0; i < lanes; ++i) {
      low.push_back(static_cast<int>(i % 2 == 0 ? i / 2 : lanes));
      high.push_back(static_cast<int>(i % 2 == 1 ? (lanes + i) / 2 : lanes));
    }
    Value* off = llvm::Constant::getNullValue(mask->getType());
    return b.CreateShuffleVector(
        LoadBytes(c, pointer, lanes, b.CreateShuffleVector(mask, off, low)),
        LoadBytes(c, second, lanes, b.CreateShuffleVector(mask, off, high)), even);
  }
  Value* offsets = b.CreateMul(LaneIndices(b, lanes), b.CreateVectorSplat(lanes, I64(b, stride)));
  if (!mask) mask = llvm::ConstantInt::getTrue(VectorOf(b.getInt1Ty(), lanes));
  return b.CreateMaskedGather(type, b.CreateGEP(b.getInt8Ty(), pointer, offsets), llvm::Align(1),
                              mask, zero);
}

}  // namespace

Value* LoadPixelWords(ContractionContext& c, Value* pointer, Value* plane, int64_t stride,
                      Value* mask) {
  Builder& b = c.b;
  std::vector<Value*> channels;
  for (int64_t i = 0; i < kQuad; ++i) {
    channels.push_back(
        LoadStridedBytes(c, At(b, b.getInt8Ty(), pointer, Mul(b, plane, i)), stride, mask));
  }
  return WordsOf(b, channels);
}

void EmitPackBytePixelRows(ContractionContext& c, Value* batch, Value* row, Value* count,
                           Value* destination) {
  Builder& b = c.b;
  const ContractionDetail& d = c.d;
  const PixelOperand& p = d.pixels;
  const size_t axes = p.spatial();
  Value* base =
      c.emitter.ElementAddress(p.data.get(), std::vector<Value*>(p.data->shape.size(), I64(b, 0)));
  Value* image = Div(b, batch, I64(b, p.groups));
  const int64_t bytes = p.group_channels * kQuad;
  Value* first_channel = Mul(b, Rem(b, batch, I64(b, p.groups)), bytes);
  Value* pixel_bytes = c.emitter.EmitDim(p.channels);
  const unsigned step = d.lanes * kQuad;
  For(b, I64(b, 0), count, 1, "pack.row", [&](Value* i) {
    const std::vector<Value*> at = EmitUnflatten(c, Add(b, row, i), p.output);
    Value* packed = At(b, c.element, destination, Mul(b, i, d.a_row_stride));
    // Taps of axis `axis` on; `line` is the position in row-major order so far.
    std::function<void(size_t, Value*, Value*, Value*)> taps = [&](size_t axis, Value* tap,
                                                                   Value* line, Value* inside) {
      if (axis < axes) {
        For(b, I64(b, 0), I64(b, p.kernel[axis]), 1, "tap", [&](Value* k) {
          Value* position = Add(b, Mul(b, at[axis], p.stride[axis]),
                                Add(b, Mul(b, k, p.dilation[axis]), -p.padding[axis]));
          Value* extent = c.emitter.EmitDim(p.input[axis]);
          taps(axis + 1, Add(b, Mul(b, tap, p.kernel[axis]), k),
               Add(b, Mul(b, line, extent), position),
               b.CreateAnd(inside, b.CreateICmpULT(position, extent)));
        });
        return;
      }
      Value* to = At(b, b.getInt8Ty(), packed, Mul(b, tap, bytes * d.step_words));
      Value* from = At(b, b.getInt8Ty(), base, Add(b, Mul(b, line, pixel_bytes), first_channel));
      // A run that reaches past the channels writes into what the next tap or row fills later.
      auto copy = [&](bool is_inside) {
        ForRuns(c, I64(b, bytes), step, "pack.channel", [&](Value* k, Value* mask) {
          llvm::FixedVectorType* type = VectorOf(b.getInt8Ty(), step);
          Value* values = is_inside ? LoadBytes(c, At(b, b.getInt8Ty(), from, k), step, mask)
                                    : llvm::Constant::getNullValue(type);
          StoreBytes(c, values, to, k);
        });
      };
      If(b, inside, [&] { copy(true); }, [&] { copy(false); });
    };
    taps(0, I64(b, 0), image, b.getTrue());
  });
}

}  // namespace relayvm::codegen
