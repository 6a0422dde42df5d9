// What a machine does by an instruction that LLVM's IR has no form of, or that LLVM's back end does
// not find in what the form becomes. Here: what every machine can do; a backend overrides what its
// machines do better. Thread-safe. Tested by half_test.cc and ops_test.cc.
#pragma once

#include <string_view>

#include "kernels/codegen/builder.h"

namespace relayvm::codegen {

class Instructions {
 public:
  virtual ~Instructions() = default;

  // A vector of float32 as int32, -2^31 for what does not fit; truncated, or rounded to nearest
  // even. Null: there is none for so many lanes.
  virtual llvm::Value* FloatsToInt32(Builder& /*b*/, llvm::Value* /*x*/, bool /*rounds*/) const {
    return nullptr;
  }
  // float16, as i16, of float32: a scalar or a vector. REQUIRES: Machine::half.
  virtual llvm::Value* FloatToHalf(Builder& b, llvm::Value* x) const;
  // Element picks[i] of `from` for each i. Bytes are picked of their 16 alone, of which picks say
  // which. REQUIRES: vectors of one length, picks of integers as wide as elements.
  virtual llvm::Value* Pick(Builder& b, llvm::Value* from, llvm::Value* picks) const;
  // What a table of 256 bytes holds at each of `bytes`. Null: for so many lanes, nothing is better
  // than a load for each.
  virtual llvm::Value* TakeByBytes(Builder& /*b*/, llvm::Value* /*table: a pointer*/,
                                   llvm::Value* /*bytes*/) const {
    return nullptr;
  }
  // x[2i] * y[2i] + x[2i + 1] * y[2i + 1] of int16, as int32.
  virtual llvm::Value* MultiplyPairs(Builder& b, llvm::Value* x, llvm::Value* y) const;
  // Whether the machine multiplies uint8 by int8, and adds two neighbours as int16, saturated, by
  // one instruction, sooner than int16.
  virtual bool has_byte_pairs(const Machine& /*machine*/) const { return false; }
  // x[2i] * y[2i] + x[2i + 1] * y[2i + 1] of uint8 and int8, as int16, saturated.
  virtual llvm::Value* MultiplyBytePairs(Builder& b, llvm::Value* unsigned_bytes,
                                         llvm::Value* signed_bytes) const;
};

// An instruction that multiplies words of several narrow numbers, and adds their products to a sum.
struct DotProduct {
  std::string_view features;  // that the machine must have: "amx-tile,amx-bf16"
  unsigned vector_bytes;      // of the machines that are to use it
  // In each lane; for quads x is unsigned, y signed. Null: there is none for so many lanes. No
  // function: tiles do it (contraction/amx.h).
  llvm::Value* (*add)(Builder& b, llvm::Value* x, llvm::Value* y, llvm::Value* sum) = nullptr;
};

// emit(lanes first.. of x, as a vector of `unit` lanes) for as many of those as cover x, joined to
// what has its lanes.
llvm::Value* InUnits(Builder& b, llvm::Value* x, unsigned unit,
                     llvm::function_ref<llvm::Value*(llvm::Value*)> emit);

inline unsigned LanesOf(const llvm::Value* vector) {
  return llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
}

}  // namespace relayvm::codegen
