// What a GraphModule is made of. It is loaded by graph_load.cc; inputs, runs and outputs are in
// graph_module.cc. Tested by graph_module_test.cc.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/io/tvm_params.h"
#include "vm/graph/format/graph.h"
#include "vm/graph/graph_module.h"
#include "vm/kernels/kernel_runner.h"
#include "vm/platform/system_pages.h"
#include "vm/run/workspace.h"

namespace relayvm {

struct GraphModule::Impl {
  static constexpr size_t kAlignment = 64;  // of tensors
  // --- What it is made of ---

  // Memory of its own, of whole pages, huge ones where it is large. Zero when it is made, since
  // nobody says that kernels write all of it.
  class Memory {
   public:
    Memory() = default;
    Memory(Memory&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Memory& operator=(Memory other) noexcept {
      std::swap(data_, other.data_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Memory() {
      if (data_ != nullptr) vm::SystemPages().Free(data_, bytes_);
    }
    static Result<Memory> Zeros(size_t bytes) {
      Memory m;
      if (bytes > SIZE_MAX - vm::kPageBytes) return Status::OutOfMemory();
      m.bytes_ = std::max<size_t>(vm::PagesOf(bytes), 1) * vm::kPageBytes;
      m.data_ = static_cast<char*>(vm::SystemPages().Allocate(m.bytes_, vm::kPageBytes));
      if (m.data_ != nullptr) return m;
      return Status(StatusCode::kResourceExhausted,
                    fmt::format("no memory: {} bytes for the graph's tensors", bytes));
    }
    char* data() const { return data_; }
    size_t size() const { return bytes_; }

   private:
    char* data_ = nullptr;
    size_t bytes_ = 0;
  };

  // Room for one input. Who shares it (ShareParams) holds the same piece.
  struct Piece {
    std::shared_ptr<Memory> memory;
    char* data = nullptr;
  };

  // Where an input is.
  struct Slot {
    uint32_t node = 0;
    std::shared_ptr<Piece> own;  // null: it is `value`
    Value value;
    bool is_set = false;
  };

  // An output.
  struct Head {
    const graph::Entry* entry;
    size_t bytes;
    size_t place = SIZE_MAX;  // of a copy of its own, in the arena
    bool is_copied = false;   // there, at the end of each run
    char* data = nullptr;
  };

  // A kernel's call, ready to run.
  struct Step {
    vm::KernelCall call;
    uint32_t node;
  };

  static std::string TypeText(DType dtype, std::span<const int64_t> dims);

  // --- The graph ---

  graph::Graph graph;
  std::shared_ptr<const Executable> kernels;
  std::vector<graph::StorageInfo> storages;
  std::vector<uint64_t> place;  // of each storage that is no input's: its byte in the arena
  Memory arena;
  size_t arena_bytes = 0;
  std::vector<Slot> inputs;      // by position
  std::vector<size_t> input_of;  // of each node: its position in `inputs`
  std::vector<Head> heads;
  size_t num_parameters = 0;
  std::vector<std::string> output_names;

  std::vector<Step> steps;
  std::vector<void*> buffers;
  std::vector<int64_t> scalars;
  // Of each input: the buffers that are (in) it, and at which byte.
  struct Use {
    uint32_t buffer;
    uint64_t offset;
  };
  std::vector<std::vector<Use>> uses;

  std::shared_ptr<Runtime> runtime;
  std::unique_ptr<vm::Workspace> workspace;  // of the runtime; all runs are one of its heap
  bool is_counted = false;                   // the runtime is the host's, who may ask it
  uint64_t id = 0, sampling = 0;             // in the runtime; a state of random numbers
  size_t memory_limit = 0;
  std::chrono::nanoseconds timeout{0};
  std::atomic<uint32_t> stop{0};
  vm::KernelResources resources;
  struct Polled : vm::Interrupts {
    bool (*poll)(void* context) = nullptr;
    void* context = nullptr;
  };
  Polled interrupts{{&stop}};
  std::optional<vm::KernelRunner> runner;

  // That weights are parts of, and when they are to be looked at again (steady clock).
  std::vector<std::shared_ptr<const FileMapping>> files;
  int64_t next_look = 0;

  bool has_run = false;
  int64_t run_ns = 0;  // of the latest run
  uint64_t kernel_calls = 0;
  bool timing = false;
  std::vector<NodeTime> times;  // parallel to `steps`

  const graph::Entry& EntryOf(graph::EntryRef ref) const {
    return graph.nodes[ref.node].outputs[ref.output];
  }
  char* AddressOf(const graph::Entry& entry) const {
    const graph::StorageInfo& storage = storages[entry.storage];
    if (storage.input < 0) return arena.data() + place[entry.storage] + entry.offset;
    const Slot& slot = inputs[input_of[static_cast<size_t>(storage.input)]];
    char* base = slot.own != nullptr ? slot.own->data
                                     : static_cast<char*>(const_cast<void*>(slot.value.data()));
    return base + entry.offset;
  }

  Impl() = default;
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Status OrderInputs(const ExportInfo& signature);
  Status PlaceHeads();
  Status PlaceStorages();
  // A tensor that stays where it is; `owner` keeps it.
  template <typename Owner>
  Status Borrow(size_t input, DType dtype, std::span<const int64_t> dims, const std::byte* data,
                Owner owner) {
    auto held = std::make_unique<Owner>(std::move(owner));
    RELAYVM_ASSIGN_OR_RETURN(inputs[input].value,
                             Value::WrapTensor(
                                 dtype, dims, const_cast<std::byte*>(data),
                                 [](void* p) { delete static_cast<Owner*>(p); }, held.release()));
    inputs[input].is_set = true;
    return OkStatus();
  }
  Status BorrowConstants();
  Status BorrowWeights(const TensorsByName& params);
  Status SetWeights(const TensorsByName& params);
  Status MakeSteps();
  Status TakeWorkspace(const GraphOptions& options);

  Result<size_t> Position(size_t index) const;
  Status CheckType(size_t index, DType dtype, std::span<const int64_t> dims) const;
  // The input is somewhere else now.
  void Patch(size_t index) {
    char* base = AddressOf(graph.nodes[inputs[index].node].outputs[0]);
    for (const Use& use : uses[index]) buffers[use.buffer] = base + use.offset;
  }
  // Room of its own, where an input has none that nobody shares; else null.
  Result<std::shared_ptr<Piece>> NewRoom(size_t index) const;
  // `room` as NewRoom gave it. What the input was until now goes only after the copy.
  void CopyTo(std::shared_ptr<Piece> room, size_t index, const void* data);
  Status Copy(size_t index, const void* data) {
    RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<Piece> room, NewRoom(index));
    CopyTo(std::move(room), index, data);
    return OkStatus();
  }

  Status NotSet(const Slot& slot) const;
  static StatusCode Interrupted(const Polled& run, bool own_thread) {
    const StatusCode reason = vm::Interrupted(run);
    if (reason != StatusCode::kOk || !own_thread || run.poll == nullptr) return reason;
    return run.poll(run.context) ? StatusCode::kCancelled : StatusCode::kOk;
  }
  size_t memory_bytes() const { return arena_bytes + workspace->scratch.bytes(); }
  Status StartHeap();
  Status CheckInputs() const;
  // Whether mapped files are what they were, looked at once in 10 ms.
  Status CheckFiles();
  Status RunSteps();
  Status RunCounted();
  Status FailGraph(vm::Failure failure) const;
  Status Fail(const Step& step, vm::Failure failure) const;
};

}  // namespace relayvm
