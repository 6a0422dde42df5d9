#include "kernels/codegen/llvm_guard.h"

#include <fmt/format.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/raw_ostream.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <new>

#include "bytecode/base/check_stop.h"

namespace relayvm::codegen {
namespace {

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

// Many share LLVM, or one has it alone; in turn, so that new users do not pass who waits for all to
// leave. (The library's timed mutexes would do, but ThreadSanitizer does not know their calls.)
class Turns {
 public:
  Status Enter(const std::stop_token& stop, bool alone) {
    RELAYVM_RETURN_IF_ERROR(CheckStop(stop));
    std::unique_lock lock(mutex_);
    const uint64_t ticket = next_ticket_++;
    waiting_.push_back(ticket);
    const bool entered = changed_.wait(lock, stop, [&] {
      return waiting_.front() == ticket && !has_one_alone_ && (!alone || users_ == 0);
    });
    std::erase(waiting_, ticket);
    if (entered) {
      ++users_;
      has_one_alone_ = alone;
    }
    changed_.notify_all();
    return entered ? OkStatus() : CheckStop(stop);
  }
  void Leave() {
    const std::lock_guard lock(mutex_);
    --users_;
    has_one_alone_ = false;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<uint64_t> waiting_;
  uint64_t next_ticket_ = 0;
  int users_ = 0;
  bool has_one_alone_ = false;
};

Status RunInTurn(const std::stop_token& stop, bool alone, const std::function<Status()>& work) {
  if (depth > 0) return Run(work);   // is in
  static Turns& turns = *new Turns;  // never destroyed: a process may end while it compiles
  RELAYVM_RETURN_IF_ERROR(turns.Enter(stop, alone));
  const struct Inside {
    ~Inside() { turns.Leave(); }
  } inside;
  return Run(work);
}

}  // namespace

Status GuardLlvm(const std::stop_token& stop, const std::function<Status()>& work) {
  return RunInTurn(stop, false, work);
}

Status GuardLld(const std::stop_token& stop, const std::function<Status()>& work) {
  return RunInTurn(stop, true, work);
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
