// Loads whose elements do not follow each other along the vector's axis: strided ones, and square
// tiles that are transposed in registers.
#include <algorithm>
#include <cassert>
#include <vector>

#include "kernels/codegen/contraction/ir.h"
#include "kernels/codegen/emitter.h"
#include "kernels/codegen/ops.h"

namespace relayvm::codegen {

using llvm::Value;

// Loads everything from the first to the last lane's element, and picks: with masks, what lies
// between is off; without any, whole vectors, of which the last one ends with the last lane's.
Value* Emitter::LoadStrided(const Node* n, Value* first, unsigned stride, Value* mask) {
  unsigned lanes = vector_.lanes;
  llvm::Align align(static_cast<uint64_t>(DTypeBytes(n->dtype)));
  if (!b_.machine().masks) {
    assert(mask == nullptr);
    return LoadStridedParts(n, first, stride);
  }
  llvm::Type* type = VectorOf(MemoryType(n->dtype), lanes * stride);
  std::vector<int> spread;
  std::vector<int> pick;
  for (unsigned i = 0; i < lanes * stride; ++i)
    spread.push_back(static_cast<int>(i % stride == 0 ? i / stride : lanes));
  for (unsigned i = 0; i < lanes; ++i) pick.push_back(static_cast<int>(i * stride));
  llvm::Type* mask_type = VectorOf(b_.getInt1Ty(), lanes);
  if (mask == nullptr) mask = llvm::Constant::getAllOnesValue(mask_type);
  Value* wide_mask = b_.CreateShuffleVector(mask, llvm::Constant::getNullValue(mask_type), spread);
  Value* wide = b_.CreateMaskedLoad(type, Pointer(n->tensor, first), align, wide_mask,
                                    llvm::Constant::getNullValue(type));
  return b_.CreateShuffleVector(wide, pick);
}

Value* Emitter::LoadStridedParts(const Node* n, Value* first, unsigned stride) {
  const unsigned lanes = vector_.lanes;
  const unsigned last_part = (lanes - 1) * stride + 1 - lanes;
  Value* picked = nullptr;
  unsigned done = 0;  // lanes that are picked
  for (unsigned part = 0; part < stride; ++part) {
    const unsigned at = std::min(part * lanes, last_part);
    Value* loaded = LoadRun(n, Add(b_, first, int64_t{at}), lanes, nullptr);
    std::vector<int> pick;
    unsigned lane = 0;
    for (; lane < done; ++lane) pick.push_back(static_cast<int>(lane));
    const unsigned from = picked == nullptr ? 0 : lanes;  // the part's first lane
    for (; lane < lanes && lane * stride < at + lanes; ++lane)
      pick.push_back(static_cast<int>(from + lane * stride - at));
    done = lane;
    pick.resize(lanes, llvm::PoisonMaskElem);
    picked = picked == nullptr ? b_.CreateShuffleVector(loaded, pick)
                               : b_.CreateShuffleVector(picked, loaded, pick);
  }
  return picked;
}

std::vector<Value*> Emitter::LoadTransposed(const Node* load, const te::AxisNode* along,
                                            Value* first, const VectorAxis& axis, Value* count) {
  UseVectorAxis(axis);
  Address address = AddressOf(load->operands[0]);
  assert(address.affine);
  OpenScope();
  BindAxis(along, first);
  Value* start = Scalar(address.uniform);
  CloseScope();
  unsigned lanes = axis.lanes;
  llvm::Type* type = VectorOf(MemoryType(load->dtype), lanes);
  llvm::Align align(static_cast<uint64_t>(DTypeBytes(load->dtype)));
  Value* stride = EmitDim(address.stride);
  std::vector<Value*> rows;
  for (unsigned r = 0; r < lanes; ++r) {
    // The last row there is, again: a masked load would take a processor hundreds of cycles where
    // there is no page.
    Value* row = count == nullptr ? I64(b_, r) : Min(b_, I64(b_, r), Add(b_, count, -1));
    Value* index = Add(b_, start, Mul(b_, Add(b_, axis.base, row), stride));
    rows.push_back(b_.CreateAlignedLoad(type, Pointer(load->tensor, index), align));
  }
  // Exchanges the off-diagonal halves of blocks of 2, 4, ... rows.
  for (unsigned step = 1; step < lanes; step *= 2) {
    for (unsigned i = 0; i < lanes; ++i) {
      if ((i & step) != 0) continue;
      std::vector<int> low;
      std::vector<int> high;
      for (unsigned k = 0; k < lanes; ++k) {
        bool upper = (k & step) != 0;
        low.push_back(static_cast<int>(upper ? lanes + k - step : k));
        high.push_back(static_cast<int>(upper ? lanes + k : k + step));
      }
      Value* a = rows[i];
      Value* b = rows[i + step];
      rows[i] = b_.CreateShuffleVector(a, b, low);
      rows[i + step] = b_.CreateShuffleVector(a, b, high);
    }
  }
  for (Value*& row : rows) row = ops_->FromMemory(row, load->dtype);
  return rows;
}

}  // namespace relayvm::codegen
