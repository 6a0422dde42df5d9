// oneDNN as the provider uses it: descriptors of memory and of primitives as values, primitives,
// streams and memories as owners. What calls the library stands in onednn_v2.cc alone, over the C
// API of version 2, found by dlsym in a library that is opened at run time; another major version
// is another such file. Of dnnl_types.h the constants are used elsewhere too.
//
// Shapes are int64; results of the library become statuses: kResourceExhausted for no memory,
// kUnsupported where it has no implementation, kInvalidInput where it refuses a descriptor.
// Descriptors and primitives may be used by several threads at once, streams and memories by one.
// Tested by dnnl_test.cc.
#pragma once

#include <oneapi/dnnl/dnnl_types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bytecode/base/dtype.h"
#include "bytecode/base/status.h"

namespace relayvm::onednn {

using Dims = std::vector<int64_t>;

// Opens libdnnl.so.2, or what RELAYVM_DNNL_LIBRARY names; what has worked stays open for good.
// Gives its version, "2.6.3". kUnsupported: not there, another major version, functions missing.
// REQUIRED before all that follows.
Result<const char*> OpenLibrary();

// --- Memory ---

// Extents, type and layout of a tensor, perhaps blocked and padded.
class MemoryDesc {
 public:
  MemoryDesc() = default;  // of no memory
  // Row-major. A rank of 0 is one of rank 1.
  static Result<MemoryDesc> Plain(const Dims& dims, DType dtype);
  // With strides in elements.
  static Result<MemoryDesc> Strided(const Dims& dims, DType dtype, const Dims& strides);
  // The layout is left to the primitive.
  static Result<MemoryDesc> Any(const Dims& dims, DType dtype);
  static MemoryDesc Of(const dnnl_memory_desc_t& desc);

  // Axis i of the result is axis order[i] of this. REQUIRES: a permutation of the rank.
  Result<MemoryDesc> Permuted(const std::vector<int>& order) const;
  // kUnsupported where the layout does not allow it. REQUIRES: as many elements.
  Result<MemoryDesc> Reshaped(const Dims& dims) const;
  // The same extents and type, row-major.
  Result<MemoryDesc> AsPlain() const;
  // The same layout and extents with elements of another type.
  MemoryDesc WithType(DType dtype) const;

  bool is_none() const { return desc_.ndims == 0; }
  Dims dims() const;
  int rank() const { return desc_.ndims; }
  bool is_empty() const;  // an extent is 0
  // Dense and row-major (along axes of extent above 1).
  bool is_plain() const;
  // Not blocked: some order of the axes.
  bool is_strided() const;
  // Blocked by fewer elements than 8, as convolutions in groups of few channels leave them.
  bool has_narrow_blocks() const;
  uint64_t bytes() const;          // padding included
  int64_t Stride(int axis) const;  // in elements. REQUIRES: is_strided()
  // Elements lie at the same places; extents and types are equal.
  bool SameLayout(const MemoryDesc& other) const;

  const dnnl_memory_desc_t& get() const { return desc_; }

 private:
  dnnl_memory_desc_t desc_ = {};
};

// --- Primitives ---

struct PostOp {
  enum class Kind : uint8_t { kEltwise, kSum, kBinary };
  Kind kind = Kind::kEltwise;
  dnnl_alg_kind_t algorithm = dnnl_alg_kind_undef;
  float alpha = 0, beta = 0;  // kEltwise
  MemoryDesc operand;         // kBinary
};
struct Attributes {
  std::vector<PostOp> post_ops;
  std::optional<int32_t> src_zero_point;
};

class Primitive {
 public:
  Primitive() = default;
  explicit Primitive(dnnl_primitive_t primitive);
  dnnl_primitive_t get() const { return primitive_.get(); }
  explicit operator bool() const { return primitive_ != nullptr; }

 private:
  std::shared_ptr<dnnl_primitive> primitive_;
};

class PrimitiveDesc {
 public:
  PrimitiveDesc() = default;
  explicit PrimitiveDesc(dnnl_primitive_desc_t desc);
  // Layouts: of sources, weights (bias is the second) and destinations; of an argument of the
  // execution by dnnl_query_exec_arg_md.
  MemoryDesc Query(dnnl_query_t what, int index = 0) const;
  MemoryDesc scratchpad() const { return Query(dnnl_query_scratchpad_md); }
  // "brgconv:avx512_core"
  std::string implementation() const;
  // By plain loops, slow.
  bool is_reference() const { return implementation().starts_with("ref"); }
  Result<Primitive> Create() const;
  explicit operator bool() const { return desc_ != nullptr; }

 private:
  std::shared_ptr<dnnl_primitive_desc> desc_;
};

// What primitives are described by. Descriptors that are none leave an operand out.
struct Convolution {
  bool is_transposed = false;
  MemoryDesc src, weights, bias, dst;
  Dims strides, dilation, before, after;  // dilation 1: dense
};
struct InnerProduct {
  MemoryDesc src, weights, bias, dst;
};
struct MatMul {
  MemoryDesc src, weights, bias, dst;
};
struct Pool {
  dnnl_alg_kind_t algorithm;
  MemoryDesc src, dst;
  Dims window, strides, dilation, before, after;
};
struct Eltwise {
  dnnl_alg_kind_t algorithm;
  float alpha, beta;
  MemoryDesc src;
};
struct Binary {
  dnnl_alg_kind_t algorithm;
  MemoryDesc a, b, dst;
};
struct Softmax {
  bool is_log;
  MemoryDesc src, dst;
  int axis;
};
struct BatchNorm {  // inference: mean and variance are given; channels are axis 1
  MemoryDesc data;
  float epsilon;
  bool has_scale, has_shift;
};
struct LayerNorm {  // over the last axis
  MemoryDesc data;
  float epsilon;
  bool has_scale, has_shift;
};
struct Lrn {  // across axis 1
  MemoryDesc data;
  int64_t size;
  float alpha, beta, k;
};
struct Prelu {
  MemoryDesc data, weights;
};
struct Reduction {
  dnnl_alg_kind_t algorithm;
  MemoryDesc src, dst;
};
struct Resampling {
  dnnl_alg_kind_t algorithm;
  MemoryDesc src, dst;
};
struct Concat {
  std::vector<MemoryDesc> srcs;
  MemoryDesc dst;
  int axis;
};
struct Reorder {
  MemoryDesc src, dst;
};
// One layer from the first turn to the last. Data is (turns, rows, features), states are (1, 1,
// rows, hidden), weights (1, 1, features, gates, hidden), the bias (1, 1, gates, hidden) with one
// gate more for kResetAfter. Gates: input, forget, new, output of an LSTM; update, reset, new, and
// the state's part of new. memory is an LSTM's.
struct Recurrent {
  enum class Kind : uint8_t { kPlain, kLstm, kGru, kResetAfter };
  Kind kind;
  dnnl_alg_kind_t activation;  // kPlain
  MemoryDesc data, state, memory, weights, state_weights, bias, dst;
};
Result<PrimitiveDesc> Describe(const Convolution& c, const Attributes& a);
Result<PrimitiveDesc> Describe(const InnerProduct& p, const Attributes& a);
Result<PrimitiveDesc> Describe(const MatMul& p, const Attributes& a);
Result<PrimitiveDesc> Describe(const Pool& p, const Attributes& a);
Result<PrimitiveDesc> Describe(const Eltwise& e, const Attributes& a);
Result<PrimitiveDesc> Describe(const Binary& b, const Attributes& a);
Result<PrimitiveDesc> Describe(const Softmax& s, const Attributes& a);
Result<PrimitiveDesc> Describe(const BatchNorm& n, const Attributes& a);
Result<PrimitiveDesc> Describe(const LayerNorm& n, const Attributes& a);
Result<PrimitiveDesc> Describe(const Lrn& n, const Attributes& a);
Result<PrimitiveDesc> Describe(const Prelu& p, const Attributes& a);
Result<PrimitiveDesc> Describe(const Reduction& r, const Attributes& a);
Result<PrimitiveDesc> Describe(const Resampling& r, const Attributes& a);
Result<PrimitiveDesc> Describe(const Concat& c, const Attributes& a);
Result<PrimitiveDesc> Describe(const Reorder& r, const Attributes& a);
Result<PrimitiveDesc> Describe(const Recurrent& r, const Attributes& a);

// --- Execution ---

class Memory {
 public:
  // Over `data`, which may be null where SetData comes before its use.
  static Result<Memory> Over(const MemoryDesc& desc, void* data);
  Status SetData(void* data);
  dnnl_memory_t get() const { return memory_.get(); }

 private:
  std::shared_ptr<dnnl_memory> memory_;
  void* data_ = nullptr;
};

class Stream {
 public:
  static Result<Stream> Create();
  // Returns when it is done.
  Status Execute(const Primitive& primitive, std::span<const dnnl_exec_arg_t> args) const;

 private:
  std::shared_ptr<dnnl_stream> stream_;
};

// Whether the library has products of bfloat16 on this machine.
bool HasBFloat16();
// Whether it has products of bytes that are summed to int32 without loss.
bool HasByteProducts();

}  // namespace relayvm::onednn
