/* State for C: what a program keeps between runs (relayc --state IN=OUT), pairs of an input and an
 * output where the input is what the output of the run before was.
 * See c_api.h for the conventions, state.h for what is kept. One thread and one run at a time.
 * Tested by c_api_state_test.cc. */
#ifndef RELAYVM_VM_C_API_STATE_H_
#define RELAYVM_VM_C_API_STATE_H_

#include <stddef.h>

#include "vm/api/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): C has nothing else. */
typedef struct relayvm_state relayvm_state; /* one stream's */

/* Of a function, before its first run. RELAYVM_NOT_FOUND where there is none of that name,
 * RELAYVM_FAILED_PRECONDITION where it keeps nothing. The state keeps the program. */
relayvm_status* relayvm_state_create(relayvm_executable* executable, const char* function,
                                     relayvm_state** out);
/* One that goes on by itself from here; tensors are shared. */
relayvm_status* relayvm_state_copy(const relayvm_state* state, relayvm_state** out);
void relayvm_state_free(relayvm_state* state);
void relayvm_state_reset(relayvm_state* state); /* to what it was before the first run */
/* Not 0: what a run writes a part of is written in its place where nobody else holds it, and a run
 * that fails leaves the state as before the first run. 0, at first: a failed run changes nothing. */
void relayvm_state_set_in_place(relayvm_state* state, int in_place);

/* By names of inputs: 0 .. NULL, which is beyond the last. Live as long as the state. */
const char* relayvm_state_name(const relayvm_state* state, size_t index);
/* *out is NULL before the first run. RELAYVM_INVALID_ARGUMENT for a name that there is not. */
relayvm_status* relayvm_state_get(const relayvm_state* state, const char* name,
                                  relayvm_value** out);
/* What the next run takes, which checks its type. `value` stays the caller's; NULL: as before the
 * first run. */
relayvm_status* relayvm_state_set(relayvm_state* state, const char* name,
                                  const relayvm_value* value);

/* relayvm_invocation_run_named of the state's function, whose inputs that are kept need not be
 * given; when it has ended well the state is what the next run takes. */
relayvm_status* relayvm_invocation_run_state(relayvm_invocation* invocation, relayvm_state* state,
                                             const char* const* input_names,
                                             relayvm_value* const* inputs, size_t num_inputs,
                                             const char* const* output_names, size_t num_outputs,
                                             relayvm_value** outputs);
/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif /* RELAYVM_VM_C_API_STATE_H_ */
