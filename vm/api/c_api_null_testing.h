// For tests of C APIs: each function with NULL for each of its pointers in turn, and what a header
// declares, so that none is forgotten. c_api_null_test.cc shows it.
#pragma once

#include <cstdint>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "vm/api/c_api.h"
#include "vm/testing.h"

namespace relayvm::testing {

// What a call with NULL may give.
enum class Null : uint8_t {
  kRefused,  // kInvalidArgument, with the function's name, outputs NULL
  kAllowed,  // whatever the function gives then
};

// `fixture` has CheckNoOutputs(), of what calls write handles to, and FreeOutputs().
template <typename Fixture>
class NullWalk {
 public:
  explicit NullWalk(Fixture& fixture) : fixture_(fixture) {}

  // Calls with NULL in each pointer but callbacks, whose NULL is a choice, and contexts (void*
  // behind a callback), which nobody reads. `make` gives the arguments of a good call; `allowed`
  // are the positions where NULL is none of the caller's mistakes.
  template <typename R, typename... Args, typename Make>
  void Call(const char* name, R (*function)(Args...), const Make& make,
            const std::set<size_t>& allowed = {}) {
    CAPTURE(name);
    CHECK(names_.insert(name).second);
    std::tuple<Args...> good = make();
    Check(Apply<R>(function, good), Null::kAllowed, /*good=*/true);
    Each(std::index_sequence_for<Args...>(), [&](auto index) {
      using Arg = std::tuple_element_t<index, std::tuple<Args...>>;
      if constexpr (std::is_pointer_v<Arg> && !std::is_function_v<std::remove_pointer_t<Arg>>) {
        CAPTURE(index.value);
        std::tuple<Args...> args = make();
        std::get<index>(args) = nullptr;
        const bool may = allowed.contains(index.value);
        Check(Apply<R>(function, args), may ? Null::kAllowed : Null::kRefused, false);
      }
    });
  }

  // A function that frees what `make` gives.
  template <typename T, typename Make>
  void Free(const char* name, void (*function)(T*), const Make& make) {
    CHECK(names_.insert(name).second);
    function(make());
    function(nullptr);
  }

  // One that is called elsewhere.
  void Add(const std::string& name) { CHECK(names_.insert(name).second); }

  const std::set<std::string>& names() const { return names_; }

 private:
  template <size_t... kIndex, typename Fn>
  static void Each(std::index_sequence<kIndex...>, const Fn& fn) {
    (fn(std::integral_constant<size_t, kIndex>()), ...);
  }

  // Of functions without a result, 0.
  template <typename R, typename... Args>
  static auto Apply(R (*function)(Args...), const std::tuple<Args...>& args) {
    if constexpr (std::is_void_v<R>) {
      std::apply(function, args);
      return 0;
    } else {
      return std::apply(function, args);
    }
  }

  template <typename R>
  void Check(R result, Null expected, bool good) {
    if constexpr (std::is_same_v<R, relayvm_status*>) {
      if (good) CHECK_MESSAGE(result == nullptr, relayvm_status_message(result));
      if (expected == Null::kRefused) {
        REQUIRE(result != nullptr);
        CHECK(relayvm_status_code(result) == RELAYVM_INVALID_ARGUMENT);
        CHECK_MESSAGE((Contains(relayvm_status_message(result), "NULL") ||
                       Contains(relayvm_status_message(result), "null")),
                      relayvm_status_message(result));
        fixture_.CheckNoOutputs();
      }
      relayvm_status_free(result);
    }
    fixture_.FreeOutputs();
  }

  Fixture& fixture_;
  std::set<std::string> names_;
};

#define WALK(function, ...) walk.Call(#function, function, __VA_ARGS__)
#define WALK_FREE(function, ...) walk.Free(#function, function, __VA_ARGS__)

// The functions that a header declares: a name at a line's start or behind a type, with its "(".
inline std::set<std::string> DeclaredFunctions(const std::string& path) {
  std::ifstream file(path);
  REQUIRE(file.good());
  std::set<std::string> names;
  const std::regex declaration("^[a-z_0-9 ]+[ *]+(relayvm_[a-z_0-9]+)\\(.*");
  for (std::string line; std::getline(file, line);) {
    std::smatch match;
    if (std::regex_match(line, match, declaration) && line.find("return ") == std::string::npos)
      names.insert(match[1]);
  }
  return names;
}

}  // namespace relayvm::testing
