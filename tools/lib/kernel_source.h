// relayc --kernel: one operator as a program of its own, to look at its kernel or to time it.
//
//   nn.dense[(n, 768), (3072, 768)]
//   nn.conv2d[(1, 64, h, w), (64, 64, 3, 3); padding=[1, 1]]
//   add[(n) int32, () int32]
//
// Arguments are shapes, of float32 where no dtype follows; names stand for dims that stay open.
// Attributes are those of Relay's text. Tested by kernel_source_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bytecode/base/dtype.h"
#include "bytecode/base/status.h"
#include "bytecode/program.h"

namespace relayvm::tools {

struct KernelArgument {
  std::vector<std::string> dims;  // numbers and names
  DType dtype = DType::kFloat32;
};

struct KernelSource {
  std::string op;
  std::vector<KernelArgument> arguments;
  std::string attributes;  // "padding=[1, 1]"
};
using DimValues = std::map<std::string, int64_t>;

// kInvalidArgument says where the text is wrong. Whether the operator takes these arguments, type
// inference says.
Result<KernelSource> ParseKernelSource(const std::string& text);

// Relay text of a @main that calls the operator: dims that `values` does not know are `?`.
std::string RelayText(const KernelSource& source, const DimValues& values = {});

// Runs the program that RelayText became on random numbers, and says in a line how long it takes:
// the median and the least of as many runs as half a second has, on `threads` threads.
// kInvalidArgument names a dim without a value.
Result<std::string> TimeKernel(const KernelSource& source, Program program, const DimValues& values,
                               uint32_t threads);

}  // namespace relayvm::tools
