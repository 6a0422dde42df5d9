// Results into memory of the caller (Invocation::Run with outputs). Tensors that were not made
// there (output_places.h) are copied when the run ends. Tested by outputs_test.cc.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/program.h"
#include "vm/border/value.h"
#include "vm/memory/object.h"
#include "vm/run/executable.h"

namespace relayvm::vm {

// The parts of a result that are no tuples, in order: its outputs.
void AddOutputs(const ValueType& result, std::vector<const ValueType*>* outputs);
// What the program calls each of them; empty where it does not say. It names all, or the tensors.
std::vector<std::string> OutputNames(const ExportInfo& function,
                                     std::span<const ValueType* const> outputs);

// Copies the dims of buffers, so that they outlive their caller's.
void HoldDims(std::span<OutputBuffer> outputs, std::vector<int64_t>* held);

// Before the run: whether there is a tensor for each buffer, of a type that it may have. Else
// kInvalidArgument.
Status CheckOutputs(const Program& program, const ExportInfo& function,
                    std::span<const OutputBuffer> outputs);

// Copies tensors of a result into their buffers, and gives what is left of it: Empty() in their
// places. Takes a reference of `result` over and gives one. When a tensor does not fit, it fails
// with kInvalidArgument, and nothing was copied. Buffers may lie in the memory of inputs and
// results. REQUIRES: CheckOutputs passed.
// `move` gives what a tensor is on a device (OutputBuffer::device), and keeps it.
using OutputMover = std::function<Result<Tensor*>(Tensor* tensor, const Device& device)>;
Result<Object*> TakeOutputs(Heap& heap, const ExportInfo& function, Object* result,
                            std::span<const OutputBuffer> outputs, const OutputMover& move);

}  // namespace relayvm::vm
