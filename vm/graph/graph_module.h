// GraphModule: runs a graph, a program of static shapes without control flow, as TVM's GraphModule
// does.
//
//   auto module = GraphModule::Load("resnet50");            // what relayc --executor graph -o resnet50 wrote
//   (*module)->SetInput("x", value);
//   (*module)->Run();
//   Result<Value> y = (*module)->GetOutput(0);
//
// All memory is planned and taken when it is loaded: a run allocates nothing, but for builtins that
// need buffers (sorting, NMS ...), which take theirs in their first run, and their pages stay.
// Inputs stay set from run to run. Runs count in a Runtime and are traced there as invocations':
// each kernel's event has the node's name and, as `pc`, its number. What a stranger wrote is
// verified before it is used; kernels are native code, trusted as a shared library is.
//
// Failures are Statuses; no exception leaves these functions. One thread at a time (Cancel by any);
// several modules of one folder may share their weights (ShareParams). Tested by
// graph_module_test.cc.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "vm/api/relayvm.h"
#include "vm/border/value.h"
#include "vm/kernels/task_pool.h"
#include "vm/run/executable.h"

namespace relayvm {

namespace graph {
struct LoadedGraph;
}

struct GraphOptions {
  // Whose threads and memory its runs take, which counts them (Runtime::stats) and tells its
  // TraceSink of them; its limit of memory is theirs too. Null: a runtime of the module's own, with
  // the next two.
  std::shared_ptr<Runtime> runtime;
  // Threads that one kernel may use, the calling one included; 0: as many as the machine has.
  uint32_t num_threads = 1;
  // A pool of 1 to 1024 threads to use instead of an own one (borrowed; num_threads is then
  // ignored). One that does not do what task_pool.h says is a run's kInternal.
  TaskPool* thread_pool = nullptr;
  // Bytes of what is planned, of kernels' scratch and of builtins' buffers, which fails when it is
  // loaded or with a run's kResourceExhausted. The machine's memory, or that of its control group,
  // is a limit in any case.
  size_t memory_limit = SIZE_MAX;
  LoadOptions load;  // of the kernels
};

// An input or an output.
struct GraphTensor {
  std::string_view name;  // of an output as the program says, else output_0, output_1 ...
  DType dtype;
  std::span<const int64_t> dims;
};

// What one node has done since timing was switched on.
struct NodeTime {
  std::string name;    // of the node
  std::string source;  // its place in the program; empty: unknown
  uint64_t calls = 0;
  int64_t total_ns = 0;
};

struct GraphMemory {
  size_t planned_bytes = 0;  // tensors between inputs and results, results included
  size_t weight_bytes = 0;
  size_t scratch_bytes = 0;  // of kernels, of all threads
};

class GraphModule {
 public:
  // Fails with kInvalidInput (a file that is not right), kUnsupported (no kernels for this
  // machine), kResourceExhausted (memory, threads).
  static Result<std::unique_ptr<GraphModule>> Load(const std::string& folder,
                                                   const GraphOptions& options = {});
  // For the compiler. REQUIRES: verified, as LoadGraph and LinkGraph do.
  static Result<std::unique_ptr<GraphModule>> Create(graph::LoadedGraph graph,
                                                     const GraphOptions& options = {});
  ~GraphModule();
  GraphModule(const GraphModule&) = delete;
  GraphModule& operator=(const GraphModule&) = delete;

  // Inputs are the program's parameters, and then its weights, as in TVM's graphs.
  size_t num_inputs() const;
  size_t num_outputs() const;
  // How many of the inputs are no weights: the first ones.
  size_t num_parameters() const;
  // REQUIRES: below num_inputs(), num_outputs().
  GraphTensor input(size_t index) const;
  GraphTensor output(size_t index) const;
  // kNotFound, which names what there is.
  Result<size_t> FindInput(std::string_view name) const;
  // The kernels, and one export: types of the parameters and of the result.
  const std::shared_ptr<const Executable>& kernels() const;

  // Copies the elements. kInvalidArgument for another type.
  Status SetInput(size_t index, const Value& value);
  Status SetInput(std::string_view name, const Value& value);
  // Runs read `value` where it is, until the input is set anew; what its owner writes there
  // meanwhile counts. Memory of the host: Value::WrapTensor, 64-byte aligned.
  Status SetInputZeroCopy(size_t index, Value value);
  Status SetInputZeroCopy(std::string_view name, Value value);
  // A copy of what is set. kOutOfRange without such an input.
  Result<Value> GetInput(size_t index) const;

  // Sets weights (or any inputs) by name: of TVM's parameter format, the bytes of a file. All or
  // none are set. kInvalidInput for other bytes, kNotFound, kInvalidArgument.
  Status LoadParams(std::span<const std::byte> bytes);
  // From here on, weights of the same name and type are those of `other`, in one memory. Gives
  // their number.
  Result<size_t> ShareParams(const GraphModule& other);

  // Fails with kFailedPrecondition (an input is not set), and as kernels do, naming the node:
  // kOutOfRange (an index), kFailedPrecondition, kResourceExhausted, kCancelled, kDeadlineExceeded.
  // There are no outputs then.
  Status Run();
  // Of each run from the next one on; 0: none. It acts inside kernels too.
  void set_timeout(std::chrono::nanoseconds timeout);
  // Makes the run in progress, or else the next one, fail with kCancelled: soon, also inside a
  // kernel. It ends one run, whatever that fails with: the next is a new one. From any thread.
  void Cancel();
  // Takes back a cancellation that came after the end of the run it was meant for.
  void ForgetCancel();
  // Asked on the thread of a run, between nodes and by kernels, every millisecond or so; where it
  // says true, the run ends as by Cancel. It must not use the module. Null: nobody is asked.
  void set_poll(bool (*poll)(void* context), void* context);

  // A copy. kOutOfRange without such an output; kFailedPrecondition before the first run, and where
  // the latest has failed.
  Result<Value> GetOutput(size_t index) const;
  // Into memory of the host; kInvalidArgument for another dtype or dims.
  Status CopyOutput(size_t index, const OutputBuffer& to) const;
  // Where the output is: compact, 64-byte aligned, until the next Run(). REQUIRES: index <
  // num_outputs().
  const void* output_data(size_t index) const;

  // Of the latest run; `run_ns` is 0 without a runtime of the host's. Memory as
  // GraphOptions::memory_limit counts it.
  InvocationStats stats() const;
  // In trace events: from 1, as those of invocations in the runtime.
  uint64_t id() const;
  // Times each node from here on, which costs some 50 ns a node; starts anew.
  void set_timing(bool timing);
  // Of nodes that run something, in their order.
  std::vector<NodeTime> node_times() const;
  GraphMemory memory() const;

 private:
  struct Impl;
  explicit GraphModule(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace relayvm
