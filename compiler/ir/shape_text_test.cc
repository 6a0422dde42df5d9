// Shapes as text: what --shape takes.
#include "compiler/ir/shape_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace relayvm::ir {
namespace {

std::string Show(std::string_view text) {
  const auto dims = ParseShapeText(text);
  if (!dims.ok()) return dims.status().message();
  std::string out;
  for (const DimText& d : *dims) {
    out += out.empty() ? "" : ", ";
    out += d.size ? fmt::format("{}", *d.size) : d.name.empty() ? "?" : d.name;
    if (d.bound) out += fmt::format("<={}", *d.bound);
  }
  return out;
}

TEST_CASE("shapes are written with x, or with names in parentheses") {
  const struct {
    const char *text, *dims;
  } kCases[] = {
      {"1x?x300", "1, ?, 300"},
      {"?<=512x3", "?<=512, 3"},
      {"7", "7"},
      {"(n, 4)", "n, 4"},
      {"(n,4)", "n, 4"},
      {" ( batch , ?, seq.len, x_1 )", "batch, ?, seq.len, x_1"},
      {"(n<=512, ?<=3)", "n<=512, ?<=3"},
      {"(n,)", "n"},
      {"(xyx)", "xyx"},
      {"()", ""},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.text);
    CHECK(Show(c.text) == c.dims);
  }
}

TEST_CASE("what is no shape says so") {
  for (const char* text : {"", "nx4", "1x", "1xx3", "-1x3", "(n + 1, 3)", "(,)", "(n,,m)", "?<=x3",
                           "(n<=m)", "(3n)", "1x99999999999999999999"}) {
    CAPTURE(text);
    CHECK(Show(text).find("is not a size; write numbers") != std::string::npos);
  }
  CHECK(Show("(n, 4") == "a shape that starts with ( ends with )");
}

}  // namespace
}  // namespace relayvm::ir
