#include "kernels/runtime/builtin.h"

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "kernels/runtime/kernels.h"
#include "kernels/runtime/signature.h"

namespace relayvm {

// --- The call of a builtin ---

namespace {

using BuiltinFn = int32_t (*)(const CallArgs&);

// The arguments are checked before the function runs.
int32_t Call(const Signature& signature, BuiltinFn fn, const RelayvmKernelEnv* env,
             const RelayvmKernelArgs* args) {
  const CallArgs call(env, args, signature.num_tensors);
  const int32_t error = CheckCall(signature, call);
  return error == RELAYVM_KERNEL_OK ? fn(call) : error;
}

bool HasMemory(const RelayvmKernelEnv* env) {
  return env->struct_size >= CallArgs::kEnvBytes && env->allocate != nullptr;
}
void* Allocate(const RelayvmKernelEnv* env, size_t bytes) {
  return HasMemory(env) ? env->allocate(env, bytes) : std::malloc(bytes);
}

#if __cpp_exceptions
struct KernelStopped {
  int32_t code;
};

int32_t Run(const Signature& signature, BuiltinFn fn, const RelayvmKernelEnv* env,
            const RelayvmKernelArgs* args) noexcept {
  try {
    return Call(signature, fn, env, args);
  } catch (const KernelStopped& stopped) {
    return stopped.code;
  } catch (...) {  // only memory for temporaries can fail: std::bad_alloc, std::length_error
    return RELAYVM_KERNEL_OUT_OF_MEMORY;
  }
}
}  // namespace

void StopKernel(int32_t code) { throw KernelStopped{code}; }

void* AllocateForKernel(const RelayvmKernelEnv* env, size_t bytes) {
  void* memory = Allocate(env, bytes);
  if (memory == nullptr) StopKernel(RELAYVM_KERNEL_OUT_OF_MEMORY);
  return memory;
}
void ReleaseOfKernel(const RelayvmKernelEnv* env, void* memory, size_t bytes) {
  if (!HasMemory(env)) return std::free(memory);
  env->release(env, memory, bytes);
}
#else
// The call that runs, on the one thread that there is. Its blocks are a ring, so that it finds
// those which a jump has left.
struct alignas(16) Block {
  Block *previous, *next;
  const RelayvmKernelEnv* env;
  size_t bytes;  // with this
};
struct Running {
  std::jmp_buf jump;
  int32_t code;
  Block blocks;
};
Running* g_running = nullptr;

int32_t Run(const Signature& signature, BuiltinFn fn, const RelayvmKernelEnv* env,
            const RelayvmKernelArgs* args) noexcept {
  Running running;
  running.blocks.previous = running.blocks.next = &running.blocks;
  Running* const outer = std::exchange(g_running, &running);
  if (setjmp(running.jump) == 0) running.code = Call(signature, fn, env, args);
  while (running.blocks.next != &running.blocks) {
    Block* block = running.blocks.next;
    ReleaseOfKernel(block->env, block + 1, block->bytes - sizeof(Block));
  }
  g_running = outer;
  return running.code;
}
}  // namespace

void StopKernel(int32_t code) {
  g_running->code = code;
  std::longjmp(g_running->jump, 1);
}

void* AllocateForKernel(const RelayvmKernelEnv* env, size_t bytes) {
  auto* block = static_cast<Block*>(Allocate(env, bytes + sizeof(Block)));
  if (block == nullptr) StopKernel(RELAYVM_KERNEL_OUT_OF_MEMORY);
  Block& first = g_running->blocks;
  *block = {&first, first.next, env, bytes + sizeof(Block)};
  first.next = first.next->previous = block;
  return block + 1;
}
void ReleaseOfKernel(const RelayvmKernelEnv* env, void* memory, size_t /*bytes*/) {
  auto* block = static_cast<Block*>(memory) - 1;
  block->previous->next = block->next;
  block->next->previous = block->previous;
  if (!HasMemory(env)) return std::free(block);
  env->release(env, block, block->bytes);
}
#endif

// --- All of them ---

namespace {

// Text as an argument of a template.
template <size_t kSize>
struct Text {
  char chars[kSize];
  constexpr Text(const char (&text)[kSize]) { std::copy_n(text, kSize, chars); }  // NOLINT
  constexpr std::string_view view() const { return {chars, kSize - 1}; }
};

template <Text kSignature>
constexpr Signature kParsed = Signature::Parse(kSignature.view());

template <int32_t (*kFn)(const CallArgs&), Text kSignature>
int32_t Entry(const RelayvmKernelEnv* env, const RelayvmKernelArgs* args, uint32_t begin,
              uint32_t end) noexcept {
  return begin < end ? Run(kParsed<kSignature>, kFn, env, args) : RELAYVM_KERNEL_OK;
}

template <int32_t (*kFn)(const CallArgs&), Text kSignature>
constexpr Builtin Make(std::string_view name) {
  constexpr const Signature& kSpec = kParsed<kSignature>;
  static_assert(kSpec.num_tensors <= CallArgs::kMaxTensors);
  return {name,
          Entry<kFn, kSignature>,
          kSpec.num_tensors,
          kSpec.num_counts,
          kSpec.num_params,
          kSpec.num_inputs,
          kSpec.in_place,
          kSignature.view()};
}

constexpr Builtin MakesConstants(Builtin builtin) {
  builtin.makes_constants = true;
  return builtin;
}

// By name: the function and what it takes (signature.h); kernels.h says what each does.
constexpr Builtin kBuiltins[] = {
    Make<AllClassNms, "F[b,n,4] F[b,c,n] any[+] any[+] any[+] -> int[_,3] int[1]">("all_class_nms"),
    Make<AllClassNmsTensorflow,
         "F[b,n,4] F[b,c,n] any[+] any[+] any[+] -> int[b,m,2] float[b,m] int[b]">(
        "all_class_nms_tensorflow"),
    Make<ArgSort, "T[*s] -> any[*s]; axis bool">("argsort"),
    Make<ArgWhere, "any[*] -> int[#,_]">("argwhere"),
    Make<CheckRange, "int[*] i64[k] i64[k] -> i64[k]">("check_range"),
    Make<CountGrams, "i64[r,_] i64[k,_] i64[k] -> i64[r,_]; int">("count_grams"),
    Make<CumProd, "T[*] -> U[*]; axis? bool">("cumprod"),
    Make<CumProdReversed, "T[*] -> U[*]; axis? bool">("cumprod_reversed"),
    Make<CumSum, "T[*] -> U[*]; axis? bool">("cumsum"),
    Make<CumSumReversed, "T[*] -> U[*]; axis? bool">("cumsum_reversed"),
    Make<DynSparseToDense, "int[*] T[*] any[+] any[*] -> T[*]">("dyn_sparse_to_dense"),
    Make<DynTopK, "T[*] any[+] -> T[*k] any[*k]; axis bool">("dyn_topk"),
    Make<DynTopKIndices, "T[*] any[+] -> any[*]; axis bool">("dyn_topk_indices"),
    Make<DynTopKValues, "T[*] any[+] -> T[*]; axis bool">("dyn_topk_values"),
    Make<GetValidCounts, "F[b,n,w] any[+] -> int[b] F[b,n,w] int[b,n]; int int">(
        "get_valid_counts"),
    Make<MultiboxTransformLoc,
         "F[b,c,n] F[b,_] F[1,n,4] -> F[b,n,6] int[b]; bool real bool real real real real">(
        "multibox_transform_loc"),
    Make<Murmur3, "any[*s] -> any[*s]; int">("murmur3"),
    Make<NonMaxSuppression,
         "F[b,n,w] int[b] any[*] any[+] any[+] -> F[b,n,w]; bool int int int int 0..0 bool">(
        "non_max_suppression"),
    Make<NonMaxSuppression,
         "F[b,n,w] int[b] int[b,n] any[+] any[+] -> int[b,n] int[b,1]; "
         "bool int int int int 1..1 bool">("non_max_suppression_indices"),
    Make<Proposal,
         "f32[b,_,h,w] f32[b,_,h,w] f32[b,3] -> f32[_,5]; int int int int bool real int int "
         "real...">("proposal"),
    Make<RandomMultinomial, "u64[10] any[*r,c] -> u64[10] int[*r,_]">("random_multinomial"),
    Make<RandomNormal, "u64[10] any[+] any[+] -> u64[10] float[*]">("random_normal"),
    Make<RandomUniform, "u64[10] any[+] any[+] -> u64[10] float[*]">("random_uniform"),
    Make<RegularNms, "F[b,n,4] F[b,n,_] -> F[b,m,4] any[b,m] F[b,m] any[b]; int int real real">(
        "regular_nms"),
    Make<RoiAlign, "F[_,_,_,_] float[r,5] -> F[r,_,_,_]; real int bool 0..2 bool">("roi_align"),
    Make<RoiPool, "F[_,_,_,_] float[r,5] -> F[r,_,_,_]; real bool">("roi_pool"),
    Make<ScatterElements, "T[*s] int[*i] T[*] -> =T[*s]; axis 0..5">("scatter_elements"),
    Make<ScatterNd, "T[*s] int[_,*] T[*] -> =T[*s]; 0..5">("scatter_nd"),
    Make<ScatterNdTuplesLast, "T[*s] int[*,_] T[*] -> =T[*s]; 0..5">("scatter_nd_tuples_last"),
    Make<SearchSorted, "T[*,n] T[*v] -> int[*v]; bool">("searchsorted"),
    Make<Sort, "T[*s] -> T[*s]; axis bool">("sort"),
    Make<SparseAdd, "T[h,w] T[n,*] int[n] int[p] -> T[h,w]">("sparse_add"),
    Make<SparseConv2d, "T[_,_,_,_] T[n,*] int[n] int[p] -> T[_,_,_,_]; bool 1..3">("sparse_conv2d"),
    Make<SparseDense, "T[m,k] T[n,*] int[n] int[p] -> T[_,_]; bool">("sparse_dense"),
    Make<SparseFillEmptyRows, "int[n,r] T[n] any[r] T[+] -> int[#,r] T[#] bool[_]">(
        "sparse_fill_empty_rows"),
    Make<SparseReshape, "int[n,r] any[r] int[q] -> int[n,q] int[q]">("sparse_reshape"),
    Make<SparseToDense, "int[*] T[*] any[+] -> T[*]">("sparse_to_dense"),
    Make<SparseToDenseZero, "int[*] T[*] -> T[*]">("sparse_to_dense_zero"),
    Make<SparseTranspose, "T[n] int[n] int[p] -> T[n] int[n] int[p]">("sparse_transpose"),
    Make<StringConcat, "str[*] str[*] -> str[*]">("string_concat"),
    Make<StringCountTokens, "str[*s] i64[_,3] i64[_] -> i64[*s]; bool int">("string_count_tokens"),
    Make<StringFromNumber, "any[*s] -> str[*s]">("string_from_number"),
    Make<StringFullMatch, "str[*s] i64[_,3] -> bool[*s]">("string_full_match"),
    Make<StringNormalize, "str[n] str[_] -> str[#]; 0..5 bool">("string_normalize"),
    Make<StringRank, "str[n] -> i64[n]">("string_rank"),
    Make<StringSplit, "str[*s] str[1] any[+] -> str[*s,_]; int">("string_split"),
    Make<StringSplitCount, "str[*s] str[1] -> i64[*s]; int">("string_split_count"),
    Make<StringToNumber, "str[*s] -> any[*s]">("string_to_number"),
    Make<StringTokens, "str[*s] i64[_,3] i64[_] str[3] any[+] -> str[*s,_]; bool int bool">(
        "string_tokens"),
    Make<ThreefryGenerate, "u64[10] -> u64[10] u64[*]">("threefry_generate"),
    Make<ThreefrySplit, "u64[10] -> u64[10] u64[10]">("threefry_split"),
    Make<TopK, "T[*] -> T[*k] any[*k]; axis bool">("topk"),
    Make<TopKIndices, "T[*] -> any[*]; axis bool">("topk_indices"),
    Make<TopKValues, "T[*] -> T[*]; axis bool">("topk_values"),
    Make<Unique, "T[n] -> T[n] int[n] int[n] int[1]; bool">("unique"),
    Make<UniqueCounts, "T[n] -> T[n] int[n] int[n] int[1] int[n]; bool">("unique_counts"),
    Make<UniqueRows, "T[n,*] -> int[n] int[n] int[1] int[n]; bool">("unique_rows"),
    MakesConstants(
        Make<WinogradWeights, "float[o,c,3,3] -> f32[_,16,_,c,_]">("winograd_weights_2")),
    MakesConstants(
        Make<WinogradWeights, "float[o,c,3,3] -> f32[_,36,_,c,_]">("winograd_weights_4")),
};

constexpr bool NameLess(const Builtin& a, const Builtin& b) { return a.name < b.name; }
static_assert(std::is_sorted(std::begin(kBuiltins), std::end(kBuiltins), NameLess));

}  // namespace

std::span<const Builtin> Builtins() { return kBuiltins; }

const Builtin* FindBuiltin(std::string_view name) {
  const auto at = std::lower_bound(std::begin(kBuiltins), std::end(kBuiltins),
                                   Builtin{.name = name, .fn = nullptr}, NameLess);
  return at != std::end(kBuiltins) && at->name == name ? at : nullptr;
}

}  // namespace relayvm
