// The border of an invocation: values in are checked against the export's types, objects out become
// values. Tested by border_test.cc.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "bytecode/base/status.h"
#include "bytecode/base/string_table.h"
#include "bytecode/program.h"
#include "vm/border/value.h"
#include "vm/kernels/failure.h"
#include "vm/memory/object.h"
#include "vm/run/executable.h"

namespace relayvm::vm {

class SignatureDims;

// Whether a walk over a large value is to stop: asks now and then, and keeps the answer.
class BorderPoll {
 public:
  // kOk to go on, else kCancelled or kDeadlineExceeded. It may suspend the fiber that the walk is
  // on.
  using Question = StatusCode (*)(void* context);

  BorderPoll() = default;  // never stops
  BorderPoll(Question question, void* context) : question_(question), context_(context) {}

  // The work of an object without a copy.
  static constexpr size_t kVisit = 64;

  // After `bytes` of work. False: stop.
  bool GoesOn(size_t bytes) {
    work_ += bytes;
    return work_ < kWork || Ask();
  }
  bool Ask() {
    work_ = 0;
    if (question_ != nullptr && answer_ == StatusCode::kOk) answer_ = question_(context_);
    return answer_ == StatusCode::kOk;
  }
  StatusCode answer() const { return answer_; }
  bool stopped() const { return answer_ != StatusCode::kOk; }

 private:
  static constexpr size_t kWork = 64 << 10;

  Question question_ = nullptr;
  void* context_ = nullptr;
  size_t work_ = 0;
  StatusCode answer_ = StatusCode::kOk;
};

// Of what fails beside all instructions: "main: cancelled", with the exported function as its
// place.
[[gnu::cold]] Status ExportStatus(Failure failure, const std::string& function);

// A type parameter of the export stands for any tensor, tuple or constructor, each use on its own:
// a program that treats it as opaque, as typed programs do, cannot tell. Fails with
// kInvalidArgument: "main: parameter %x: expected Tensor[(?, 300), float32], found Tensor[(2, 200),
// float32]"; and where dims of one name differ: "main: x's dim 1 (k) is 3, w's dim 0 (k) is 5".
// `dims` are the function's. Tensors may lie on devices where `on_devices` is not null, which is
// set if one does.
Status CheckInputs(const Program& program, const ExportInfo& function, const SignatureDims& dims,
                   std::span<const Value> inputs, bool* on_devices = nullptr);

// Sees the tensors of a value with their types; a problem ends the walk.
using TensorVisitor = std::function<std::string(const ValueType& type, const Tensor& tensor)>;
// Empty, or the problem of the first visit that gives one; of a value of `type`.
std::string VisitTensors(const Program& program, const Object* object, const ValueType& type,
                         const TensorVisitor& visitor, BorderPoll* poll);

// Whether it is a tensor of that type: what most values are, told without the machinery of the
// others.
bool IsTensorOf(const Object* object, const ValueType& type);
// Empty when the object is of `type`, which has no variables; else "expected X, found Y", with the
// tensors in `detail`. Undefined when `poll` has stopped it.
std::string CheckType(const Program& program, const Object* object, const ValueType& type,
                      StatusDetail* detail, BorderPoll* poll);

// The value of the result of `function`. Large tensors change hands without a copy: their memory
// leaves the heap. What is shared inside the result stays shared, constants and the memory of views
// too; a closure becomes opaque. What is made for it is charged to the heap, in steps of 64 KiB,
// until the run ends. `num_objects`, if not null, receives how many objects were walked. The object
// must not be used afterwards, except to release it. `given`: inputs whose memory the run had for
// itself (Storage::kOutput): all of one, as it is now, is that value once more.
Result<Value> ExportObject(Heap& heap, const std::shared_ptr<const Executable>& executable,
                           const std::string& function, Object* object, BorderPoll* poll,
                           size_t* num_objects, StringTable* strings = nullptr,
                           std::span<const Value> given = {});

// Large inputs that came out of a run, and that nobody else holds, become the run's own, in `args`:
// what is written of them is written in their place. Whether there is one. REQUIRES: `args` are the
// objects of `inputs`, which live for as long as the run, or what stands for them.
bool GiveInputs(Heap& heap, std::span<Value> inputs, std::span<Object*> args);

// Strings: a value holds packed texts, a run's tensor ids of `strings`, the run's table; null: it
// has none.
//
// The value of an object that the program may go on to use; with `last_use`, it is only released
// afterwards. Large tensors that nobody else holds then change hands, others are copied.
Result<Value> ExportArgument(Heap& heap, const std::shared_ptr<const Executable>& executable,
                             Object* object, bool last_use, BorderPoll* poll,
                             StringTable* strings = nullptr);
// The object of a value that the host gave, copied into the heap. Null without memory, or when
// `poll` has stopped it: what was made until then stays for Heap::Reset. With `from_device`, which
// gives one on the host for a tensor on a device, or null to stop, only these and strings are
// copied: the value stays meanwhile. REQUIRES: it holds no closures and references.
using DeviceImporter = std::function<Tensor*(const Tensor* tensor)>;
Object* ImportValue(Heap& heap, const Value& value, BorderPoll* poll,
                    StringTable* strings = nullptr, const DeviceImporter* from_device = nullptr);

}  // namespace relayvm::vm
