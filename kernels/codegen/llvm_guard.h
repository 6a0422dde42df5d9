// GuardLlvm: LLVM as a library of a service. What it gives up on (report_fatal_error, memory that
// it does not get, a diagnosis that is an error) fails the call; by itself it would end the
// process.
//
// LLVM keeps its handlers for the whole process: they are installed while some thread is in
// GuardLlvm, and act on those threads alone. A host with handlers of its own for the same libLLVM
// has to install them again. A failure unwinds LLVM's frames, which free nothing: what LLVM was
// working on must be leaked, not destroyed (Leakable). A crash by a signal ends the process.
//
// LLD resets the options of LLVM's command line, which code generation reads: GuardLld runs alone.
// Thread-safe. Tested by llvm_guard_test.cc.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "bytecode/base/status.h"

namespace llvm {
class LLVMContext;
}

namespace relayvm::codegen {

// Runs `work`, with others that do. kInternal with LLVM's reason where it gives up;
// kResourceExhausted without memory; kCancelled where a stop is asked for before it begins.
Status GuardLlvm(const std::stop_token& stop, const std::function<Status()>& work);
// The same, while nobody else is in either.
Status GuardLld(const std::stop_token& stop, const std::function<Status()>& work);

// Errors of this context fail the GuardLlvm that they occur in; warnings are dropped.
void GuardDiagnoses(llvm::LLVMContext& context);

// Owns an object that is destroyed at the end of its scope, but leaked when an exception leaves it.
template <typename T>
class Leakable {
 public:
  template <typename... Args>
  explicit Leakable(Args&&... args) : object_(new T(std::forward<Args>(args)...)) {}
  ~Leakable() {
    if (std::uncaught_exceptions() > exceptions_) (void)object_.release();
  }
  Leakable(const Leakable&) = delete;
  Leakable& operator=(const Leakable&) = delete;

  T& operator*() const { return *object_; }
  T* operator->() const { return object_.get(); }

 private:
  const int exceptions_ = std::uncaught_exceptions();
  std::unique_ptr<T> object_;
};

}  // namespace relayvm::codegen
