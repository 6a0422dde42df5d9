// LinkedProgram: a program as the interpreter runs it: code, kernels by address, constants as
// objects. Part of an Executable, which hosts see no more of. Immutable once linked; shared by all
// threads. Tested by executable_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bytecode/base/string_table.h"
#include "bytecode/base/threads.h"
#include "bytecode/image_loader.h"
#include "bytecode/kernel_abi.h"
#include "bytecode/program.h"
#include "vm/border/host_function.h"
#include "vm/border/signature_dims.h"
#include "vm/engines/regions.h"
#include "vm/kernels/kernel_call.h"

namespace relayvm::vm {

struct ProgramOnDevices;  // device_run.h
struct Tensor;

// What the interpreter needs of a function, in one cache line.
struct FunctionCode {
  const uint16_t* code;
  const ArenaSlot* slots;
  uint64_t arena_bytes;
  uint32_t frame_bytes;    // header and both banks
  uint32_t scratch_bytes;  // above the frame: argument blocks of kernels
  uint32_t index;          // into Program::functions
  uint16_t num_scalar_registers, num_object_registers;
  uint16_t num_scalar_args, num_object_args;
  bool returns_scalar;
};
static_assert(sizeof(FunctionCode) <= 64);

// An instruction that makes a tensor of an exported function's result.
struct OutputMaker {
  const uint16_t* pc;
  uint32_t function;  // into Program::functions
  size_t output;      // counted as OutputBuffers are
};

struct LinkedProgram {
  LinkedProgram() = default;
  ~LinkedProgram();
  LinkedProgram(const LinkedProgram&) = delete;
  LinkedProgram& operator=(const LinkedProgram&) = delete;

  bool clears_memory = false;  // LoadOptions::clear_memory
  // Program::code, where kernel calls have the bits that ask for checks (bytecode/kernel_call.h).
  std::vector<uint16_t> code;
  std::vector<FunctionCode> functions;
  std::vector<KernelCode> kernels;
  std::vector<HostFunction> host_functions;
  std::vector<Tensor*> constants;        // owned
  LinkedRegions regions;                 // of the constants' memory
  std::unique_ptr<StringTable> strings;  // of Program::strings; null: there are none
  std::unique_ptr<MappedImage> image;    // null without compiled kernels
  std::vector<OutputMaker> output_makers;
  std::vector<std::vector<uint8_t>> input_devices;  // by Program::exports: FindInputDevices
  std::vector<SignatureDims> export_dims;           // by Program::exports
  std::vector<SignatureDims> host_dims;             // by Program::host_functions, results included
  // On the devices of the runtimes that it has run in.
  mutable Mutex placed_mutex;
  mutable std::shared_ptr<ProgramOnDevices> placed;  // under it: the latest
};

}  // namespace relayvm::vm
