#include "compiler/import/importers.h"

#include <doctest/doctest.h>

#include "compiler/import/onnx/testing.h"

namespace relayvm::import {
namespace {

TEST_CASE("every format has a row of both tables, and can be asked for its operators") {
  REQUIRE(Importers().size() == ModelFormats().size());
  for (const Importer& i : Importers()) {
    CAPTURE(i.format->name);
    CHECK(FindImporter(i.format->name) == &i);
    CHECK(i.operators().find("--list-operators " + std::string(i.format->name)) !=
          std::string::npos);
    CHECK(ModelKinds().find(i.format->model) != std::string::npos);
    // What is not of the format is an error of it, never a crash.
    const std::string path = std::string("m") + i.format->ending;
    CHECK(&ImporterOf(path, "???") == &i);
    const std::string_view rubbish = "\x08\x07???";
    CHECK(!i.import(path, SharedBytes::Copy(std::as_bytes(std::span(rubbish))), {}).ok());
  }
  CHECK(FindImporter("caffe") == nullptr);
}

TEST_CASE("a file's importer is told by what it holds, then by its name; anything else is text") {
  const std::string_view model = "\x08\x07\x12\x02hi";
  for (const auto& [path, content, name] :
       std::initializer_list<std::tuple<std::string_view, std::string_view, std::string_view>>{
           {"m", model, "onnx"},
           {"m.relay", model, "onnx"},
           {"m.onnx", "damaged", "onnx"},
           {"m.onnx", "def @main() { 1 }", "relay"},
           {"m.relay", "// text", "relay"},
           {"-", "1 + 2", "relay"},
           {"m.vmx", "RVMX", "relay"}}) {
    CAPTURE(path);
    CHECK(ImporterOf(path, content).format->name == name);
  }
}

}  // namespace
}  // namespace relayvm::import
