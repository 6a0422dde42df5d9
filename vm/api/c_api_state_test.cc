#include "vm/api/c_api_state.h"

#include <string>

#include "bytecode/writer.h"
#include "vm/testing.h"

namespace relayvm {
namespace {

std::string TextOf(relayvm_status* status) {
  const std::string text = status == nullptr ? "" : relayvm_status_message(status);
  relayvm_status_free(status);
  return text;
}

// main adds the step to what it counted, from 0 on.
struct Counter {
  Counter() {
    Result<Program> program = Assemble(R"(
.version 1
.export "main" f0 ("step": int64[], "count": int64[]) -> int64[] "next" state 1=0
.export "plain" f0 ("step": int64[], "count": int64[]) -> int64[]
.function "main" scalars 0 objects 2 captured 0 registers 2 3 returns object arena 0
  tensor.item i0, r0!, int64, 0
  tensor.item i1, r1!, int64, 0
  add.i i0, i0, i1
  tensor.box r2, i0, int64
  ret.r r2!
.end
)");
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    bytes = *SerializeProgram(*program);
    REQUIRE(relayvm_runtime_create(nullptr, &runtime) == nullptr);
    REQUIRE(relayvm_executable_load_memory(bytes.data(), bytes.size(), nullptr, &executable) ==
            nullptr);
    REQUIRE(relayvm_invocation_create(runtime, executable, nullptr, &invocation) == nullptr);
  }
  ~Counter() {
    relayvm_invocation_free(invocation);
    relayvm_executable_free(executable);
    relayvm_runtime_free(runtime);
  }

  int64_t Next(relayvm_state* state, int64_t step) const {
    relayvm_value* input = nullptr;
    REQUIRE(relayvm_value_tensor(RELAYVM_INT64, nullptr, 0, &step, &input) == nullptr);
    const char *in = "step", *out = "next";
    relayvm_value* output = nullptr;
    CHECK(TextOf(relayvm_invocation_run_state(invocation, state, &in, &input, 1, &out, 1,
                                              &output)) == "");
    relayvm_value_free(input);
    const int64_t next =
        output == nullptr ? -1 : *static_cast<const int64_t*>(relayvm_value_data(output));
    relayvm_value_free(output);
    return next;
  }

  std::vector<uint8_t> bytes;
  relayvm_runtime* runtime = nullptr;
  relayvm_executable* executable = nullptr;
  relayvm_invocation* invocation = nullptr;
};

TEST_CASE("c api: a state goes from run to run") {
  const Counter c;
  relayvm_state *state = nullptr, *copy = nullptr;
  REQUIRE(TextOf(relayvm_state_create(c.executable, "main", &state)) == "");
  CHECK(std::string(relayvm_state_name(state, 0)) == "count");
  CHECK(relayvm_state_name(state, 1) == nullptr);
  CHECK(c.Next(state, 2) == 2);
  CHECK(c.Next(state, 3) == 5);
  REQUIRE(TextOf(relayvm_state_copy(state, &copy)) == "");
  CHECK(c.Next(state, 1) == 6);
  CHECK(c.Next(copy, 10) == 15);
  relayvm_value* kept = nullptr;
  REQUIRE(TextOf(relayvm_state_get(copy, "count", &kept)) == "");
  REQUIRE(TextOf(relayvm_state_set(state, "count", kept)) == "");
  CHECK(c.Next(state, 1) == 16);
  relayvm_value_free(kept);
  relayvm_state_reset(state);
  REQUIRE(TextOf(relayvm_state_get(state, "count", &kept)) == "");
  CHECK(kept == nullptr);
  CHECK(c.Next(state, 1) == 1);
  relayvm_state_set_in_place(copy, 1);
  relayvm_state_set_in_place(nullptr, 1);
  CHECK(c.Next(copy, 1) > 0);
  relayvm_state_free(copy);
  relayvm_state_free(state);
}

TEST_CASE("c api: wrong uses of states are statuses") {
  const Counter c;
  relayvm_state* state = nullptr;
  CHECK(TextOf(relayvm_state_create(c.executable, "nain", &state)) ==
        "the program has no function 'nain'; did you mean main?");
  CHECK(TextOf(relayvm_state_create(c.executable, "plain", &state))
            .starts_with("plain keeps nothing between runs: "));
  CHECK(state == nullptr);
  CHECK(TextOf(relayvm_state_create(nullptr, "main", &state)) != "");
  CHECK(TextOf(relayvm_state_create(c.executable, nullptr, &state)) != "");
  CHECK(TextOf(relayvm_state_create(c.executable, "main", nullptr)) != "");
  REQUIRE(TextOf(relayvm_state_create(c.executable, "main", &state)) == "");
  relayvm_value* value = nullptr;
  CHECK(TextOf(relayvm_state_get(state, "next", &value)) == "main keeps no 'next'; it keeps count");
  CHECK(TextOf(relayvm_state_get(state, nullptr, &value)) != "");
  CHECK(TextOf(relayvm_state_get(nullptr, "count", &value)) != "");
  CHECK(TextOf(relayvm_state_get(state, "count", nullptr)) != "");
  CHECK(TextOf(relayvm_state_set(state, "step", nullptr)) != "");
  CHECK(TextOf(relayvm_state_set(nullptr, "count", nullptr)) != "");
  CHECK(TextOf(relayvm_state_set(state, nullptr, nullptr)) != "");
  CHECK(TextOf(relayvm_state_copy(nullptr, &state)) != "");
  CHECK(relayvm_state_name(nullptr, 0) == nullptr);
  relayvm_state_reset(nullptr);
  relayvm_state_free(nullptr);
}

TEST_CASE("c api: runs with states need their arguments") {
  const Counter c;
  relayvm_state* state = nullptr;
  REQUIRE(TextOf(relayvm_state_create(c.executable, "main", &state)) == "");
  const char* names[] = {"step", nullptr};
  relayvm_value* outputs[] = {nullptr};
  CHECK(TextOf(relayvm_invocation_run_state(nullptr, state, names, nullptr, 0, nullptr, 0,
                                            nullptr)) != "");
  CHECK(TextOf(relayvm_invocation_run_state(c.invocation, nullptr, names, nullptr, 0, nullptr, 0,
                                            nullptr)) != "");
  CHECK(TextOf(relayvm_invocation_run_state(c.invocation, state, nullptr, outputs, 1, nullptr, 0,
                                            nullptr)) != "");
  CHECK(TextOf(relayvm_invocation_run_state(c.invocation, state, nullptr, nullptr, 0, nullptr, 0,
                                            nullptr)) == "main: input 'step' (int64) is missing");
  CHECK(TextOf(relayvm_invocation_run_state(c.invocation, state, nullptr, nullptr, 0, nullptr, 1,
                                            outputs)) != "");
  CHECK(TextOf(relayvm_invocation_run_state(c.invocation, state, nullptr, nullptr, 0, names, 1,
                                            nullptr)) != "");
  relayvm_state_free(state);
}

}  // namespace
}  // namespace relayvm
