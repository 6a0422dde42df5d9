// Random operators give the same numbers whatever the program says of shapes: dims that it gives,
// and `?` in all of them. Walks the operator table.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <string>
#include <vector>

#include "compiler/driver.h"
#include "compiler/frontend/parser.h"
#include "kernels/op/op.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

struct Param {
  DType dtype;
  std::vector<int64_t> dims;
};

// The key, and what follows it: scalars, or probabilities.
std::vector<std::vector<Param>> ParamsOf(const OpDef& op) {
  std::vector<std::vector<Param>> calls;
  for (const std::vector<int64_t>& dims :
       {std::vector<int64_t>{}, {1}, {1, 1}, {4}, {2, 3}, {2, 2, 5}}) {
    std::vector<Param> params = {{DType::kUInt64, {10}}};
    params.resize(static_cast<size_t>(op.num_args), {DType::kFloat32, dims});
    calls.push_back(std::move(params));
  }
  return calls;
}

std::string ProgramText(const OpDef& op, const std::vector<Param>& params, bool is_open) {
  std::string declared;
  std::string args;
  for (size_t i = 0; i < params.size(); ++i) {
    std::string dims;
    for (int64_t d : params[i].dims) dims += is_open ? "?, " : fmt::format("{}, ", d);
    declared += fmt::format("{}%a{}: Tensor[({}), {}]", i > 0 ? ", " : "", i, dims,
                            DTypeName(params[i].dtype));
    args += fmt::format("{}%a{}", i > 0 ? ", " : "", i);
  }
  for (const AttrField& field : op.attrs) {
    if (field.name == "out_shape") args += ", out_shape=[3, 2]";
    if (field.name == "num_samples") args += ", num_samples=4";
  }
  return fmt::format("#[version = \"0.0.5\"]\ndef @main({}) {{ {}({}) }}\n", declared, op.name,
                     args);
}

Result<Value> RunProgram(const std::string& text, const std::vector<Param>& params) {
  RELAYVM_ASSIGN_OR_RETURN(ir::Module module, frontend::ParseRelay("random.relay", text));
  module.entry = "main";
  CompileOptions options;
  options.kernels.opt_level = 0;
  RELAYVM_ASSIGN_OR_RETURN(auto compiled, CompileModule(std::move(module), options));
  RELAYVM_ASSIGN_OR_RETURN(auto executable, Executable::FromProgram(std::move(compiled.program)));
  std::vector<Value> inputs;
  for (const Param& p : params) {
    Value v = *Value::NewTensor(p.dtype, p.dims);
    for (int64_t i = 0; i < v.num_elements(); ++i) {
      char* at = static_cast<char*>(v.mutable_data()) + i * DTypeBytes(p.dtype);
      const uint64_t word = 77 + static_cast<uint64_t>(i);
      const float number = static_cast<float>(inputs.size()) + 0.25F * static_cast<float>(i);
      std::memcpy(at, p.dtype == DType::kUInt64 ? static_cast<const void*>(&word) : &number,
                  static_cast<size_t>(DTypeBytes(p.dtype)));
    }
    inputs.push_back(std::move(v));
  }
  auto runtime = *Runtime::Create();
  return (*Invocation::Create(runtime, executable))->Run("main", inputs);
}

TEST_CASE("random operators with shapes that only running tells") {
  int operators = 0;
  for (std::string_view name : OpTable::Get().Names()) {
    if (!name.starts_with("random.")) continue;
    const OpDef& op = *OpTable::Get().Find(name);
    int runs = 0;
    for (std::vector<Param>& params : ParamsOf(op)) {
      const std::string text = ProgramText(op, params, true);
      CAPTURE(text);
      auto expected = RunProgram(ProgramText(op, params, false), params);
      auto result = RunProgram(text, params);
      REQUIRE(expected.ok() == result.ok());
      if (!result.ok()) continue;
      ++runs;
      for (size_t f : {0, 1}) {
        Value a = expected->field(f);
        Value b = result->field(f);
        REQUIRE(a.bytes() == b.bytes());
        CHECK(a.num_elements() > 0);
        CHECK(std::memcmp(a.data(), b.data(), a.bytes()) == 0);
      }
      // A key of another length is found when it runs.
      params[0].dims = {9};
      CHECK(RunProgram(text, params)
                .status()
                .message()
                .find(fmt::format("{}: the words of the key: 9 does not equal 10", name)) !=
            std::string::npos);
    }
    CHECK_MESSAGE(runs > 0, name);
    ++operators;
  }
  CHECK(operators >= 5);
}

}  // namespace
}  // namespace relayvm
