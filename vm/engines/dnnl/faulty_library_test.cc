// A library that the provider takes for oneDNN: each function that it uses is the real library's,
// with what faulty_library_test.h says. Names are found in this library as in the real one, so each
// is a function that the loader chooses when it is asked for it (ifunc): one of a template that
// knows the function's type.
#include "vm/engines/dnnl/faulty_library_test.h"

#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <type_traits>
#include <unordered_set>

#include "vm/engines/dnnl/onednn_v2_functions.h"

// Of OpenMP, as threads.cc finds them in the library.
extern "C" {
void omp_set_num_threads(int count);
int omp_get_max_threads();
int omp_get_thread_num();
int omp_get_num_threads();
int omp_get_thread_limit();
int omp_get_dynamic();
int omp_in_parallel();
void GOMP_parallel(void (*f)(void*), void* data, unsigned threads, unsigned flags);
}
#define FAULTY_OTHER_FUNCTIONS(F) \
  F(dnnl_version)                 \
  F(omp_set_num_threads)          \
  F(omp_get_max_threads)          \
  F(omp_get_thread_num)           \
  F(omp_get_num_threads)          \
  F(omp_get_thread_limit)         \
  F(omp_get_dynamic)              \
  F(omp_in_parallel)              \
  F(GOMP_parallel)

namespace relayvm::onednn_testing {
namespace {

void* RealFunction(const char* name) {
  static void* const library = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
  void* const function = library == nullptr ? nullptr : dlsym(library, name);
  if (function != nullptr) return function;
  std::fprintf(stderr, "no %s: %s\n", name, dlerror());
  std::abort();
}

// --- Faults ---

std::atomic<int64_t> num_calls = 0, num_faults = 0, first_fault = 0, fault_distance = 0;
std::atomic<dnnl_status_t> fault_status = dnnl_success;
thread_local int depth = 0;

dnnl_status_t Fault() {
  const int64_t call = num_calls++, first = first_fault, every = fault_distance;
  const dnnl_status_t status = fault_status;
  const bool fails = status != dnnl_success &&
                     (call == first || (every != 0 && call > first && (call - first) % every == 0));
  if (!fails) return dnnl_success;
  ++num_faults;
  return status;
}

// --- What is created ---

std::mutex mutex;
std::unordered_set<const void*> live;
std::atomic<int64_t> num_misuses = 0;

template <typename T>
constexpr bool kIsHandle =
    std::is_same_v<T, dnnl_engine> || std::is_same_v<T, dnnl_stream> ||
    std::is_same_v<T, dnnl_memory> || std::is_same_v<T, dnnl_primitive> ||
    std::is_same_v<T, dnnl_primitive_desc> || std::is_same_v<T, dnnl_primitive_desc_iterator> ||
    std::is_same_v<T, dnnl_primitive_attr> || std::is_same_v<T, dnnl_post_ops>;

void CheckLive(const void* handle) {
  const std::lock_guard lock(mutex);
  if (handle != nullptr && !live.contains(handle)) ++num_misuses;
}
template <typename T>
void CheckUse(T argument) {
  if constexpr (std::is_pointer_v<T>) {
    if constexpr (kIsHandle<std::remove_const_t<std::remove_pointer_t<T>>>) CheckLive(argument);
  }
}
template <typename T>
void Keep(T* created) {
  static_assert(kIsHandle<std::remove_pointer_t<T>>);
  const std::lock_guard lock(mutex);
  live.insert(*created);
}
template <typename T>
void Forget(T* destroyed) {
  static_assert(kIsHandle<T>);
  const std::lock_guard lock(mutex);
  live.erase(destroyed);
}

template <typename First, typename... Rest>
First FirstOf(First first, Rest... /*rest*/) {
  return first;
}

void CheckArguments(int count, const dnnl_exec_arg_t* args) {
  for (int i = 0; i < count; ++i) CheckLive(args[i].memory);
}

// --- Functions ---

struct Inside {
  Inside() { ++depth; }
  ~Inside() { --depth; }
};

template <typename Name, typename Function>
struct Forward;
template <typename Name, typename Result, typename... Args>
struct Forward<Name, Result(Args...)> {
  static constexpr bool kHasStatus = std::is_same_v<Result, dnnl_status_t>;
  static constexpr bool kDestroys = Name::kText.ends_with("_destroy");
  static constexpr bool kCreates = Name::kText.ends_with("_create");
  static constexpr bool kFetches = Name::kText.ends_with("_fetch");

  static Result Call(Args... args) {
    using Real = Result (*)(Args...);
    static const auto real = reinterpret_cast<Real>(RealFunction(Name::kText.data()));
    const Inside inside;
    (CheckUse(args), ...);
    if constexpr (Name::kText == "dnnl_primitive_execute") CheckExecution(args...);
    if constexpr (kDestroys) Forget(FirstOf(args...));
    if constexpr (kHasStatus && !kDestroys) {
      if (const dnnl_status_t fault = Fault(); fault != dnnl_success) return fault;
    }
    if constexpr (kCreates) {
      const Result status = real(args...);
      if (status == dnnl_success) Keep(FirstOf(args...));
      return status;
    } else if constexpr (kFetches) {
      // All that it says of a failure is that there is nothing.
      if (fault_status == dnnl_out_of_memory && Fault() != dnnl_success) return nullptr;
      Result fetched = real(args...);
      if (fetched != nullptr) Keep(&fetched);
      return fetched;
    } else {
      return real(args...);
    }
  }

 private:
  template <typename Primitive, typename Stream>
  static void CheckExecution(Primitive /*p*/, Stream /*s*/, int count,
                             const dnnl_exec_arg_t* args) {
    CheckArguments(count, args);
  }
};

}  // namespace
}  // namespace relayvm::onednn_testing

#define FAULTY_DEFINE(name)                                                           \
  namespace relayvm::onednn_testing {                                                 \
  namespace {                                                                         \
  struct Name_##name {                                                                \
    static constexpr std::string_view kText = #name;                                  \
  };                                                                                  \
  }                                                                                   \
  }                                                                                   \
  extern "C" __attribute__((visibility("hidden"))) decltype(&::name) choose_##name(); \
  extern "C" decltype(&::name) choose_##name() {                                      \
    using relayvm::onednn_testing::Forward;                                           \
    return Forward<relayvm::onednn_testing::Name_##name, decltype(::name)>::Call;     \
  }                                                                                   \
  extern "C" __attribute__((visibility("default"), ifunc("choose_" #name))) decltype(::name) name;

ONEDNN_V2_FUNCTIONS(FAULTY_DEFINE)
FAULTY_OTHER_FUNCTIONS(FAULTY_DEFINE)

extern "C" __attribute__((visibility("default"))) const relayvm::onednn_testing::FaultyLibrary*
faulty_library() {
  using namespace relayvm::onednn_testing;  // NOLINT(google-build-using-namespace)
  static const FaultyLibrary library = {
      [](int64_t first, int64_t every, dnnl_status_t status) {
        fault_status = dnnl_success;
        first_fault = first;
        fault_distance = every;
        num_calls = 0;
        num_faults = 0;
        fault_status = status;
      },
      [] { return num_calls.load(); },
      [] { return num_faults.load(); },
      [] {
        const std::lock_guard lock(mutex);
        return static_cast<int64_t>(live.size());
      },
      [] { return num_misuses.load(); },
      [] { return depth != 0; },
  };
  return &library;
}
