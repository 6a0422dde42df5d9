// Small helpers that write LLVM IR: loops, branches, arithmetic on i64. Shared by the contraction
// emitters. Tested through kernels/codegen/contraction/contraction_test.cc.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/codegen/builder.h"
#include "kernels/codegen/emitter.h"

namespace relayvm::codegen {

inline llvm::ConstantInt* I64(Builder& b, int64_t value) {
  return b.getInt64(static_cast<uint64_t>(value));
}

// --- i64 arithmetic; constants fold, values never wrap ---
llvm::Value* Add(Builder& b, llvm::Value* x, llvm::Value* y);
llvm::Value* Add(Builder& b, llvm::Value* x, int64_t y);
llvm::Value* Sub(Builder& b, llvm::Value* x, llvm::Value* y);
llvm::Value* Mul(Builder& b, llvm::Value* x, llvm::Value* y);
llvm::Value* Mul(Builder& b, llvm::Value* x, int64_t y);
llvm::Value* Min(Builder& b, llvm::Value* x, llvm::Value* y);
llvm::Value* Max(Builder& b, llvm::Value* x, llvm::Value* y);
// Of values that are not negative, by positive ones.
llvm::Value* Div(Builder& b, llvm::Value* x, llvm::Value* y);
llvm::Value* Rem(Builder& b, llvm::Value* x, llvm::Value* y);
llvm::Value* CeilDiv(Builder& b, llvm::Value* x, int64_t y);

std::optional<int64_t> ConstantOf(llvm::Value* v);
inline bool IsConst(llvm::Value* v, int64_t value) { return ConstantOf(v) == value; }

// --- Control flow: the builder ends up after the construct. ---
// What follows is in a block of its own.
void NextBlock(Builder& b, std::string_view name);
// for (i = begin; i < end; i += step) body(i)
void For(Builder& b, llvm::Value* begin, llvm::Value* end, int64_t step, std::string_view name,
         const std::function<void(llvm::Value*)>& body);
// The same with steps that vary: body(i) returns the next i.
void ForNext(Builder& b, llvm::Value* begin, llvm::Value* end, std::string_view name,
             const std::function<llvm::Value*(llvm::Value*)>& body);
// As For, carrying values: body(i, carried) returns the next ones; the result is the last. `runs`:
// begin < end is known.
std::vector<llvm::Value*> ForCarried(
    Builder& b, llvm::Value* begin, llvm::Value* end, int64_t step, std::string_view name,
    std::vector<llvm::Value*> initial,
    const std::function<std::vector<llvm::Value*>(llvm::Value*, const std::vector<llvm::Value*>&)>&
        body,
    bool runs = false);
// As ForCarried, for loops of a kernel that may run long: between runs of turns the kernel asks
// whether to go on (bytecode/kernel_abi.h), and returns if not. `work` says how many operations a
// turn is, about; it is not negative and at most kMaxWork. A loop that is short whatever its
// symbols are stays as it is, so does one outside of a kernel.
inline constexpr int64_t kMaxWork = 1 << 20;
std::vector<llvm::Value*> ForPolled(
    Builder& b, llvm::Value* begin, llvm::Value* end, int64_t step, llvm::Value* work,
    std::string_view name, std::vector<llvm::Value*> initial,
    const std::function<std::vector<llvm::Value*>(llvm::Value*, const std::vector<llvm::Value*>&)>&
        body);
void ForPolled(Builder& b, llvm::Value* begin, llvm::Value* end, int64_t step, llvm::Value* work,
               std::string_view name, const std::function<void(llvm::Value*)>& body);
// The kernel asks whether to go on, and returns if not. REQUIRES: the function is a kernel.
void Poll(Builder& b);
// For bodies that cost much more than a branch: polls when kMaxWork has been done since the last
// poll, and only where `is_long` (i1: the whole call may be that much work). `counter` is an i64 in
// memory that starts at kMaxWork. Loops around it need no poll of their own. `before` and `after`
// (null: nothing) are emitted around the call; where the kernel is to stop, only the first.
void PollAfter(Builder& b, llvm::Value* is_long, llvm::Value* counter,
               const std::function<llvm::Value*()>& work,
               const std::function<void()>& before = nullptr,
               const std::function<void()>& after = nullptr);
// The kernel ends here, and says that its check `number` found `found` where least..most was
// expected (i64). REQUIRES: the function is a kernel. The builder's block is closed.
void ReturnOutOfRange(Builder& b, int64_t number, llvm::Value* found, llvm::Value* least,
                      llvm::Value* most);
// RelayvmKernelEnv::kept; where there is none, a word of the stack that is 0. REQUIRES: the
// function is a kernel.
llvm::Value* KeptWord(Builder& b);
// `body` makes what depends on `key` (i64) alone, in scratch that nothing else writes; it is left
// out where the latest of the call did that with the same key. `kept`: KeptWord.
void UnlessKept(Builder& b, llvm::Value* kept, llvm::Value* key, const std::function<void()>& body);
// work * turns, at most kMaxWork. REQUIRES: work is that already; turns may be anything.
llvm::Value* WorkOf(Builder& b, llvm::Value* work, llvm::Value* turns);

void If(Builder& b, llvm::Value* condition, const std::function<void()>& then_body,
        const std::function<void()>& else_body = nullptr);

// Tells LLVM to leave the function's loops as they are: code that is vectorised and unrolled by
// hand only grows otherwise.
void KeepLoops(llvm::Function* function);

// --- Vectors ---
llvm::FixedVectorType* VectorOf(llvm::Type* element, unsigned lanes);
// {0, 1, ...} of i64.
llvm::Value* LaneIndices(Builder& b, unsigned lanes);
// Lanes whose index is below count (i64).
llvm::Value* MaskBelow(Builder& b, llvm::Value* count, unsigned lanes);
// Lanes whose position x + lane * step is in 0..extent-1; distances are int32.
llvm::Value* MaskInside(Builder& b, llvm::Value* x, int64_t step, llvm::Value* extent,
                        unsigned lanes);
// Swaps rows and columns of a square: lane i of the j-th result is lane j of the i-th vector. Their
// number is a power of two.
void Transpose(Builder& b, std::vector<llvm::Value*>& vectors);
// Fetches the cache line at `pointer`, which need not be memory, into the second cache.
void FetchLine(Builder& b, llvm::Value* pointer);
// Address of base[index] for elements of type `element`.
llvm::Value* At(Builder& b, llvm::Type* element, llvm::Value* base, llvm::Value* index);
llvm::Value* At(Builder& b, llvm::Type* element, llvm::Value* base, int64_t index);

// A helper function of the module with internal linkage: void(params). Calls `define` with the
// builder in its entry block when the module does not have it yet. Copies target attributes from
// the function that calls it, which `caller` writes.
llvm::Function* GetOrDefineHelper(Builder& caller, const std::string& name,
                                  llvm::ArrayRef<llvm::Type*> params,
                                  const std::function<void(Builder&, llvm::Function*)>& define);

}  // namespace relayvm::codegen
