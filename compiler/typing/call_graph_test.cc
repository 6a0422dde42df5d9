#include "compiler/typing/call_graph.h"

#include "compiler/typing/testing.h"

namespace relayvm::typing {
namespace {

// Components as text: members joined by "+", recursive ones with "*".
std::string Components(const std::string& source) {
  const ir::Module m = ir::Parsed(source);
  std::string out;
  for (const Component& c : ComponentsCalleesFirst(m)) {
    if (!out.empty()) out += " ";
    for (size_t i = 0; i < c.functions.size(); ++i) out += (i > 0 ? "+" : "") + *c.functions[i];
    if (c.recursive) out += "*";
  }
  return out;
}

TEST_CASE("callees come first") {
  CHECK(Components("def @a() { @b() } def @b() { @c() } def @c() { 1 }") == "c b a");
  CHECK(Components("def @a() { @c() } def @b() { @a() } def @c() { 1 }") == "c a b");
}

TEST_CASE("functions that call each other stand together") {
  CHECK(Components("def @a() { @a() }") == "a*");
  CHECK(Components("def @a() { @b() } def @b() { @a() } def @c() { @a() }") == "a+b* c");
  CHECK(Components("def @a() { @b() } def @b() { @c() } def @c() { @a() } def @d() { 1 }") ==
        "a+b+c* d");
}

TEST_CASE("a mention in a nested block or as a value counts") {
  CHECK(Components("def @a(%c: bool) { if (%c) { @z() } else { 1 } } def @z() { 1 }") == "z a");
  CHECK(Components("def @a() { fn () { @z() } } def @z() { 1 }") == "z a");
  CHECK(Components("def @a() { @z } def @z() { 1 }") == "z a");
}

}  // namespace
}  // namespace relayvm::typing
