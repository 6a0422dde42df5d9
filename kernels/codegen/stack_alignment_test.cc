#include "kernels/codegen/stack_alignment.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SourceMgr.h>

#include <memory>
#include <string>

namespace relayvm::codegen {
namespace {

// A loop that sums `sums` vectors of `lanes` floats at once, and stores them behind it.
std::string Sums(int sums, int lanes) {
  const std::string type = fmt::format("<{} x float>", lanes);
  std::string phis, adds, stores;
  for (int i = 0; i < sums; ++i) {
    phis +=
        fmt::format("  %s{0} = phi {1} [ zeroinitializer, %entry ], [ %t{0}, %loop ]\n", i, type);
    adds += fmt::format("  %t{0} = fadd {1} %s{0}, %x\n", i, type);
    stores += fmt::format(
        "  %q{0} = getelementptr {1}, ptr %p, i64 {0}\n  store {1} %t{0}, ptr %q{0}\n", i, type);
  }
  return fmt::format(
      "define void @f(ptr %p, i64 %n) {{\nentry:\n  br label %loop\nloop:\n"
      "  %i = phi i64 [ 0, %entry ], [ %j, %loop ]\n{}  %x = load {}, ptr %p\n{}"
      "  %j = add i64 %i, 1\n  %c = icmp eq i64 %j, %n\n  br i1 %c, label %end, label %loop\n"
      "end:\n{}  ret void\n}}\n",
      phis, type, adds, stores);
}

bool Aligns(const std::string& text, const char* level = "x86-64-v3") {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, error, context);
  INFO(text);
  REQUIRE(module != nullptr);
  llvm::Function& f = *module->getFunction("f");
  const bool aligns = AlignStackOfVectors(f, MachineNamed(level));
  CHECK(f.hasFnAttribute("stackrealign") == aligns);
  return aligns;
}

TEST_CASE("functions whose vectors registers do not hold align their stack") {
  struct Case {
    int sums, lanes;
    const char* level;
    bool aligns;
  };
  for (const Case& c : {
           Case{4, 8, "x86-64-v3", false}, Case{6, 8, "x86-64-v3", false},
           Case{17, 8, "x86-64-v3", true}, Case{40, 8, "x86-64-v3", true},
           Case{9, 16, "x86-64-v3", true},    // two registers each
           Case{17, 4, "x86-64-v3", true},    // short ones take a register each
           Case{17, 16, "x86-64-v4", false},  // it has 32
           Case{33, 16, "x86-64-v4", true},
           Case{40, 4, "x86-64-v2", false},  // 16 bytes: aligned as they are
       }) {
    CAPTURE(c.sums);
    CAPTURE(c.lanes);
    CAPTURE(c.level);
    CHECK(Aligns(Sums(c.sums, c.lanes), c.level) == c.aligns);
  }
}

TEST_CASE("scalars and single blocks") {
  CHECK(
      !Aligns("define double @f(double %x) {\n"
              "  %y = fadd double %x, %x\n  ret double %y\n}\n"));
  // Many values, one after the other.
  std::string text =
      "define void @f(ptr %p) {\n"
      "  %x0 = load <8 x float>, ptr %p\n";
  for (int i = 0; i < 50; ++i)
    text += fmt::format("  %x{} = fadd <8 x float> %x{}, %x{}\n", i + 1, i, i);
  CHECK(!Aligns(text + "  store <8 x float> %x50, ptr %p\n  ret void\n}\n"));
  CHECK(!Aligns("declare void @f()"));
}

}  // namespace
}  // namespace relayvm::codegen
