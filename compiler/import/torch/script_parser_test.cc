#include <doctest/doctest.h>

#include <string>

#include "compiler/import/torch/script_syntax.h"
#include "compiler/import/torch/script_type.h"

namespace relayvm::import::torch {
namespace {

constexpr const char* kSource = R"(op_version_set = 1
class M(Module):
  __parameters__ = ["w", ]
  w : Tensor
  __annotations__["0"] = __torch__.a.B
  k : Final[int] = 3
  def forward(self: __torch__.M,
    x: Tensor,
    n: Optional[int]=None) -> Tuple[Tensor, int]:
    a, b, = torch.f(x, dtype=-6, )

    if torch.lt(n, 1e-05):
      y : List[int] = annotate(List[int], [])
    else:
      pass
    while True:
      a, b = b, a
    for i in range(3):
      self.w = (self.w)[i]
    return (a, "q\n\"\001", 0.+2.j, {"k": None})
)";

}  // namespace

TEST_CASE("classes, statements and expressions") {
  const auto parsed = ParseSource("m.py", kSource);
  REQUIRE_MESSAGE(parsed.ok(), parsed.status().message());
  const ClassDef* m = parsed->FindClass("M");
  REQUIRE(m != nullptr);
  CHECK(m->base == "Module");
  REQUIRE(m->attributes.size() == 4);
  CHECK(m->attributes[2].name == "0");
  CHECK(TypeText(TypeOfExpr(m->attributes[2].type)) == "__torch__.a.B");
  CHECK(TypeText(TypeOfExpr(m->attributes[3].type)) == "int");
  const FunctionDef* f = m->FindMethod("forward");
  REQUIRE(f != nullptr);
  REQUIRE(f->parameters.size() == 3);
  CHECK(TypeText(TypeOfExpr(f->parameters[2].type)) == "Optional[int]");
  CHECK(TypeText(TypeOfExpr(f->result)) == "Tuple[Tensor, int]");
  REQUIRE(f->body.size() == 5);
  CHECK(f->body[0].unpacks);
  CHECK(f->body[0].value.keywords[0].second.integer == -6);
  CHECK(f->body[1].value.children[2].real == 1e-05);
  CHECK(TypeText(TypeOfExpr(f->body[1].body[0].annotation)) == "List[int]");
  CHECK(f->body[2].body[0].value.children.size() == 2);
  CHECK(f->body[3].body[0].targets[0].text == "w");
  const Expr& result = f->body[4].value;
  CHECK(result.children[1].text == "q\n\"\001");
  CHECK(result.children[2].imaginary == 2);
  CHECK(result.children[3].children[1].kind == Expr::Kind::kNone);
}

TEST_CASE("what is no such code is an error that says where") {
  const std::string deep(5000, '[');
  for (const auto& [text, said] : std::initializer_list<std::pair<std::string, const char*>>{
           {"def f(x:\n", "line"},
           {"def f():\n  return 1 + 2\n", "'+' is not of the language"},
           {"def f():\n  return \"a\n", "a string does not end on its line"},
           {"def f():\n  return 99999999999999999999\n", "an integer of more than 64 bits"},
           {"def f():\n    pass\n  pass\n", "the indentation fits no block"},
           {"def f():\n  return " + deep, "nested too deep"},
           {"class 3:\n", "expected a name, found '3'"},
           {"pass", "line 1"}}) {
    CAPTURE(text.substr(0, 40));
    const auto parsed = ParseSource("m.py", text);
    if (parsed.ok()) continue;
    CHECK(std::string(parsed.status().message()).find(said) != std::string::npos);
  }
}

}  // namespace relayvm::import::torch
