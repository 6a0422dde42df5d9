// Tensors of a result that are made where the caller wants them (Invocation::Run with outputs), so
// that nothing is copied when the run ends. Which instruction makes a tensor of the result is read
// off the code; what is not plain to see there is copied (outputs.h). Tested by outputs_test.cc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bytecode/program.h"
#include "vm/border/value.h"
#include "vm/memory/object.h"
#include "vm/run/linked_program.h"

namespace relayvm::vm {

// Tensors that buffers are counted by: those of a result outside of constructors.
size_t CountOutputs(const ValueType& type);

// The instructions of `code`, an exported function's, that make tensors of its result. From there
// it is straight to the return: they run once at most before it, and what they make is in the
// result. REQUIRES: the code is verified.
std::vector<OutputMaker> FindOutputMakers(const ExportInfo& info, std::span<const uint16_t> code);

// By parameter, the device where the input may be: all that reads it there, as far as is plain to
// see, is tensor.copy to that device. 0: the host; kNowhere: nothing reads it.
inline constexpr uint8_t kNowhere = 0xFF;
std::vector<uint8_t> FindInputDevices(const ExportInfo& info, std::span<const uint16_t> code);

// The buffers of one run that tensors may be made in, and what stays on devices. What an input may
// hold is not among them.
class OutputPlaces {
 public:
  OutputPlaces(const LinkedProgram& linked, const ExportInfo& function,
               std::span<const OutputBuffer> outputs, std::span<Object* const> inputs);

  bool empty() const { return places_.empty(); }
  // For what the instruction makes; null where that is made in the heap.
  char* Find(const uint16_t* pc, int64_t bytes) const;
  // Whether the tensor.copy at `pc`, of a tensor there, is left out.
  bool Stays(const uint16_t* pc, const Device& device) const {
    return std::ranges::any_of(
        places_, [&](const Place& place) { return place.pc == pc && place.device == &device; });
  }

 private:
  struct Place {
    const uint16_t* pc;
    char* data;
    int64_t bytes;
    const Device* device;  // or null
  };
  std::vector<Place> places_;
};

}  // namespace relayvm::vm
