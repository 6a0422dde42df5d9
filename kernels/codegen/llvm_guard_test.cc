#include "kernels/codegen/llvm_guard.h"

#include <doctest/doctest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Target/TargetMachine.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "kernels/codegen/target.h"
#include "vm/platform/sanitizers.h"

#if RELAYVM_ASAN
#include <sanitizer/lsan_interface.h>
#endif

namespace relayvm::codegen {
namespace {

// What LLVM held when it gave up stays where it is.
#if RELAYVM_ASAN
using LeaksAllowed = __lsan::ScopedDisabler;
#else
struct LeaksAllowed {};
#endif

// Object code of a text of LLVM's.
Status Generate(const char* text) {
  [[maybe_unused]] const LeaksAllowed leaks_allowed;
  return GuardLlvm({}, [&]() -> Status {
    struct Work {
      llvm::LLVMContext context;
      std::unique_ptr<llvm::TargetMachine> machine;
      std::unique_ptr<llvm::Module> module;
    };
    const Leakable<Work> work;
    work->machine = MakeTargetMachine(MachineNamed("x86-64-v3"), /*opt_level=*/3);
    llvm::SMDiagnostic error;
    work->module = llvm::parseAssemblyString(text, error, work->context);
    REQUIRE_MESSAGE(work->module != nullptr, error.getMessage().str());
    GuardDiagnoses(work->context);
    PrepareModule(*work->module, *work->machine);
    return EmitObject(*work->module, *work->machine, 3).status();
  });
}

constexpr const char* kGood = "define i32 @f(i32 %x) { ret i32 %x }";
// An instruction of another processor: "Cannot select".
constexpr const char* kForeign = R"(
declare i32 @llvm.aarch64.crc32b(i32, i32)
define i32 @f(i32 %x) {
  %y = call i32 @llvm.aarch64.crc32b(i32 %x, i32 %x)
  ret i32 %y
})";
// The assembler finds it, and says so to the context.
constexpr const char* kBadAssembly = R"(
define void @f() {
  call void asm sideeffect "no such instruction", ""()
  ret void
})";

TEST_CASE("what LLVM gives up on fails the call, and the next one works") {
  for (int i = 0; i < 2; ++i) {
    const Status foreign = Generate(kForeign);
    CHECK(foreign.code() == StatusCode::kInternal);
    CHECK_MESSAGE(foreign.message().starts_with("LLVM gives up: Cannot select"), foreign.message());
    const Status assembly = Generate(kBadAssembly);
    CHECK(assembly.code() == StatusCode::kInternal);
    CHECK_MESSAGE(assembly.message().find("no such instruction") != std::string::npos,
                  assembly.message());
    CHECK(Generate(kGood).ok());
    CHECK(GuardLlvm({}, []() -> Status { llvm::report_bad_alloc_error("no memory"); }).code() ==
          StatusCode::kResourceExhausted);
  }
}

TEST_CASE("a failure of one thread is none of another's") {
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (const char* text : {kForeign, kGood, kForeign, kGood}) {
      threads.emplace_back([&, text] {
        for (int i = 0; i < 5; ++i) wrong += Generate(text).ok() != (text == kGood);
      });
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("who is to stop does not begin, nor wait for others") {
  std::stop_source stop;
  stop.request_stop();
  const auto unexpected = [] { return Status(StatusCode::kInternal, "it has begun"); };
  CHECK(GuardLlvm(stop.get_token(), unexpected).code() == StatusCode::kCancelled);
  std::stop_source later;
  Status waited;
  CHECK(GuardLlvm({}, [&] {
          std::jthread other([&] { waited = GuardLld(later.get_token(), unexpected); });
          later.request_stop();
          other.join();
          return OkStatus();
        }).ok());
  CHECK(waited.code() == StatusCode::kCancelled);
}

TEST_CASE("who is to be alone gets in, though others come and go") {
  std::atomic<bool> done = false;
  const auto work = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return OkStatus();
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!done) CHECK(GuardLlvm({}, work).ok());
    });
  }
  for (int i = 0; i < 5; ++i) CHECK(GuardLld({}, work).ok());
  done = true;
}

}  // namespace
}  // namespace relayvm::codegen
