// The sizes that open dims have while kernels are measured. Tested by samples_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "kernels/codegen/kernel_compiler.h"
#include "kernels/codegen/schedule_space.h"

namespace relayvm::tuner {

// Of dims, by their names: what is measured with, in order. One list is taken along with another:
// n=1,16 and m=4,8 are two samples, not four.
using SampleSizes = std::map<std::string, std::vector<int64_t>>;

// "n=1,16,128".
Status ParseSampleSizes(const std::string& text, SampleSizes* sizes);

// What dims have for which nothing is said: 1, 16 and 128; of parameters of rank 4 and more
// (images), the first 1 and 8, the others 64 and 224. The first dim of a parameter that has other
// open dims as well (a batch) is 1. `shapes`: those of the program's parameters.
SampleSizes DefaultSampleSizes(const std::vector<std::vector<Dim>>& shapes);

// A value for each symbol of a kernel, by its id.
using Sample = std::map<uint32_t, int64_t>;
// Looks symbols up in `sample`, which must outlive it.
SymbolValue ValuesOf(const Sample& sample);

// The symbols of a kernel, each once, in order.
std::vector<Dim> SymbolsOf(const KernelSpec& spec);
// The samples of a kernel: as many as its longest list. A shorter list ends with its last number
// over and over. Names that `given` does not have are looked up in `defaults`. One sample without
// values where nothing is open.
std::vector<Sample> SamplesOf(const KernelSpec& spec, const SampleSizes& given,
                              const SampleSizes& defaults);

}  // namespace relayvm::tuner
