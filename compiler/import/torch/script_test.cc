#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/base/file_mapping.h"
#include "bytecode/io/zip_writer.h"
#include "compiler/import/torch/importer.h"
#include "compiler/reference/interpreter.h"
#include "compiler/typing/infer.h"
#include "tests/temp_folder.h"

namespace relayvm::import {
namespace {

// An archive of a module M without attributes, of which `body` is forward(x, n), or of other
// parameters behind x.
SharedBytes ArchiveOf(const std::string& body, const std::string& more = "n: int") {
  const std::string code =
      "class M(Module):\n  def forward(self: __torch__.M,\n    x: Tensor,\n    " + more +
      ") -> Tensor:\n" + body;
  std::string data(
      "\x80\x02"
      "c__torch__\nM\n)\x81}b.",
      22);
  const relayvm::testing::TempFolder folder;
  auto zip = ZipWriter::Create(folder / "made.zip");
  REQUIRE(zip.ok());
  for (const auto& [name, content] : std::vector<std::pair<std::string, std::string>>{
           {"m/version", "3\n"}, {"m/data.pkl", data}, {"m/code/__torch__.py", code}}) {
    REQUIRE(zip->Add(name, std::as_bytes(std::span(content))).ok());
  }
  REQUIRE(zip->Finish().ok());
  return SharedBytes::OfFile(*FileMapping::Open(folder / "made.zip"));
}

Result<ir::Module> Imported(const std::string& body) {
  ImportOptions options;
  options.shapes = {{"x", "(?,):float32"}};
  return ImportTorchScript("m.pt", ArchiveOf(body), options);
}

// What forward([1, 2, -3], n) gives.
std::vector<float> Run(const std::string& body, int64_t n) {
  auto module = Imported(body);
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  auto typed = InferTypes(*module);
  REQUIRE_MESSAGE(typed.ok(), typed.status().message());
  const std::vector<float> x = {1, 2, -3};
  const std::vector<int64_t> number = {n};
  const auto value = reference::Run(
      *typed, "main",
      {reference::MakeTensor(
           {DType::kFloat32, {3}, SharedBytes::Copy(std::as_bytes(std::span(x)))}),
       reference::MakeTensor(
           {DType::kInt64, {}, SharedBytes::Copy(std::as_bytes(std::span(number)))})});
  REQUIRE_MESSAGE(value.ok(), value.status().message());
  const HostTensor& t = *(*value)->As<reference::Tensor>()->data;
  std::vector<float> out(static_cast<size_t>(t.size()));
  std::memcpy(out.data(), t.data.data(), out.size() * sizeof(float));
  return out;
}

using Floats = std::vector<float>;

}  // namespace

TEST_CASE("branches on numbers of the caller join what their arms did") {
  const std::string body = R"(    y = torch.clone(x)
    if torch.gt(n, 1):
      _0 = torch.add_(torch.select(y, 0, 0), 10)
      k = 2
    else:
      k = 3
    return torch.mul(y, k)
)";
  CHECK(Run(body, 5) == Floats{22, 4, -6});
  CHECK(Run(body, 0) == Floats{3, 6, -9});
}

TEST_CASE("loops carry variables, lists and what they write in place") {
  const std::string body = R"(    y = torch.clone(x)
    l = annotate(List[Tensor], [])
    s = 0
    for i in range(n):
      _0 = torch.mul_(y, 2)
      _1 = torch.append(l, torch.sum(y))
      s = torch.add(s, i)
    return torch.mul(torch.stack(l), s)
)";
  CHECK(Run(body, 3) == Floats{0, 0, 0});
  const std::string grown = R"(    l = annotate(List[int], [])
    k = n
    _0 = torch.gt(k, 0)
    while _0:
      if torch.eq(torch.remainder(k, 2), 0):
        _1 = torch.append(l, k)
      else:
        pass
      k = torch.sub(k, 1)
      _0 = torch.gt(k, 0)
    return torch.to(torch.tensor(l), 6)
)";
  CHECK(Run(grown, 7) == Floats{6, 4, 2});
}

TEST_CASE("None or a tensor, by what only running tells") {
  const std::string body = R"(    if torch.gt(n, 0):
      o : Optional[Tensor] = torch.mul(x, n)
    else:
      o = None
    if torch.__is__(o, None):
      r = x
    else:
      r = unchecked_cast(Tensor, o)
    return r
)";
  CHECK(Run(body, 2) == Floats{2, 4, -6});
  CHECK(Run(body, 0) == Floats{1, 2, -3});
}

TEST_CASE("an input that is said to be None keeps its place") {
  ImportOptions options;
  options.shapes = {{"x", "(?,):float32"}, {"o", "None"}};
  const SharedBytes archive = ArchiveOf(
      "    if torch.__is__(o, None):\n      r = torch.mul(x, n)\n    else:\n      r = o\n    "
      "return r\n",
      "o: Optional[Tensor],\n    n: int");
  const auto module = ImportTorchScript("m.pt", archive, options);
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  const auto& params = module->functions.at("main")->params;
  REQUIRE(params.size() == 3);
  CHECK(params[1]->name == "o");
  CHECK(params[2]->name == "n");
}

TEST_CASE("all that is not supported is named at once") {
  const auto module = Imported(R"(    a = torch.no_such_operator(x)
    b = ops.mine.another(x, n)
    return torch.add(a, b)
)");
  REQUIRE(!module.ok());
  CHECK(module.status().code() == StatusCode::kUnsupported);
  const std::string said(module.status().message());
  CHECK(said.find("aten::no_such_operator is not supported") != std::string::npos);
  CHECK(said.find("mine::another is not supported") != std::string::npos);
  CHECK(said.find("code/__torch__.py:5") != std::string::npos);
}

TEST_CASE("programs that fail, or find no end, are errors") {
  for (const auto& [body, said] : std::initializer_list<std::pair<const char*, const char*>>{
           {"    ops.prim.RaiseException(\"no\")\n    return x\n", "always fails: no"},
           {"    return (self).forward(x, n, )\n", "calls itself more than"},
           {"    return y\n", "the name 'y' means nothing here"},
           {"    return CONSTANTS.c0\n", "CONSTANTS.c0 is not in the archive"},
           {"    return self.nope\n", "has no attribute 'nope'"}}) {
    CAPTURE(body);
    const auto module = Imported(body);
    REQUIRE(!module.ok());
    CHECK(std::string(module.status().message()).find(said) != std::string::npos);
  }
}

}  // namespace relayvm::import
