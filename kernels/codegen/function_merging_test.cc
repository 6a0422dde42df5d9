#include "kernels/codegen/function_merging.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>
#include <string>
#include <vector>

namespace relayvm::codegen {
namespace {

// One module of functions.
struct Text {
  explicit Text(const std::string& text) {
    llvm::SMDiagnostic error;
    module = llvm::parseAssemblyString(text, error, context);
    REQUIRE_MESSAGE(module != nullptr, error.getMessage().str() << " in " << error.getLineNo());
    for (llvm::Function& f : *module) {
      if (!f.isDeclaration()) forms.push_back(FormOf(f));
    }
  }
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::vector<FunctionForm> forms;
};

// Two loops, one in the other. `inner` is in the inner one, `outer` in the outer one; both may name
// %i, %j and what came before.
std::string Nest(const std::string& name, const std::string& outer, const std::string& inner) {
  std::string padding;  // as a kernel has more to do
  for (int n = 0; n < 80; ++n) padding += fmt::format("  %pad{} = add i64 %j, {}\n", n, n % 8);
  return fmt::format(
      "define hidden i32 @{}(ptr noalias %p, i64 %n) nounwind {{\n"
      "entry:\n  br label %outer\n"
      "outer:\n  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]\n{}  br label %inner\n"
      "inner:\n  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]\n{}{}"
      "  %at = getelementptr i64, ptr %p, i64 %pad79\n  store i64 %j, ptr %at, align 8\n"
      "  %j.next = add i64 %j, 1\n  %more.j = icmp slt i64 %j.next, %n\n"
      "  br i1 %more.j, label %inner, label %latch\n"
      "latch:\n  %i.next = add i64 %i, 1\n  %more.i = icmp slt i64 %i.next, %n\n"
      "  br i1 %more.i, label %outer, label %done\n"
      "done:\n  ret i32 0\n}}\n",
      name, outer, padding, inner);
}

std::vector<std::vector<SharedBody>> Share(const std::vector<const Text*>& texts) {
  std::vector<const std::vector<FunctionForm>*> forms;
  for (const Text* t : texts) forms.push_back(&t->forms);
  return ShareBodies(forms);
}

bool AreShared(const std::string& f, const std::string& g) {
  const Text text(f + g);
  return Share({&text}).front().size() == 2;
}

TEST_CASE("constants that differ are read from a table, those that are equal stay in the code") {
  const auto kernel = [](const std::string& name, int size, int stride) {
    return Nest(name,
                fmt::format("  %a = mul i64 %i, {0}\n  %b = add i64 %a, 100\n"
                            "  %c = icmp slt i64 %b, {0}\n",
                            size),
                fmt::format("  %d = getelementptr float, ptr %p, i64 {}\n", stride));
  };
  Text first(kernel("f", 3025, 64)), second(kernel("g", 784, 32) + kernel("h", 784, 64));
  const auto bodies = Share({&first, &second});
  REQUIRE(bodies.size() == 2);
  REQUIRE(bodies[0].size() == 1);
  REQUIRE(bodies[1].size() == 2);
  CHECK(bodies[0][0].is_defined);
  CHECK(bodies[0][0].body == "body_f");
  std::vector<uint32_t> read = bodies[0][0].places;
  std::erase(read, SharedBody::kKept);  // 100, and those of the padding
  CHECK(read == std::vector<uint32_t>{0, 0, 1});
  CHECK(bodies[0][0].table == std::vector<int64_t>{3025, 64});
  CHECK(bodies[1][0].table == std::vector<int64_t>{784, 32});
  CHECK(bodies[1][1].table == std::vector<int64_t>{784, 64});
  CHECK_FALSE(bodies[1][1].is_defined);

  ApplySharedBodies(bodies[0], *first.module, /*jumps=*/true);
  ApplySharedBodies(bodies[1], *second.module, /*jumps=*/true);
  for (const Text* t : {&first, &second}) {
    std::string problems;
    llvm::raw_string_ostream stream(problems);
    CHECK_MESSAGE(!llvm::verifyModule(*t->module, &stream), problems);
  }
  const llvm::Function& body = *first.module->getFunction("body_f");
  CHECK(!body.isDeclaration());
  CHECK(body.hasHiddenVisibility());
  CHECK(second.module->getFunction("body_f")->isDeclaration());
  size_t loads = 0;
  for (const llvm::Instruction& i : body.getEntryBlock()) loads += llvm::isa<llvm::LoadInst>(i);
  CHECK(loads == 2);
  for (const char* name : {"g", "h"})
    CHECK(second.module->getFunction(name)->getInstructionCount() == 2);  // call, ret
}

TEST_CASE("functions that are equal share a body without a table") {
  const Text text(Nest("f", "", "") + Nest("g", "", ""));
  const auto bodies = Share({&text});
  REQUIRE(bodies.front().size() == 2);
  CHECK(bodies.front()[1].table.empty());
}

TEST_CASE("what code is faster for knowing keeps functions apart") {
  const auto outer = [](const char* name, const std::string& code) { return Nest(name, code, ""); };
  const auto inner = [](const char* name, const std::string& code) { return Nest(name, "", code); };
  CHECK(AreShared(outer("f", "  %a = add i64 %i, 20\n"), outer("g", "  %a = add i64 %i, 30\n")));
  SUBCASE("steps, lanes and windows") {
    // LLVM unrolls innermost loops by small counts.
    const auto counted = [&](const char* name, int count) {
      std::string code = outer(name, "");
      const std::string end = "icmp slt i64 %j.next, %n";
      code.replace(code.find(end), end.size(), fmt::format("icmp slt i64 %j.next, {}", count));
      return code;
    };
    CHECK(AreShared(counted("f", 30), counted("g", 50)));
    CHECK_FALSE(AreShared(counted("f", 3), counted("g", 5)));
    CHECK_FALSE(AreShared(counted("f", 3), counted("g", 50)));
    CHECK(AreShared(outer("f", "  %a = add i64 %i, 3\n"), outer("g", "  %a = add i64 %i, -1\n")));
  }
  SUBCASE("divisors in loops, but for those that call helpers") {
    CHECK_FALSE(
        AreShared(inner("f", "  %a = udiv i64 %j, 56\n"), inner("g", "  %a = udiv i64 %j, 28\n")));
    CHECK_FALSE(
        AreShared(outer("f", "  %a = udiv i64 %i, 56\n"), outer("g", "  %a = udiv i64 %i, 28\n")));
    const std::string called = "declare void @tile(i64)\n", call = "  call void @tile(i64 %a)\n";
    CHECK(AreShared(called + inner("f", "  %a = udiv i64 %j, 56\n" + call),
                    inner("g", "  %a = udiv i64 %j, 28\n" + call)));
  }
  SUBCASE("shifts, masks and lanes") {
    CHECK_FALSE(
        AreShared(outer("f", "  %a = shl i64 %i, 10\n"), outer("g", "  %a = shl i64 %i, 12\n")));
    CHECK_FALSE(
        AreShared(outer("f", "  %a = and i64 %i, -32\n"), outer("g", "  %a = and i64 %i, -64\n")));
  }
  SUBCASE("more of an innermost loop than registers hold, by which the others are still shared") {
    const auto many = [&](const char* name, int step, int size) {
      std::string code;
      for (int n = 1; n <= 7; ++n)
        code += fmt::format("  %a{} = getelementptr float, ptr %p, i64 {}\n", n, n * step);
      return Nest(name, fmt::format("  %o = mul i64 %i, {}\n", size), code);
    };
    const Text text(many("f", 56, 100) + many("g", 28, 200) + many("h", 28, 300));
    const auto bodies = Share({&text});
    REQUIRE(bodies.front().size() == 2);
    CHECK(bodies.front()[0].function == "g");
    CHECK(bodies.front()[1].table == std::vector<int64_t>{300});
  }
}

TEST_CASE("a body is given the helpers that differ") {
  const auto kernel = [](const std::string& name, const std::string& first,
                         const std::string& other) {
    return Nest(name, "  call void @same(i64 %i)\n",
                fmt::format("  call void @{0}(i64 100, i32 20)\n  call void @{1}(i64 %j, i32 20)\n"
                            "  call void @{0}(i64 300, i32 10)\n",
                            first, other));
  };
  const std::string helpers =
      "declare void @same(i64) nounwind\ndeclare void @a(i64, i32) nounwind\n"
      "define internal void @b(i64 %x, i32 %y) nounwind {\n  ret void\n}\n";
  Text first(helpers + kernel("f", "a", "b")), second(helpers + kernel("g", "b", "a"));
  const auto bodies = Share({&first, &second});
  REQUIRE(bodies[1].size() == 1);
  CHECK(bodies[0][0].callees == std::vector<std::string>{"a", "b"});
  CHECK(bodies[1][0].callees == std::vector<std::string>{"b", "a"});
  CHECK(bodies[1][0].callee_places == std::vector<uint32_t>{SharedBody::kKept, 0, 1, 0});
  ApplySharedBodies(bodies[0], *first.module, /*jumps=*/true);
  ApplySharedBodies(bodies[1], *second.module, /*jumps=*/true);
  for (const Text* t : {&first, &second}) {
    std::string problems;
    llvm::raw_string_ostream stream(problems);
    CHECK_MESSAGE(!llvm::verifyModule(*t->module, &stream), problems);
    CHECK(t->module->getFunction("b") != nullptr);  // the body calls it
  }
  size_t by_name = 0;
  for (const llvm::Instruction& i : llvm::instructions(*first.module->getFunction("body_f"))) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&i);
    by_name += call != nullptr && call->getCalledFunction() != nullptr;
  }
  CHECK(by_name == 1);

  SUBCASE("of one type and with the same attributes") {
    const std::string other = "declare void @c(i64, i64)\ndeclare void @d(i64, i32) readnone\n";
    const std::string more =
        "declare void @same(i64) nounwind\ndeclare void @a(i64, i32) nounwind\n";
    CHECK_FALSE(AreShared(more + other + Nest("f", "", "  call void @a(i64 %j, i32 2)\n"),
                          Nest("g", "", "  call void @c(i64 %j, i64 2)\n")));
    CHECK_FALSE(AreShared(more + other + Nest("f", "", "  call void @a(i64 %j, i32 2)\n"),
                          Nest("g", "", "  call void @d(i64 %j, i32 2)\n")));
  }
  SUBCASE("which give nothing") {
    const std::string more = "declare i64 @x(i64)\ndeclare i64 @y(i64)\n";
    CHECK_FALSE(AreShared(more + Nest("f", "", "  %a = call i64 @x(i64 %j)\n"),
                          Nest("g", "", "  %a = call i64 @y(i64 %j)\n")));
  }
}

TEST_CASE("other code is not shared, whatever differs") {
  const std::string base =
      "  %a = add i64 %i, 20\n  %c = icmp slt i64 %a, %n\n"
      "  %l = load i64, ptr %p, align 8\n";
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"add i64", "add nsw i64"}, {"add i64", "sub i64"}, {"slt", "sle"},
      {"align 8", "align 4"},     {"%a, %n", "%n, %a"},   {"load i64", "load volatile i64"},
      {"%i, 20", "20, %i"},
  };
  CHECK(AreShared(Nest("f", base, ""), Nest("g", base, "")));
  for (const auto& [from, to] : changes) {
    CAPTURE(to);
    std::string changed = base;
    changed.replace(changed.find(from), from.size(), to);
    CHECK_FALSE(AreShared(Nest("f", base, ""), Nest("g", changed, "")));
  }
  std::string attributes = Nest("g", base, "");
  attributes.replace(attributes.find("nounwind"), 8, "nounwind noinline");
  CHECK_FALSE(AreShared(Nest("f", base, ""), attributes));
  std::string calling = base + "  call void asm sideeffect \"nop\", \"\"()\n";
  CHECK_FALSE(AreShared(Nest("f", calling, ""), Nest("g", calling, "")));
}

TEST_CASE("small functions stay as they are") {
  const std::string small = "define i64 @{}(i64 %x) {{\n  %y = add i64 %x, {}\n  ret i64 %y\n}}\n";
  const Text text(fmt::format(fmt::runtime(small), "f", 20) +
                  fmt::format(fmt::runtime(small), "g", 30));
  CHECK(Share({&text}).front().empty());
}

}  // namespace
}  // namespace relayvm::codegen
