// Program: the content of a .vmx file as plain data. The compiler fills one in and writes it
// (writer.h); the reader (reader.h) gives one back whose large parts point into the mapped file.
// Tested by the round trips of reader_test.cc and assembler_test.cc.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bytecode/base/dtype.h"
#include "bytecode/base/shared_bytes.h"
#include "bytecode/size_formula.h"

namespace relayvm {

// The type of a value at the border (parameters and results), enough to read and print values.
struct ValueType {
  enum class Kind : uint8_t { kTensor, kTuple, kAdt, kFunction, kRef, kTypeVar };
  Kind kind = Kind::kTensor;
  DType dtype = DType::kFloat32;       // kTensor
  std::vector<int64_t> dims;           // kTensor: -1 where the size is symbolic
  std::vector<std::string> dim_names;  // kTensor: as printed ("n", "n*2 + 1"), parallel to dims; ""
                                       // where static or unknown
  // kTensor, of a parameter or a host function's result: dims that are expressions over other
  // names, else empty; parallel to dims, or none at all. Scalar i is name i of
  // bytecode/dim_names.h.
  std::vector<SizeFormula> dim_formulas;
  std::vector<ValueType> args;  // kTuple: fields; kAdt: type arguments; kRef: content
  // kAdt: index into Program::adts; kTypeVar: position among the type parameters in scope, of the
  // ADT or of the export.
  uint32_t index = 0;
};

struct ConstructorInfo {
  std::string name;
  std::vector<ValueType> fields;
};
struct AdtInfo {
  std::string name;
  uint32_t num_type_params = 0;
  std::vector<ConstructorInfo> constructors;  // position is the tag
};

// Memory of a frame's arena: byte range [offset, offset + bytes), offset a multiple of 64.
struct ArenaSlot {
  uint64_t offset;
  uint64_t bytes;
};

struct SourceLocation {  // of the instructions from `pc` on
  uint32_t pc;           // units from the function's first
  uint32_t file;         // index into Program::source_files
  uint32_t line;         // from 1; 0: the file's name is all that is known
  uint32_t column;
};

// Arguments arrive in i0.. (scalars) and r0.. (objects), each bank in parameter order.
struct FunctionInfo {
  std::string name;
  uint32_t code_offset = 0;  // units from the start of Program::code
  uint32_t code_size = 0;    // units
  uint16_t num_scalar_args = 0, num_object_args = 0;
  uint16_t num_scalar_registers = 0, num_object_registers = 0;
  bool returns_scalar = false;
  uint64_t arena_bytes = 0;
  std::vector<ArenaSlot> slots;
  std::vector<SourceLocation> locations;  // ordered by pc
  // For a function that is a closure's code: how many of its object arguments (the first ones) are
  // captured values.
  uint16_t num_captured = 0;
};

// What a state holds between runs: input `input` is what output `output` of the run before was. The
// input is a tensor, or one that may be left out, which it is where there was no run before.
struct StateInfo {
  uint32_t input = 0, output = 0;
};

// A function that hosts may call. Its code takes and returns objects only (scalars boxed). Dims of
// one name among the parameters are one number, which the border checks and the code relies on. A
// value of a type that its type parameters leave open may be any tensor, tuple or constructor.
struct ExportInfo {
  std::string name;
  uint32_t function = 0;
  uint32_t num_type_params = 0;
  std::vector<std::string> param_names;
  std::vector<ValueType> params;
  ValueType result;
  std::vector<std::string> output_names;  // of the result's tensors, depth first; may be empty
  std::vector<StateInfo> states;          // an input and an output are of one state at most
};

// A function that the program declares and the host provides (vm/border/host_function.h). It takes
// and gives objects (scalars boxed) of types without variables, functions and references. What dims
// of one name promise holds for the result too.
struct HostFunctionInfo {
  std::string name;
  std::vector<ValueType> params;
  ValueType result;
};

// What a kernel takes as one of its buffers: at least the elements of `shape` (kernel_call.h).
struct KernelBuffer {
  DType dtype = DType::kFloat32;
  bool written = false;
  // Of a written one: buffers that are read only, one of whose memory it may be.
  std::vector<uint16_t> may_share;
  SizeFormula shape;
};
// A scalar of a kernel call that must have this value.
struct FixedScalar {
  uint32_t index;
  alignas(8) int64_t value;
};

// The kernel that runs calls of another one at once, where all scalars and shared buffers of these
// are the same. Its buffers are those of the other one: a shared one as it is, any other as the
// calls' own, one after the other. It gives each call the very bits that the other kernel gives
// it. `b` is the number of calls; with `rows` that of all their rows, and of the scalars only those
// that it takes need be the same.
struct BatchedKernelInfo {
  static constexpr uint16_t kBatchSize = UINT16_MAX;

  uint32_t kernel = 0;           // index into Program::kernels
  std::vector<uint16_t> shared;  // buffers, ordered; none is written
  // Of each of its scalars, which one of the other kernel's it is; kBatchSize: b.
  std::vector<uint16_t> scalars;
  SizeFormula rows;  // of a call, by the other kernel's scalars; none: calls count
};

// A piece of the program that another engine runs, by its provider (region_abi.h). It is called as
// a kernel, whose `region` it is.
struct RegionInfo {
  std::string name;                 // "tvmgen_default_dnnl_main_0"
  std::string engine;               // "dnnl"
  std::string json;                 // as the provider gets it
  std::vector<uint32_t> constants;  // into Program::constants, of the JSON's, in their order
  uint32_t num_symbols = 0;         // of the JSON
};

// What is read and written follows from the kernel and the scalars of a call.
struct KernelInfo {
  std::string name;
  bool builtin = false;  // from kernels/runtime, by name, or a region's; else from the image
  // Of a builtin: into Program::regions. Its scalars: this number, which is fixed; for each input,
  // then each output: dtype, rank, dims, as of builtins (kernels/runtime/builtin.h); then the
  // numbers that the region's symbols stand for. One unit of work, no scratch.
  std::optional<uint32_t> region;
  std::vector<uint64_t> entries;  // one an image (Program::images), empty for a builtin
  uint16_t num_scalars = 0;
  std::vector<KernelBuffer> buffers;
  std::vector<FixedScalar> fixed;  // ordered by index
  SizeFormula units;               // at most; none: any number (a host's kernels only)
  SizeFormula scratch;             // bytes, at least; none: 0
  uint8_t device = 0;              // that runs it, and has all its buffers (Program::devices)
  std::optional<BatchedKernelInfo> batched;
};

struct TensorTypeInfo {  // operand TYPE
  DType dtype;
  std::vector<int64_t> dims;
  uint8_t device = 0;
};

// A tensor that a recipe reads.
struct RecipeInput {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;
  SharedBytes data;  // 64-byte aligned once read
  // Of the data, as a file states it (blake2b.h).
  std::optional<std::array<uint8_t, 32>> hash = std::nullopt;
};
// How the data of a constant is made when a program is loaded, of tensors that take less room: by a
// builtin that the runtime has for this (Builtin::makes_constants), which takes the inputs, then
// the constant.
struct RecipeInfo {
  std::string builtin;
  std::vector<int64_t> params;
  std::vector<RecipeInput> inputs;
};
// The most that a constant may be larger than the inputs of its recipe, and all such constants than
// the file: so what loading takes is in proportion to the file.
inline constexpr uint64_t kMaxRecipeGrowth = 64;

struct ConstantInfo {
  DType dtype;
  std::vector<int64_t> dims;
  std::string name;  // of a bound parameter, or empty
  // 64-byte aligned once read. Of one with a recipe: empty in a file, and what the recipe gives
  // from a compiler.
  SharedBytes data;
  std::shared_ptr<const RecipeInfo> recipe = nullptr;  // or null
  uint8_t device = 0;                                  // where kernels and registers have it
};

// What a file holds of it.
inline uint64_t BytesInFile(const ConstantInfo& constant) {
  if (constant.recipe == nullptr) return constant.data.size();
  uint64_t bytes = 0;
  for (const RecipeInput& input : constant.recipe->inputs) bytes += input.data.size();
  return bytes;
}

struct ImageInfo {
  std::string cpu_features;  // see KernelImage::cpu_features
  std::span<const uint8_t> elf;
  uint8_t device = 0;  // of another one than the host: whatever that loads
};

struct Program {
  uint32_t bytecode_version = 0;
  std::vector<FunctionInfo> functions;
  std::span<const uint16_t> code;
  std::vector<ExportInfo> exports;
  std::vector<AdtInfo> adts;
  std::vector<KernelInfo> kernels;
  std::vector<RegionInfo> regions;
  std::vector<HostFunctionInfo> host_functions;
  std::vector<TensorTypeInfo> tensor_types;
  std::vector<ConstantInfo> constants;
  std::vector<std::string> messages;
  std::vector<std::string> source_files;
  // The texts of constants of strings: a text's id is its position. The first is empty. None: the
  // program has no strings.
  std::vector<std::string> strings;
  std::vector<ImageInfo> images;  // by device, the host's first
  // Processors with memory of their own that it runs on, by name (vm/device/device.h): device i is
  // devices[i - 1], device 0 is the host.
  std::vector<std::string> devices;
  // Of a file that holds the program for several processors or engines: what each needs (regions.h,
  // TargetName), this one included, the least first. The writer takes programs.
  std::vector<std::string> targets;
  // Keeps alive what the spans point into: the mapped file, or the compiler's buffers.
  std::vector<std::shared_ptr<const void>> owners;
};

}  // namespace relayvm
