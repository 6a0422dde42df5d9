// Runs what the server hands over in one call: requests of the same shapes are joined by their rows
// where the model is batched, each has one response, and what fails of one fails no other: a batch
// that failed is run again, request by request. Tested by backend_test.cc.
#pragma once

#include <cstdint>
#include <span>

#include "tools/serve/triton/served_model.h"
#include "tools/serve/triton/triton_abi.h"

namespace relayvm::triton {

// Owns the requests: each is answered, counted and released when this returns. Where it throws
// (std::bad_alloc), it has done nothing, and they are the server's.
void Execute(TRITONBACKEND_ModelInstance* instance, ServedInstance* served,
             std::span<TRITONBACKEND_Request*> requests);

}  // namespace relayvm::triton
