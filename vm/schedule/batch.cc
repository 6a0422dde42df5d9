#include "vm/schedule/batch.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "bytecode/base/guarded.h"
#include "vm/kernels/kernel_runner.h"
#include "vm/run/linked_program.h"
#include "vm/run/workspace.h"

namespace relayvm::vm {
namespace {

constexpr size_t kAlignment = 64;
// Groups that are looked at for the largest one.
constexpr int kMostSearched = 32;
constexpr size_t kMostUnused = 64;

const KernelInfo& InfoOf(const BatchedCall& call) {
  return call.executable->program().kernels[call.kernel];
}

void Mix(uint64_t* hash, uint64_t value) {
  *hash = (*hash ^ value) * 0x9E3779B97F4A7C15;
  *hash ^= *hash >> 32;
}

// The scalars of a kernel that calls have in common.
template <typename Fn>
void ForCommonScalars(const KernelInfo& info, const Fn& fn) {
  const BatchedKernelInfo& form = *info.batched;
  if (form.rows.empty()) {
    for (size_t i = 0; i < info.num_scalars; ++i) fn(i);
    return;
  }
  for (const uint16_t scalar : form.scalars) {
    if (scalar != BatchedKernelInfo::kBatchSize) fn(scalar);
  }
}

// Bytes rounded up to whole lines, so that what follows is aligned; false on overflow.
bool AddBytes(size_t* total, size_t size) {
  if (__builtin_add_overflow(size, kAlignment - 1, &size)) return false;
  return !__builtin_add_overflow(*total, size & ~(kAlignment - 1), total);
}

}  // namespace

uint64_t KeyOf(const BatchedCall& call) {
  const KernelInfo& info = InfoOf(call);
  auto hash = reinterpret_cast<uint64_t>(call.executable);
  Mix(&hash, call.kernel);
  ForCommonScalars(info, [&](size_t i) { Mix(&hash, static_cast<uint64_t>(call.scalars[i])); });
  for (uint16_t buffer : info.batched->shared)
    Mix(&hash, reinterpret_cast<uint64_t>(call.buffers[buffer]));
  return hash;
}

bool RunTogether(const BatchedCall& a, const BatchedCall& b) {
  if (a.executable != b.executable || a.kernel != b.kernel) return false;
  const KernelInfo& info = InfoOf(a);
  bool is_same = true;
  ForCommonScalars(info, [&](size_t i) { is_same = is_same && a.scalars[i] == b.scalars[i]; });
  return is_same && std::ranges::all_of(info.batched->shared, [&](uint16_t buffer) {
           return a.buffers[buffer] == b.buffers[buffer];
         });
}

// --- Running ---

bool BatchRunner::Run(const BatchQueue::Group& group, Workspace& workspace) {
  Heap& heap = *workspace.heap;
  heap.BeginRun(workspace.machine_memory);
  const KernelResources has{&heap, &workspace.scratch, workspace.pool,
                            workspace.pool->num_threads(), workspace.injected_pool};
  // Nothing stops it: a batch is short, and each member looks at its own limits afterwards.
  KernelRunner runner(has, [](void*, bool) { return StatusCode::kOk; }, nullptr);
  bool done = false;
  // There may be no memory, and a host's kernel may throw.
  const std::exception_ptr thrown = ExceptionOf([&] {
    calls_.clear();
    for (const BatchQueue::Member& member : group.members) calls_.push_back(member.call);
    done = RunCalls(runner, has.num_threads);
  });
  heap.Reset();
  return done && thrown == nullptr;
}

// Where each buffer of the calls together goes in memory of `total` bytes; shared ones are those of
// a call. False where the kernel takes more elements than they have: memory is safe whatever a file
// says.
bool BatchRunner::PlaceBuffers(const KernelInfo& info, const KernelInfo& kernel, size_t* total) {
  const size_t num_buffers = info.buffers.size();
  sizes_.clear();
  buffers_.assign(num_buffers, nullptr);  // for now, where in the memory
  std::span<const uint16_t> shared = info.batched->shared;
  for (size_t i = 0; i < num_buffers; ++i) {
    const KernelBuffer& buffer = info.buffers[i];
    const auto element = static_cast<size_t>(DTypeBytes(buffer.dtype));
    const bool is_shared = !shared.empty() && shared[0] == i;
    std::optional<int64_t> elements;
    size_t given = 0, size = 0;  // bytes
    for (const BatchedCall* call : calls_) {
      if (!elements || !info.batched->rows.empty())
        elements = EvaluateSize(buffer.shape, call->scalars);
      if (!elements || __builtin_mul_overflow(static_cast<size_t>(*elements), element, &size) ||
          __builtin_add_overflow(given, size, &given))
        return false;
      if (is_shared) break;
      sizes_.push_back(size);
    }
    const std::optional<int64_t> taken = EvaluateSize(kernel.buffers[i].shape, scalars_.data());
    if (!taken || static_cast<size_t>(*taken) > given / element) return false;
    if (is_shared) {
      shared = shared.subspan(1);
      continue;
    }
    buffers_[i] = reinterpret_cast<void*>(*total);
    if (!AddBytes(total, given)) return false;
  }
  return true;
}

void BatchRunner::CopyIn(const KernelInfo& info, char* memory) {
  std::span<const uint16_t> shared = info.batched->shared;
  const size_t* size = sizes_.data();
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (!shared.empty() && shared[0] == i) {
      shared = shared.subspan(1);
      buffers_[i] = calls_[0]->buffers[i];
      continue;
    }
    char* to = memory + reinterpret_cast<size_t>(buffers_[i]);
    buffers_[i] = to;
    for (const BatchedCall* call : calls_) {
      if (!info.buffers[i].written && *size > 0) std::memcpy(to, call->buffers[i], *size);
      to += *size++;
    }
  }
}

void BatchRunner::CopyOut(const KernelInfo& info) const {
  std::span<const uint16_t> shared = info.batched->shared;
  const size_t* size = sizes_.data();
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (!shared.empty() && shared[0] == i) {
      shared = shared.subspan(1);
      continue;
    }
    const char* from = static_cast<const char*>(buffers_[i]);
    for (const BatchedCall* call : calls_) {
      if (info.buffers[i].written && *size > 0) std::memcpy(call->buffers[i], from, *size);
      from += *size++;
    }
  }
}

// Those of all calls together; false where their rows are no number.
bool BatchRunner::TakeScalars(const BatchedKernelInfo& form) {
  auto b = static_cast<int64_t>(calls_.size());
  if (!form.rows.empty()) {
    b = 0;
    for (const BatchedCall* call : calls_) {
      const std::optional<int64_t> rows = EvaluateSize(form.rows, call->scalars);
      if (!rows || __builtin_add_overflow(b, *rows, &b)) return false;
    }
  }
  scalars_.clear();
  for (const uint16_t scalar : form.scalars)
    scalars_.push_back(scalar == BatchedKernelInfo::kBatchSize ? b : calls_[0]->scalars[scalar]);
  return true;
}

bool BatchRunner::RunCalls(KernelRunner& runner, int64_t num_threads) {
  const BatchedCall& first = *calls_[0];
  const KernelInfo& info = InfoOf(first);
  const BatchedKernelInfo& form = *info.batched;
  const KernelInfo& kernel = first.executable->program().kernels[form.kernel];
  size_t total = 0;
  if (!TakeScalars(form) || !PlaceBuffers(info, kernel, &total)) return false;
  const std::optional<int64_t> units =
      kernel.units.empty() ? 1 : EvaluateSize(kernel.units, scalars_.data());
  const std::optional<int64_t> scratch =
      kernel.scratch.empty() ? 0 : EvaluateSize(kernel.scratch, scalars_.data());
  if (!units || !scratch || *scratch < 0) return false;
  auto* memory =
      static_cast<char*>(runner.env()->allocate(runner.env(), std::max(total, kAlignment)));
  if (memory == nullptr) return false;
  CopyIn(info, memory);
  // Calls of one row each are too short to share.
  const int64_t tasks = form.rows.empty() ? 1 : num_threads;
  const KernelCall call{form.kernel,
                        &first.executable->linked().kernels[form.kernel],
                        {buffers_.data(), scalars_.data(), nullptr},
                        *units,
                        (*units + tasks - 1) / tasks,
                        *scratch};
  if (runner.Call(call) != RELAYVM_KERNEL_OK) return false;
  CopyOut(info);
  return true;
}

// --- The queue ---

BatchQueue::BatchQueue(size_t max_calls) : max_calls_(max_calls) { unused_.reserve(kMostUnused); }

void BatchQueue::Add(Member member, size_t urgency, uint64_t due_turn, int64_t due) {
  const BatchedCall& call = *member.call;
  Group* group = nullptr;
  auto [from, to] = by_key_.equal_range(call.key);
  for (auto it = from; it != to && group == nullptr; ++it) {
    if (vm::RunTogether(*it->second->members[0].call, call)) group = it->second;
  }
  if (group == nullptr) {
    group = NewGroup(std::move(member), urgency);
    group->due_turn = due_turn;
    group->due = due;
  } else {
    group->members.push_back(std::move(member));
    if (urgency < group->urgency) {
      --num_urgent_[group->urgency];
      ++num_urgent_[urgency];
      group->urgency = urgency;
    }
  }
  if (group->members.size() < max_calls_) return;
  Close(group);
  ++num_full_;
}

// Changes nothing where it throws.
BatchQueue::Group* BatchQueue::NewGroup(Member member, size_t urgency) {
  GroupPtr made;
  if (unused_.empty()) {
    made = std::make_unique<Group>();
  } else {
    made = std::move(unused_.back());
    unused_.pop_back();
  }
  Group* group = made.get();
  group->urgency = urgency;
  group->key = member.call->key;
  group->is_open = true;
  group->members.push_back(std::move(member));
  group->at = groups_.insert(groups_.end(), std::move(made));
  try {
    by_key_.emplace(group->key, group);
  } catch (...) {
    groups_.pop_back();
    throw;
  }
  ++num_urgent_[urgency];
  return group;
}

void BatchQueue::Close(Group* group) {
  auto [from, to] = by_key_.equal_range(group->key);
  for (auto it = from; it != to; ++it) {
    if (it->second != group) continue;
    by_key_.erase(it);
    break;
  }
  group->is_open = false;
}

BatchQueue::GroupPtr BatchQueue::Take(Group* group) {
  if (group->is_open) {
    Close(group);
  } else {
    --num_full_;
  }
  --num_urgent_[group->urgency];
  GroupPtr taken = std::move(*group->at);
  groups_.erase(taken->at);
  return taken;
}

BatchQueue::GroupPtr BatchQueue::TakeFull() {
  if (num_full_ == 0) return nullptr;
  const auto full = std::ranges::find_if(groups_, [](const GroupPtr& g) { return !g->is_open; });
  return Take(full->get());
}

BatchQueue::GroupPtr BatchQueue::TakeDue(uint64_t turn) {
  if (groups_.empty() || groups_.front()->due_turn > turn) return nullptr;
  return Take(groups_.front().get());
}

BatchQueue::GroupPtr BatchQueue::TakeLate(int64_t now) {
  if (groups_.empty() || groups_.front()->due > now) return nullptr;
  return Take(groups_.front().get());
}

BatchQueue::GroupPtr BatchQueue::TakeMoreUrgentThan(size_t urgency) {
  for (size_t u = 0; u < std::min(urgency, kUrgencies); ++u) {
    if (num_urgent_[u] == 0) continue;
    for (const GroupPtr& group : groups_) {
      if (group->urgency == u) return Take(group.get());
    }
  }
  return nullptr;
}

BatchQueue::GroupPtr BatchQueue::TakeLargest() {
  Group* largest = nullptr;
  int searched = 0;
  for (const GroupPtr& group : groups_) {
    if (++searched > kMostSearched) break;
    if (largest == nullptr || group->members.size() > largest->members.size())
      largest = group.get();
  }
  return largest != nullptr ? Take(largest) : nullptr;
}

void BatchQueue::Recycle(GroupPtr group) {
  group->members.clear();
  if (unused_.size() < kMostUnused) unused_.push_back(std::move(group));
}

}  // namespace relayvm::vm
