// Inputs of imported operators whose numbers must lie in a range: rows of tests, and what checks
// one.
#pragma once

#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <vector>

#include "compiler/import/onnx/value_cases.h"

namespace relayvm {

struct Range {
  const char* op;
  const char* in;  // x is data, i what is checked; others are of `more`
  std::string attributes;
  std::vector<int64_t> fine, wrong;
  const char* said;                    // when it runs: "indices 'i'", and the number
  const char* number;                  // ": 3, expected -3 to 2"
  const char* constant = nullptr;      // where i and the dims are known; else as `number`
  std::vector<int64_t> dims = {3, 2};  // of x
  std::string more = {};
  const char* domain = "";
  int type = 7;  // of i
  bool is_scalar = false;
};

inline std::string InDomain(std::string node, const char* domain) {
  return node.insert(node.find("op_type"), std::string("domain: '") + domain + "' ");
}

inline std::string RangeModel(const Range& r, bool constant) {
  std::vector<std::string> open, known;
  for (const int64_t d : r.dims) {
    // Ranks of windows and channels need their dims; the first is open.
    open.push_back(open.empty() ? "n" : std::to_string(d));
    known.push_back(std::to_string(d));
  }
  const std::string node = import::testing::Node(r.op, r.in, "y", r.attributes);
  const std::string i =
      constant ? "initializer { name: 'i' data_type: " + std::to_string(r.type) +
                     (r.is_scalar ? "" : " dims: " + std::to_string(r.wrong.size())) +
                     (r.type == 6 ? " int32_data: [" : " int64_data: [") +
                     fmt::format("{}", fmt::join(r.wrong, ", ")) + "] } "
               : import::testing::Tensor(
                     "input", "i",
                     r.is_scalar ? std::vector<std::string>()
                                 : std::vector<std::string>{std::to_string(r.wrong.size())},
                     r.type);
  const std::string outputs = r.op == std::string_view("Split") ? "output { name: 'z' } " : "";
  return "ir_version: 8 opset_import { domain: 'com.microsoft' version: 1 } opset_import { domain: "
         "'ai.onnx.ml' version: 3 } opset_import { version: 26 } graph { name: 'g' " +
         import::testing::Tensor("input", "x", constant ? known : open) + i + r.more +
         (*r.domain == 0
              ? (outputs.empty() ? node : import::testing::Node(r.op, r.in, "y z", r.attributes))
              : InDomain(node, r.domain)) +
         "output { name: 'y' } " + outputs + "}";
}

// A good number runs, a wrong one is an error that names node, input and number, when compiling
// too.
inline void CheckRange(const Range& r) {
  CAPTURE(r.op);
  CAPTURE(r.number);
  const std::unique_ptr<Invocation> run =
      Runnable(import::testing::ImportText(RangeModel(r, false)));
  int64_t count = 1;
  for (const int64_t d : r.dims) count *= d;
  const std::vector<float> data(static_cast<size_t>(count), 0.5F);
  const Value x = *Value::CopyTensor(DType::kFloat32, r.dims, data.data());
  const auto given = [&](const std::vector<int64_t>& numbers) {
    const std::vector<int32_t> narrow(numbers.begin(), numbers.end());
    const std::vector<int64_t> dims =
        r.is_scalar ? std::vector<int64_t>()
                    : std::vector<int64_t>{static_cast<int64_t>(numbers.size())};
    return r.type == 6 ? *Value::CopyTensor(DType::kInt32, dims, narrow.data())
                       : *Value::CopyTensor(DType::kInt64, dims, numbers.data());
  };
  const auto fine = run->Run("main", {x, given(r.fine)});
  CHECK_MESSAGE(fine.ok(), fine.status().ToString());
  const auto wrong = run->Run("main", {x, given(r.wrong)});
  CHECK(!wrong.ok());
  if (!wrong.ok()) {
    const std::string said = wrong.status().ToString();
    CAPTURE(said);
    CHECK(said.find("node 'y") != std::string::npos);
    CHECK(said.find(r.said) != std::string::npos);
    CHECK(said.find(r.number) != std::string::npos);
  }
  const auto compiled = import::testing::ImportText(RangeModel(r, true));
  CHECK(!compiled.ok());
  if (!compiled.ok()) {
    const std::string said = compiled.status().ToString();
    CAPTURE(said);
    CHECK(said.find("node 'y") != std::string::npos);
    CHECK(said.find(r.constant != nullptr ? r.constant : r.number) != std::string::npos);
  }
}

// The rows of number_ranges_test.cc.
std::vector<Range> Ranges();

}  // namespace relayvm
