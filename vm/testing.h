// For the tests of this folder: programs from assembler text, loaded and run.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "bytecode/assembler.h"
#include "vm/api/relayvm.h"
#include "vm/platform/sanitizers.h"

namespace relayvm::testing {

// How much slower than usual this build is, about: large counts are divided by it.
#if RELAYVM_TSAN
inline constexpr int kSlowdown = 50;
#elif RELAYVM_ASAN
inline constexpr int kSlowdown = 5;
#else
inline constexpr int kSlowdown = 1;
#endif

inline std::shared_ptr<const Executable> LoadText(const std::string& text,
                                                  std::span<const Builtin> kernels = {}) {
  Result<Program> program = Assemble(text);
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  LoadOptions options;
  options.kernels = kernels;
  auto executable = Executable::FromProgram(*std::move(program), options);
  REQUIRE_MESSAGE(executable.ok(), executable.status().message());
  return *executable;
}

inline std::shared_ptr<Runtime> TestRuntime(uint32_t num_threads = 1) {
  auto runtime = Runtime::Create({.num_threads = num_threads});
  REQUIRE(runtime.ok());
  return *runtime;
}

inline std::unique_ptr<Invocation> NewInvocation(std::shared_ptr<const Executable> executable,
                                                 const InvocationOptions& options = {},
                                                 uint32_t num_threads = 1) {
  auto invocation = Invocation::Create(TestRuntime(num_threads), std::move(executable), options);
  REQUIRE_MESSAGE(invocation.ok(), invocation.status().message());
  return *std::move(invocation);
}

// A program of one function "main" over int64 scalars: inputs in i0.., result in i15. `tables` and
// `functions` (f1 ..) go before and after it.
inline std::string ScalarProgram(size_t num_inputs, const std::string& body,
                                 const std::string& functions = "",
                                 const std::string& tables = "") {
  std::string params, unbox;
  for (size_t i = 0; i < num_inputs; ++i) {
    params += fmt::format("{}\"x{}\": int64[]", i == 0 ? "" : ", ", i);
    unbox += fmt::format("  tensor.item i{}, r{}!, int64, 0\n", i, i);
  }
  return fmt::format(R"(
.version 1
{}
.export "main" f0 ({}) -> int64[]
.function "main" scalars 0 objects {} captured 0 registers 16 16 returns object arena 0
{}{}
  tensor.box r0, i15, int64
  ret.r r0!
.end
{}
)",
                     tables, params, num_inputs, unbox, body, functions);
}

inline std::vector<Value> Int64Values(std::initializer_list<int64_t> numbers) {
  std::vector<Value> values;
  for (int64_t n : numbers) values.push_back(Value::Int64(n));
  return values;
}

inline int64_t ToInt64(const Value& v) {
  REQUIRE(v.is_tensor());
  REQUIRE(v.dtype() == DType::kInt64);
  REQUIRE(v.num_elements() == 1);
  return static_cast<int64_t>(v.element(0));
}

inline Value RunOk(Invocation& invocation, std::vector<Value> inputs,
                   std::string_view function = "main") {
  Result<Value> result = invocation.Run(function, std::move(inputs));
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  return *result;
}
inline Value RunOk(std::shared_ptr<const Executable> executable, std::vector<Value> inputs) {
  return RunOk(*NewInvocation(std::move(executable)), std::move(inputs));
}
inline Status RunFails(std::shared_ptr<const Executable> executable, std::vector<Value> inputs,
                       const InvocationOptions& options = {}) {
  Result<Value> result =
      NewInvocation(std::move(executable), options)->Run("main", std::move(inputs));
  REQUIRE(!result.ok());
  return result.status();
}

inline int64_t Evaluate(const std::string& body, std::initializer_list<int64_t> inputs,
                        const std::string& functions = "", const std::string& tables = "") {
  return ToInt64(
      RunOk(LoadText(ScalarProgram(inputs.size(), body, functions, tables)), Int64Values(inputs)));
}

template <typename T>
Value TensorOf(DType dtype, std::vector<int64_t> dims, const std::vector<T>& elements) {
  Result<Value> value = Value::CopyTensor(dtype, dims, elements.data());
  REQUIRE(value.ok());
  REQUIRE(static_cast<size_t>(value->num_elements()) == elements.size());
  return *value;
}
inline Value Floats(std::vector<int64_t> dims, const std::vector<float>& elements) {
  return TensorOf(DType::kFloat32, std::move(dims), elements);
}
template <typename T>
std::vector<T> ElementsOf(const Value& v) {
  std::vector<T> elements(static_cast<size_t>(v.num_elements()));
  if (!elements.empty()) std::memcpy(elements.data(), v.data(), v.bytes());
  return elements;
}

inline bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace relayvm::testing
