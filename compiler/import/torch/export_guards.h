// What a torch.export program asks of its inputs beside their types: sizes in ranges (Dim's min and
// max), sizes that are multiples (8*n), numbers that were given when it was exported. Not
// thread-safe. Tested by export_guards_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/torch/argument.h"
#include "compiler/import/torch/export_json.h"

namespace relayvm::import::torch {

// Of a size: both ends belong to it.
struct SizeRange {
  int64_t least = 0, most = INT64_MAX;
};

class ExportGuards {
 public:
  // `file`: the model's index in the module's sources.
  ExportGuards(TypedBuilder& b, uint32_t file) : b_(b), file_(file) {}

  // The program's range_constraints, whose keys are texts of expressions.
  Status ReadRanges(const Json& constraints);
  // Dimension `axis` of an input is `size` (a SymInt), by the file.
  void AddSize(const std::string& input, const Value& v, int axis, const Json& size);
  // An input that is an integer, `size` by the file.
  void AddInteger(const std::string& input, const Value& v, const Json& size);
  // An input that must be this number.
  void AddNumber(const std::string& input, const Value& v, const Argument& number);
  // `v`; the program fails where something is not as the file says.
  Value Applied(const Value& v);

 private:
  Result<Dim> Parsed(std::string_view text);
  Dim SizeOf(const Json& size);
  void Place(const std::string& input, const std::string& what);
  void Check(const Value& v, int64_t least, int64_t most);
  void CheckMultiple(const std::string& input, const std::string& of, const Value& v,
                     const Dim& size);

  TypedBuilder& b_;
  uint32_t file_;
  // As in the file, whatever they are fixed to.
  std::map<std::string, Dim> symbols_;
  std::map<Dim, SizeRange> ranges_;
  std::vector<Value> checked_;  // int64 each, of one element: not computed where they are wrong
  struct Condition {
    std::string input, what;
    Value holds;
  };
  std::vector<Condition> conditions_;
};

}  // namespace relayvm::import::torch
