#include "bytecode/base/suggestion.h"

#include <doctest/doctest.h>

#include <string>

namespace relayvm {
namespace {

TEST_CASE("suggestions are of names that are close") {
  constexpr std::string_view kNames[] = {"params", "precision", "input", "plugin"};
  CHECK(DidYouMean("prams", kNames) == "; did you mean params?");
  CHECK(DidYouMean("inputs", kNames, "--") == "; did you mean --input?");
  CHECK(DidYouMean("precison", kNames) == "; did you mean precision?");
  CHECK(DidYouMean("nonsense", kNames).empty());
  CHECK(DidYouMean("", kNames).empty());
  CHECK(DidYouMean("x", kNames).empty());  // all of it would be another
  CHECK(DidYouMean(std::string(100, 'p'), kNames).empty());
}

}  // namespace
}  // namespace relayvm
