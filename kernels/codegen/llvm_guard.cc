#include "kernels/codegen/llvm_guard.h"

#include <fmt/format.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/raw_ostream.h>

#include <chrono>
#include <exception>
#include <mutex>
#include <new>
#include <shared_mutex>

#include "bytecode/base/check_stop.h"

namespace relayvm::codegen {
namespace {

// Whoever waits for the others looks so often whether it is to stop.
constexpr std::chrono::milliseconds kPoll{10};

struct Failure : std::exception {
  explicit Failure(std::string r) : reason(std::move(r)) {}
  std::string reason;
};

thread_local int depth = 0;  // of guards on this thread

[[noreturn]] void Fail(std::string reason) { throw Failure(std::move(reason)); }

// In other threads LLVM goes on to end the process, as it does without a handler.
void OnFatalError(void* /*user*/, const char* reason, bool /*wants_diagnosis*/) {
  if (depth > 0) Fail(reason);
}
void OnNoMemory(void* /*user*/, const char* /*reason*/, bool /*wants_diagnosis*/) {
  if (depth > 0) throw std::bad_alloc();
}

// Handlers while somebody is in a guard.
class Handlers {
 public:
  Handlers() {
    const std::lock_guard lock(mutex);
    if (users++ > 0) return;
    llvm::install_fatal_error_handler(OnFatalError);
    llvm::install_bad_alloc_error_handler(OnNoMemory);
  }
  ~Handlers() {
    const std::lock_guard lock(mutex);
    if (--users > 0) return;
    llvm::remove_fatal_error_handler();
    llvm::remove_bad_alloc_error_handler();
  }
  Handlers(const Handlers&) = delete;
  Handlers& operator=(const Handlers&) = delete;

 private:
  static constinit inline std::mutex mutex;
  static constinit inline int users = 0;
};

std::shared_timed_mutex& LlvmMutex() {
  static std::shared_timed_mutex mutex;
  return mutex;
}

Status Run(const std::function<Status()>& work) {
  const Handlers handlers;
  ++depth;
  Status status;
  try {
    status = work();
  } catch (const Failure& f) {
    status = Status(StatusCode::kInternal, fmt::format("LLVM gives up: {}", f.reason));
  } catch (const std::bad_alloc&) {
    status = Status(StatusCode::kResourceExhausted, "LLVM: out of memory");
  } catch (const std::exception& e) {
    status = Status(StatusCode::kInternal, fmt::format("generating code: {}", e.what()));
  }
  --depth;
  return status;
}

// Whoever waits to get in holds the door, so that nobody overtakes: a lock alone lets new users of LLVM
// pass who waits for all to leave.
std::timed_mutex& Door() {
  static std::timed_mutex door;
  return door;
}

template <typename Lock>
Status Acquire(const std::stop_token& stop, Lock* lock) {
  do {
    RELAYVM_RETURN_IF_ERROR(CheckStop(stop));
  } while (!lock->try_lock_for(kPoll));
  return OkStatus();
}

template <typename Lock>
Status RunLocked(const std::stop_token& stop, const std::function<Status()>& work) {
  if (depth > 0) return Run(work);  // holds the lock
  std::unique_lock door(Door(), std::defer_lock);
  RELAYVM_RETURN_IF_ERROR(Acquire(stop, &door));
  Lock lock(LlvmMutex(), std::defer_lock);
  RELAYVM_RETURN_IF_ERROR(Acquire(stop, &lock));
  door.unlock();
  return Run(work);
}

}  // namespace

Status GuardLlvm(const std::stop_token& stop, const std::function<Status()>& work) {
  return RunLocked<std::shared_lock<std::shared_timed_mutex>>(stop, work);
}

Status GuardLld(const std::stop_token& stop, const std::function<Status()>& work) {
  return RunLocked<std::unique_lock<std::shared_timed_mutex>>(stop, work);
}

void GuardDiagnoses(llvm::LLVMContext& context) {
  context.setDiagnosticHandlerCallBack([](const llvm::DiagnosticInfo* info, void* /*user*/) {
    if (info->getSeverity() != llvm::DS_Error) return;
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info->print(printer);
    Fail(text);
  });
}

}  // namespace relayvm::codegen
