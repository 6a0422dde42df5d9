// The verifier: what must hold of a program before the interpreter may run it.
//
// Guaranteed of a program that passed, so that the interpreter does not check it again:
//   - functions: their code lies end to end, in order, and fills Program::code; at most 32768
//     registers a bank; arguments fit the registers, captured values the object arguments; arena
//     slots are 64-byte aligned and inside the arena;
//   - code: instructions decode and end inside the function; jump targets and source locations are
//     starts of instructions of the same function; control never runs past the function's end;
//   - operands: registers are in range of their bank; take bits stand only on object registers that
//     are read, and no instruction uses a register again after taking it; indices of tables and
//     slots, dtypes, comparisons and scalar functions are valid, and fit the instruction (an
//     integer dtype for wrap, a slot large enough for slot.item ...);
//   - direct calls: counts of arguments and the bank of the result match the callee; returns match
//     returns_scalar; a tail call's callee returns the caller's bank; closure.new captures as many
//     values as the function expects, and that function takes and returns objects only;
//   - devices: those of kernels, tensors, constants and images are the program's; a kernel's
//     constants and slots are on its device;
//   - kernel calls: counts of scalars and buffers match the kernel; what is written is neither a
//     constant nor overlaps another buffer; dtypes, sizes, units of work and scratch are right where
//     the code shows them (kernel_call.h);
//   - tables: dtypes and dims are valid, ranks at most kMaxTensorRank, sizes in bytes fit 63 bits;
//     constants' data has the size of its type, or they have recipes, whose inputs have, and which make at
//     most kMaxRecipeGrowth times as much; types at the border refer to existing ADTs with the
//     right number of arguments, nest at most kMaxTypeDepth deep, and hold type variables of the
//     ADT or export that they stand in; an export takes and returns objects only, one for each
//     parameter;
//   - regions: names, engines, constants and symbols are what regions.h says; a kernel that runs one
//     takes its tensors as a builtin does, and is the only one that does;
//   - images: what image.h says; each compiled kernel has an entry inside the code of each image.
//
// Left to the interpreter, because it depends on values:
//   - an object register may be empty (never written, or taken before) or hold any kind of object:
//     each instruction checks the kind that it needs, positions of fields, dims and elements, a
//     closure's number of arguments, sizes of views;
//   - scalar registers hold any 64 bits: dims and sizes of allocations, extents of kernels and
//     their scratch are checked when used;
//   - kernel calls that kernel_call.h cannot prove: the same is checked when they run;
//   - what kernels do inside their buffers, and that they read and write what their KernelInfo
//     says: native code is trusted. So are scalars that are not part of a size, such as an offset.
//
// Time is linear in the size of the program without its constants.
// Thread-safe. Tested by verifier_test.cc.
#pragma once

#include <cstdint>
#include <span>

#include "bytecode/base/status.h"
#include "bytecode/program.h"

namespace relayvm {

inline constexpr int kMaxTypeDepth = 256;
inline constexpr size_t kMaxTensorRank = 255;
inline constexpr int kMaxRegisters = 32768;
inline constexpr uint64_t kMaxArenaBytes = uint64_t{1} << 47;

// Fails with kInvalidInput; messages name the function and the unit: "call.r: register r9 out of
// range 8 (main+0x1c)".
Status VerifyProgram(const Program& program);

// The code of all functions. REQUIRES: the program's tables have been verified. (VerifyProgram
// calls it.)
Status VerifyCode(const Program& program);

// Bytes of a tensor of static type. Fails when the rank is above the limit, a dim is negative or
// the size does not fit 63 bits.
Result<uint64_t> StaticTensorBytes(DType dtype, std::span<const int64_t> dims);

}  // namespace relayvm
