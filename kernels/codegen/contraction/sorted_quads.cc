#include "kernels/codegen/contraction/sorted_quads.h"

#include "kernels/codegen/contraction/contraction.h"
#include "kernels/codegen/instructions.h"
#include "kernels/op/step_order.h"

namespace relayvm::codegen {

using llvm::Value;

namespace {

// Where the parts of a panel are.
class SortedPanel {
 public:
  SortedPanel(Builder& b, Value* pointer, int64_t width, unsigned lanes, Value* steps)
      : b_(b), pointer_(pointer), width_(width), lanes_(lanes), steps_(steps) {
    const int64_t before = 2 * width;
    Value* places = b.CreateAnd(Add(b, steps, kAligned - 1), I64(b, -kAligned));
    places_ = At(b, b.getInt32Ty(), pointer, before);
    words_ = At(b, b.getInt32Ty(), places_, places);
  }

  static constexpr int64_t kAligned = 8;  // elements

  Value* plain_steps() const { return pointer_; }
  Value* FirstSums(unsigned v) const {
    return At(b_, b_.getInt32Ty(), pointer_, width_ + int64_t{v} * lanes_);
  }
  // Steps in their order here: the plain ones, then the wide ones, the last one first.
  Value* Place(Value* step) const { return At(b_, b_.getInt32Ty(), places_, step); }
  // Of plain step `step`.
  Value* Words(Value* step, unsigned v) const {
    return At(b_, b_.getInt32Ty(), words_, Add(b_, Mul(b_, step, width_), int64_t{v} * lanes_));
  }
  // The row of the magnitudes of the step at `place`; masks are the next one.
  Value* WideRow(Value* place) const { return Mul(b_, place, int64_t{2}); }
  Value* steps() const { return steps_; }

 private:
  Builder& b_;
  Value* pointer_;
  int64_t width_;
  unsigned lanes_;
  Value *steps_, *places_, *words_;
};

llvm::FixedVectorType* BytesOf(Builder& b, unsigned lanes) {
  return VectorOf(b.getInt8Ty(), 4 * lanes);
}

// The sums of four products in each lane. REQUIRES: those of neighbours are within int16.
Value* QuadProducts(Builder& b, Value* unsigned_bytes, Value* signed_bytes) {
  const Instructions& instructions = *b.machine().instructions;
  Value* pairs = instructions.MultiplyBytePairs(b, unsigned_bytes, signed_bytes);
  return instructions.MultiplyPairs(b, pairs, llvm::ConstantInt::get(pairs->getType(), 1));
}

}  // namespace

bool SortsSteps(const ContractionDetail& d) {
  const bool is_packed = d.form == ContractionForm::kMatrix && d.packed_width > 0;
  return d.panel_form == PanelForm::kQuads && OrdersSteps(d.target) && !d.step_order &&
         d.b.buffer && (is_packed || d.form == ContractionForm::kPixelRows);
}

bool OrdersSteps(const Machine& machine) {
  return machine.dots.quads == nullptr && machine.instructions->has_byte_pairs(machine);
}

void TakeStepOrder(const KernelSpec& spec, ContractionDetail& d) {
  const std::vector<te::Tensor>& inputs = d.contraction->hint_inputs;
  const std::vector<Dim>& shape = inputs[1]->shape;
  const bool takes = inputs.size() > 2 && OrdersSteps(d.target) && IsMemory(spec, inputs[2]) &&
                     shape[shape.size() - 2].is_const(kOrderedColumns);
  if (takes) d.step_order = inputs[2];
}

Dim SortedPanelElements(const ContractionDetail& d, const Dim& steps) {
  return steps * (2 * d.panel + 1) + (2 * d.panel + SortedPanel::kAligned);
}

void EmitSortedPanel(ContractionContext& c, Value* extent, Value* destination,
                     llvm::function_ref<Value*(Value* k, unsigned v)> words_at) {
  Builder& b = c.b;
  const ContractionDetail& d = c.d;
  const Instructions& instructions = *b.machine().instructions;
  const SortedPanel panel(b, destination, d.panel, d.lanes, extent);
  llvm::FixedVectorType* bytes = BytesOf(b, d.lanes);
  llvm::FixedVectorType* pairs = VectorOf(b.getInt16Ty(), 2 * d.lanes);
  const llvm::Align align(c.element_bytes);
  std::vector<Value*> carried(d.vectors + 1, llvm::Constant::getNullValue(c.vector));
  carried[d.vectors] = I64(b, 0);
  carried = ForCarried(
      b, I64(b, 0), extent, 1, "sort.k", carried, [&](Value* k, const std::vector<Value*>& before) {
        std::vector<Value*> next = before, weights;
        Value* saturates = nullptr;
        for (unsigned v = 0; v < d.vectors; ++v) {
          weights.push_back(b.CreateBitCast(words_at(k, v), bytes));
          Value* sums =
              instructions.MultiplyBytePairs(b, llvm::ConstantInt::get(bytes, 1), weights.back());
          Value* magnitudes = b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, sums, b.getFalse());
          Value* of_vector = b.CreateICmpSGT(magnitudes, llvm::ConstantInt::get(pairs, 128));
          saturates = saturates ? b.CreateOr(saturates, of_vector) : of_vector;
        }
        Value* is_wide = b.CreateOrReduce(saturates);
        Value* plain = before[d.vectors];
        Value* place = b.CreateSelect(is_wide, Sub(b, extent, Add(b, Sub(b, k, plain), 1)), plain);
        Value* row = b.CreateSelect(is_wide, panel.WideRow(place), place);
        b.CreateAlignedStore(b.CreateTrunc(k, b.getInt32Ty()), panel.Place(place), align);
        // Arithmetic: which step is wide, no processor foresees.
        Value* if_wide = b.CreateBitCast(
            b.CreateVectorSplat(d.lanes, b.CreateSExt(is_wide, b.getInt32Ty())), bytes);
        for (unsigned v = 0; v < d.vectors; ++v) {
          Value* negative =
              b.CreateSExt(b.CreateICmpSLT(weights[v], llvm::Constant::getNullValue(bytes)), bytes);
          Value* flips = b.CreateAnd(negative, if_wide);
          Value* stored = b.CreateSub(b.CreateXor(weights[v], flips), flips);
          b.CreateAlignedStore(stored, panel.Words(row, v), align);
          // Of a plain step, what the next one overwrites.
          Value* high = llvm::ConstantInt::get(bytes, 128);
          b.CreateAlignedStore(b.CreateXor(negative, high), panel.Words(Add(b, row, 1), v), align);
          Value* factors = b.CreateAnd(b.CreateAdd(high, negative), if_wide);
          next[v] = b.CreateAdd(before[v], QuadProducts(b, factors, weights[v]));
        }
        next[d.vectors] = Add(b, plain, b.CreateZExt(b.CreateNot(is_wide), b.getInt64Ty()));
        return next;
      });
  for (unsigned v = 0; v < d.vectors; ++v)
    b.CreateAlignedStore(carried[v], panel.FirstSums(v), align);
  b.CreateAlignedStore(b.CreateTrunc(carried[d.vectors], b.getInt32Ty()), panel.plain_steps(),
                       align);
}

std::vector<Value*> EmitSortedSteps(Builder& b, const TileConfig& config, Value* pointer, Value* k,
                                    const std::vector<Value*>& sums,
                                    llvm::function_ref<Value*(Value* k, unsigned row)> row_at) {
  const int64_t width = int64_t{config.vectors} * config.lanes;
  const SortedPanel panel(b, pointer, width, config.lanes, k);
  llvm::FixedVectorType* words = VectorOf(b.getInt32Ty(), config.lanes);
  llvm::FixedVectorType* bytes = BytesOf(b, config.lanes);
  const llvm::Align align(4);
  const auto load = [&](llvm::Type* type, Value* at) {
    return b.CreateAlignedLoad(type, at, align);
  };
  const auto number = [&](Value* at) {
    return b.CreateSExt(load(b.getInt32Ty(), at), b.getInt64Ty());
  };
  const auto steps = [&](Value* from, Value* to, bool is_wide, const std::vector<Value*>& before) {
    return ForCarried(
        b, from, to, 1, is_wide ? "wide" : "plain", before,
        [&](Value* step, const std::vector<Value*>& carried) {
          std::vector<Value*> next = carried, weights, masks;
          Value* row_of_panel = is_wide ? panel.WideRow(step) : step;
          for (unsigned v = 0; v < config.vectors; ++v) {
            weights.push_back(load(bytes, panel.Words(row_of_panel, v)));
            if (is_wide) masks.push_back(load(bytes, panel.Words(Add(b, row_of_panel, 1), v)));
          }
          Value* place = number(panel.Place(step));
          for (unsigned row = 0; row < config.rows; ++row) {
            Value* word = b.CreateLoad(b.getInt32Ty(), row_at(place, row));
            Value* data = b.CreateBitCast(b.CreateVectorSplat(config.lanes, word), bytes);
            for (unsigned v = 0; v < config.vectors; ++v) {
              Value* products = is_wide ? QuadProducts(b, weights[v], b.CreateXor(data, masks[v]))
                                        : QuadProducts(b, data, weights[v]);
              Value*& sum = next[row * config.vectors + v];
              sum = b.CreateAdd(sum, products);
            }
          }
          return next;
        });
  };
  Value* plain = number(panel.plain_steps());
  std::vector<Value*> result = steps(I64(b, 0), plain, false, sums);
  result = steps(plain, k, true, result);
  for (unsigned v = 0; v < config.vectors; ++v) {
    Value* first = load(words, panel.FirstSums(v));
    for (unsigned row = 0; row < config.rows; ++row) {
      Value*& sum = result[row * config.vectors + v];
      sum = b.CreateAdd(sum, first);
    }
  }
  return result;
}

std::vector<Value*> EmitOrderedSteps(Builder& b, const TileConfig& config,
                                     const OrderedPanel& panel, Value* k,
                                     const std::vector<Value*>& sums,
                                     llvm::function_ref<Value*(Value* k, unsigned row)> row_at) {
  llvm::FixedVectorType* bytes = BytesOf(b, config.lanes);
  const llvm::Align align(4);
  const auto least = [&](Value* x, Value* y) {
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, x, y);
  };
  // No order makes a step of what is none.
  const auto number = [&](Value* at) {
    return b.CreateZExt(b.CreateLoad(b.getInt32Ty(), At(b, b.getInt32Ty(), panel.order, at)),
                        b.getInt64Ty());
  };
  Value* last = Add(b, k, -1);
  const auto step_at = [&](Value* place) { return least(number(Add(b, place, kOrderHead)), last); };
  const auto weights_of = [&](Value* step) {
    Value* word = Mul(b, step, int64_t{config.lanes});
    return b.CreateAlignedLoad(bytes, At(b, b.getInt32Ty(), panel.weights, word), align);
  };
  const auto data_of = [&](Value* step, unsigned row) {
    Value* word = b.CreateLoad(b.getInt32Ty(), row_at(step, row));
    return b.CreateBitCast(b.CreateVectorSplat(config.lanes, word), bytes);
  };
  const Instructions& instructions = *b.machine().instructions;
  // Adds a pair's, a plain or a wide step's products, at a place of the order.
  const auto loop = [&](const char* name, Value* from, Value* to, int64_t steps, bool is_wide,
                        const std::vector<Value*>& before) {
    return ForCarried(
        b, from, to, steps, name, before, [&](Value* place, const std::vector<Value*>& carried) {
          std::vector<Value*> next = carried, at, weights;
          Value* masks = nullptr;
          for (int64_t i = 0; i < steps; ++i) {
            at.push_back(step_at(Add(b, place, i)));
            weights.push_back(weights_of(at.back()));
          }
          if (is_wide) {
            Value* zero = llvm::Constant::getNullValue(bytes);
            Value* negative = b.CreateSExt(b.CreateICmpSLT(weights[0], zero), bytes);
            masks = b.CreateXor(negative, llvm::ConstantInt::get(bytes, 128));
            weights[0] = b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, weights[0], b.getFalse());
          }
          // Of the panel that follows.
          FetchLine(b, At(b, b.getInt32Ty(), panel.weights,
                          Mul(b, Add(b, k, place), int64_t{config.lanes})));
          for (unsigned row = 0; row < config.rows; ++row) {
            Value* pairs = nullptr;
            for (size_t i = 0; i < at.size(); ++i) {
              Value* data = data_of(at[i], row);
              Value* products =
                  is_wide ? instructions.MultiplyBytePairs(b, weights[i], b.CreateXor(data, masks))
                          : instructions.MultiplyBytePairs(b, data, weights[i]);
              pairs = pairs ? b.CreateAdd(pairs, products) : products;
            }
            Value* quads =
                instructions.MultiplyPairs(b, pairs, llvm::ConstantInt::get(pairs->getType(), 1));
            next[row] = b.CreateAdd(next[row], quads);
          }
          return next;
        });
  };
  Value* pairs = least(number(I64(b, 0)), b.CreateLShr(k, 1));
  Value* paired = Mul(b, pairs, int64_t{2});
  Value* plain = Add(b, paired, least(number(I64(b, 1)), Sub(b, k, paired)));
  std::vector<Value*> result = loop("pair", I64(b, 0), paired, 2, false, sums);
  result = loop("plain", paired, plain, 1, false, result);
  result = loop("wide", plain, k, 1, true, result);
  Value* begins = b.CreateAlignedLoad(VectorOf(b.getInt32Ty(), config.lanes),
                                      At(b, b.getInt32Ty(), panel.order, kOrderBegins), align);
  for (Value*& sum : result) sum = b.CreateAdd(sum, begins);
  return result;
}

}  // namespace relayvm::codegen
