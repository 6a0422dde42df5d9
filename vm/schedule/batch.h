// Calls of kernels that wait to be run together: of one program, of one kernel, with the same
// scalars (or those of its batched form, where this counts rows) and the same shared buffers
// (BatchedKernelInfo). A call is parked by its invocation,
// which is then suspended (interpreter_kernel.cc), and run by a thread of the scheduler. Tested by
// batch_test.cc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "vm/run/executable.h"

namespace relayvm {
struct BatchedKernelInfo;
struct KernelInfo;
}  // namespace relayvm

namespace relayvm::vm {

class KernelRunner;
struct Workspace;

// On the stack of an invocation, which stays suspended for as long as others use this.
struct BatchedCall {
  const Executable* executable = nullptr;
  uint32_t kernel = 0;  // of the program; it has a batched form
  void* const* buffers = nullptr;
  const int64_t* scalars = nullptr;
  uint64_t key = 0;   // of what must be the same, see KeyOf; whoever queues it sets it
  bool done = false;  // it ran with others; else the invocation runs it by itself
  // For a trace, once it is done: the calls that ran together, and when.
  uint64_t calls = 1;
  int64_t begin_ns = 0, end_ns = 0;
};

// A hash of what calls that run together have in common.
uint64_t KeyOf(const BatchedCall& call);
bool RunTogether(const BatchedCall& a, const BatchedCall& b);

// The calls that wait, in groups of such as run together. Not thread-safe.
class BatchQueue {
 public:
  static constexpr size_t kUrgencies = 3;  // 0 is the most urgent

  struct Member {
    BatchedCall* call = nullptr;
    std::shared_ptr<void> run;  // whatever the owner wants to find again
  };
  struct Group {
    std::vector<Member> members;
    // When the oldest member has waited for long enough: in turns of the owner, and by the clock.
    uint64_t due_turn = 0;
    int64_t due = 0;
    size_t urgency = 0;  // of its most urgent member

   private:
    friend class BatchQueue;
    uint64_t key = 0;
    bool is_open = true;
    std::list<std::unique_ptr<Group>>::iterator at;
  };
  using GroupPtr = std::unique_ptr<Group>;

  // Groups have `max_calls` members at most.
  explicit BatchQueue(size_t max_calls);

  // Throws bad_alloc, and does not have the member then.
  void Add(Member member, size_t urgency, uint64_t due_turn, int64_t due);
  // A group, or null: a full one; the oldest one, where it is due by turns or by the clock; one
  // with a member that is more urgent than that; the largest one, where that is known without a
  // long search.
  GroupPtr TakeFull();
  GroupPtr TakeDue(uint64_t turn);
  GroupPtr TakeLate(int64_t now);
  GroupPtr TakeMoreUrgentThan(size_t urgency);
  GroupPtr TakeLargest();
  // Takes back a group that has been dealt with, for its memory.
  void Recycle(GroupPtr group);
  bool empty() const { return groups_.empty(); }

 private:
  Group* NewGroup(Member member, size_t urgency);
  void Close(Group* group);  // nobody joins it any more
  GroupPtr Take(Group* group);

  size_t max_calls_;
  std::list<GroupPtr> groups_;  // by age
  std::unordered_multimap<uint64_t, Group*> by_key_;
  std::array<size_t, kUrgencies> num_urgent_{};
  size_t num_full_ = 0;
  std::vector<GroupPtr> unused_;
};

// Runs calls at once: copies their buffers side by side, and the results back. One thread at a
// time.
class BatchRunner {
 public:
  // False when they are to run one by one: there is no memory for them together, their sizes are
  // not what the kernel takes, or it failed for one of them. The copies are memory of the
  // workspace, which nothing else runs in.
  bool Run(const BatchQueue::Group& group, Workspace& workspace);

 private:
  bool RunCalls(KernelRunner& runner, int64_t num_threads);
  bool PlaceBuffers(const KernelInfo& info, const KernelInfo& kernel, size_t* total);
  bool TakeScalars(const BatchedKernelInfo& form);
  void CopyIn(const KernelInfo& info, char* memory);
  void CopyOut(const KernelInfo& info) const;

  std::vector<const BatchedCall*> calls_;
  std::vector<void*> buffers_;
  std::vector<int64_t> scalars_;
  std::vector<size_t> sizes_;  // bytes of each call's own, buffer by buffer
};

}  // namespace relayvm::vm
