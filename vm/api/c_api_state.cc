#include "vm/api/c_api_state.h"

#include <utility>

#include "vm/api/c_api_internal.h"

struct relayvm_state {
  relayvm::State state;
};

using relayvm::Result;
using relayvm::State;
using relayvm::c_api::Fail;
using relayvm::c_api::Guarded;

relayvm_status* relayvm_state_create(relayvm_executable* executable, const char* function,
                                     relayvm_state** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(executable);
  RELAYVM_REQUIRE(function);
  return Guarded([&]() -> relayvm_status* {
    Result<State> state = State::Create(executable->executable, function);
    if (!state.ok()) return Fail(state.status());
    *out = new relayvm_state{*std::move(state)};
    return nullptr;
  });
}

relayvm_status* relayvm_state_copy(const relayvm_state* state, relayvm_state** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(state);
  return Guarded([&]() -> relayvm_status* {
    *out = new relayvm_state(*state);
    return nullptr;
  });
}

void relayvm_state_free(relayvm_state* state) { delete state; }

void relayvm_state_reset(relayvm_state* state) {
  if (state != nullptr) state->state.Reset();
}

void relayvm_state_set_in_place(relayvm_state* state, int in_place) {
  if (state != nullptr) state->state.set_in_place(in_place != 0);
}

const char* relayvm_state_name(const relayvm_state* state, size_t index) {
  if (state == nullptr || index >= state->state.function().states.size()) return nullptr;
  const relayvm::FunctionSignature& function = state->state.function();
  return function.inputs[function.states[index].input].name.c_str();
}

relayvm_status* relayvm_state_get(const relayvm_state* state, const char* name,
                                  relayvm_value** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(state);
  RELAYVM_REQUIRE(name);
  return relayvm::c_api::GiveValue(state->state.Get(name), out);
}

relayvm_status* relayvm_state_set(relayvm_state* state, const char* name,
                                  const relayvm_value* value) {
  RELAYVM_REQUIRE(state);
  RELAYVM_REQUIRE(name);
  return Fail(state->state.Set(name, *relayvm::c_api::ValueOf(value)));
}

relayvm_status* relayvm_invocation_run_state(relayvm_invocation* invocation, relayvm_state* state,
                                             const char* const* input_names,
                                             relayvm_value* const* inputs, size_t num_inputs,
                                             const char* const* output_names, size_t num_outputs,
                                             relayvm_value** outputs) {
  if (num_outputs > 0) RELAYVM_REQUIRE(outputs);
  std::fill_n(outputs, num_outputs, nullptr);
  RELAYVM_REQUIRE(invocation);
  RELAYVM_REQUIRE(state);
  if (num_inputs > 0) RELAYVM_REQUIRE(input_names);
  if (num_outputs > 0) RELAYVM_REQUIRE(output_names);
  return relayvm::c_api::RunNamed({input_names, inputs, num_inputs},
                                  {output_names, outputs, num_outputs},
                                  [&](const std::vector<relayvm::NamedValue>& named) {
                                    return invocation->invocation->Run(named, state->state);
                                  });
}
