// What Python gives to a call: inputs by position and name, buffers for outputs, and options.
// REQUIRES: the GIL is held.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bytecode/program.h"
#include "vm/border/model_info.h"
#include "vm/border/value.h"
#include "vm/device/device.h"
#include "vm/run/executable.h"

namespace relayvm::python {

// As vectorcall has them: all borrowed.
struct CallArguments {
  std::span<PyObject* const> positional;
  std::span<PyObject* const> names;  // str, of `named`
  PyObject* const* named = nullptr;
};

// The same of a tuple and a dict (may be null). It must not outlive the tuple.
class ArgumentsOf {
 public:
  ArgumentsOf(const pybind11::tuple& args, const pybind11::dict& kwargs);
  ArgumentsOf(const ArgumentsOf&) = delete;
  ArgumentsOf& operator=(const ArgumentsOf&) = delete;
  operator const CallArguments&() const { return arguments_; }  // NOLINT: what it is for

 private:
  std::vector<pybind11::object> held_;
  std::vector<PyObject*> names_, named_;
  CallArguments arguments_;
};

// What is given by name and is no input.
struct CallOptions {
  explicit CallOptions(bool with_scheduler) : is_scheduled(with_scheduler) {}

  // Whether it is an option; an input of that name (`is_input`) comes first.
  bool Take(std::string_view name, pybind11::handle value, bool is_input);

  bool is_scheduled;  // those of the scheduler too
  pybind11::object out = pybind11::none(), priority = pybind11::none(), group = pybind11::none(),
                   state = pybind11::none();
  std::optional<std::chrono::nanoseconds> timeout;
  std::optional<size_t> memory_limit;
  uint64_t tag = 0;
};

struct ReadingInputs {
  // Memory of small tensors of earlier calls, which new ones take; to be dropped where others have
  // it too (DropShared). Null: none.
  std::vector<Value>* spares = nullptr;
  bool with_gradients = false;  // tensors that want them are taken
};
// A function's inputs, in order; those that are not given are none. `options`, if not null: names
// that are no inputs.
std::vector<Value> ReadInputs(const Program& program, const ExportInfo& function,
                              const CallArguments& given, CallOptions* options,
                              const ReadingInputs& how);
void DropShared(std::vector<Value>& spares);
// TypeError where one is missing that may not be. `without_states`: those of states may be.
void CheckMissing(const Program& program, const ExportInfo& function,
                  const std::vector<Value>& inputs, bool without_states);

// Both, of a tuple and a dict (may be null).
std::vector<Value> InputsOf(const Program& program, const ExportInfo& function,
                            const pybind11::tuple& args, const pybind11::dict& kwargs);

// Buffers of `out`, which this keeps: for a result that is a tensor one buffer will do; else by
// name or in order.
class Outputs {
 public:
  Outputs() = default;
  ~Outputs() {
    for (Py_buffer& view : views_) PyBuffer_Release(&view);
  }
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;

  void Read(const Executable& executable, const ExportInfo& function, const pybind11::object& out);
  // One buffer more.
  void Add(pybind11::object object);
  // The same of one whose memory is known.
  void Add(pybind11::object object, const OutputBuffer& buffer);
  // Once.
  std::vector<OutputBuffer> TakeBuffers() { return std::move(buffers_); }
  const std::vector<OutputBuffer>& buffers() const { return buffers_; }
  // None where there is no buffer.
  std::span<const pybind11::object> objects() const {
    return several_.empty() ? std::span(&only_, only_ ? 1 : 0) : std::span(several_);
  }

 private:
  void AddNamed(const FunctionSignature& function, const pybind11::dict& out);

  std::vector<OutputBuffer> buffers_;
  pybind11::object only_;  // of one buffer
  std::vector<pybind11::object> several_;
  std::vector<std::shared_ptr<Device>> devices_;  // as long as the run
  std::list<Py_buffer> views_;                    // where they are: a shape may lie in them
};

}  // namespace relayvm::python
