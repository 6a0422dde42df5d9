// What a program says while it runs: programs that declare
//
//   def @emit(%token: int32, host=1) -> ();
//
// with any parameters are loaded with EmitFunction, which hands what they say to the Emitter of
// their request, InferOptions::emitter. Without one it goes nowhere. Tested by generate_test.cc.
#pragma once

#include <span>
#include <string>

#include "vm/api/relayvm.h"

namespace relayvm::serve {

class Emitter {
 public:
  virtual ~Emitter() = default;
  // Whether it takes more now; else it wakes the run once it does. On a fiber of the run.
  virtual bool IsReady(const Waker& waker) = 0;
  // A failure ends the run.
  virtual Status Emit(std::span<const Value> values) = 0;
};

inline HostFunction EmitFunction() {
  return {"emit", "", [](HostCall& call) -> Result<Value> {
            auto* const emitter = static_cast<Emitter*>(call.context());
            if (emitter == nullptr) return Value::Tuple({});
            while (!emitter->IsReady(call.waker())) RELAYVM_RETURN_IF_ERROR(call.Suspend());
            RELAYVM_RETURN_IF_ERROR(emitter->Emit(call.args()));
            return Value::Tuple({});
          }};
}

}  // namespace relayvm::serve
