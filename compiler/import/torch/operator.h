// One row for each of PyTorch's operators that TorchScript and torch.export call: its schema, as
// PyTorch prints it, and the function that writes it as Relay. Tables stand in op_*.cc by subject;
// operator_table.cc joins them.
//
//   Results Clamp(Call& n) {
//     Term x(n, 0);
//     if (n.Has("min")) x = Maximum(x, Term(n, n.Number("min", x.dtype())));
//     ...
//     return {x};
//   }
//   {"aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", Clamp},
//
// A row is pure: `aten::add_` and out= variants are found as the row of `aten::add`, and what it
// gives is written (aliases.h). Views are those whose schema says so. Arguments are read by the
// names that the schema gives them: one converter serves several overloads, and asks Has. Tested by
// op_arithmetic_test.cc and the others beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/import/torch/argument.h"
#include "compiler/import/torch/schema.h"

namespace relayvm::import::torch {

class Call;
using Results = std::vector<Argument>;
using Converter = Results (*)(Call&);

// Which tensors a converter takes beside plain ones.
enum class Takes : uint8_t {
  kPlain,      // others are an error that names the operator
  kMoves,      // elements are only moved: what is quantised stays so, by argument 0
  kQuantised,  // the converter reads Argument::quantised itself
  kComplex,    // the converter reads Argument::complex itself
  kNested,     // the converter reads Argument::rows itself
  kAll         // quantised and complex
};

struct OperatorDef {
  std::string_view schema;
  Converter convert;
  Takes takes = Takes::kPlain;
};

// A row with its schema read.
struct Operator {
  const OperatorDef* def;
  Schema schema;
};

// What the file says of a call's results, where it says so (torch.export does).
struct Expected {
  std::optional<size_t> items;  // of a list
  std::optional<int> rank;      // of a tensor
};

// What a converter reads of its call. Getters of a wrong kind are an error of the call and give a
// fallback; errors stick in the builder, so that a converter is straight code.
class Call : public NodeErrors<Call> {
 public:
  Call(TypedBuilder& b, const Operator& op, std::vector<Argument> arguments);

  TypedBuilder& b() const { return b_; }
  operator TypedBuilder&() const { return b_; }  // NOLINT(google-explicit-constructor)
  const Operator& op() const { return op_; }
  const Schema& schema() const { return op_.schema; }
  std::string_view name() const;      // "aten::add"
  std::string_view overload() const;  // "Tensor"

  // --- Any argument. One that the schema does not have is None. ---
  const Argument& Arg(std::string_view name) const;
  const Argument& Arg(size_t i) const;
  bool Has(std::string_view name) const { return !Arg(name).is_none(); }
  size_t size() const { return arguments_.size(); }

  // --- Tensors ---
  // Argument `i`, by position; a number becomes a tensor of rank 0 of its own dtype. No value where
  // it is None. Quantised and complex ones are refused but where the row says that it takes them.
  Value Input(size_t i) const;
  Value Tensor(std::string_view name) const;
  std::vector<Value> Tensors(std::string_view name) const;  // of a list
  // The elements of `indices` and the like: no value for None.
  std::vector<Value> OptionalTensors(std::string_view name) const;

  // --- Numbers that must be known now ---
  int64_t Int(std::string_view name, int64_t fallback = 0) const;
  double Float(std::string_view name, double fallback = 0) const;  // of any known number
  bool Bool(std::string_view name, bool fallback = false) const;
  std::string String(std::string_view name, std::string_view fallback = {}) const;
  // A list; one number is a list of the length that the schema says, or else of 1.
  std::vector<int64_t> Ints(std::string_view name) const;
  std::vector<double> Floats(std::string_view name) const;
  // Of `count`: one stands for all.
  std::vector<int64_t> Ints(std::string_view name, size_t count, int64_t fallback) const;
  // Nullopt, without an error, where only running tells.
  std::optional<int64_t> KnownInt(std::string_view name) const;
  std::optional<int64_t> KnownInt(const Argument& a) const;
  // dtype=: nullopt where it is None; an error where the IR has none.
  std::optional<DType> Dtype(std::string_view name = "dtype") const;

  // --- Numbers that only running may tell ---
  Value Number(std::string_view name, DType dtype) const;  // rank 0; of tensors of one element too
  Value SymInt(std::string_view name) const;               // int64, rank 0
  Value SymInt(const Argument& a, std::string_view name) const;
  std::vector<Value> SymInts(std::string_view name) const;  // int64, rank 0 each
  Value Sizes(std::string_view name) const;                 // int64, rank 1: a shape

  // --- Axes ---
  // 0..rank-1 from one in -rank..rank-1 (rank 0 counts as 1); an error and 0 beyond.
  int Axis(std::string_view name, int rank, int64_t fallback = 0) const;
  // None or an empty list: all, unless `empty_is_none`. Sorted, no duplicates.
  std::vector<int64_t> Axes(std::string_view name, int rank, bool empty_is_none = false) const;

  // --- What it gives beside results ---
  // The tensor argument has these elements from here on (running statistics).
  void Write(std::string_view name, const Value& value);
  const std::vector<std::pair<size_t, Value>>& writes() const { return writes_; }

  const Expected& expected() const { return expected_; }
  void Expect(const Expected& expected) { expected_ = expected; }

  // What another row gives, by "aten::mul.Tensor" and positional arguments.
  std::vector<Argument> As(std::string_view full_name, std::vector<Argument> arguments,
                           const Expected& expected = {}) const;
  Value ValueAs(std::string_view full_name, std::vector<Argument> arguments) const;  // its first

  // What errors call an argument: "index"; its place (checked.h's InputName takes a Call).
  std::string InputText(size_t i, std::string_view what) const;
  ir::Span InputSpan(size_t i, std::string_view what) const;

  // How errors of this call are noted (NodeErrors).
  Failed Note(StatusCode code, std::string_view why) const;

 private:
  Value AsTensor(const Argument& a, std::string_view what) const;
  std::optional<double> Known(const Argument& a) const;
  int64_t MustKnow(const Argument& a, std::string_view name) const;

  TypedBuilder& b_;
  const Operator& op_;
  std::vector<Argument> arguments_;
  std::vector<std::pair<size_t, Value>> writes_;
  Expected expected_;
};

// "aten::add" and "Tensor": the row; in-place and out= variants give the row that they are made of.
// Null: there is none.
const Operator* FindOperator(std::string_view name, std::string_view overload);
// All rows of a name, in the order in which overloads are tried; of `add_` those of `add`.
std::vector<const Operator*> Overloads(std::string_view name);
// `add_`: its first argument takes the result.
bool IsInPlace(std::string_view name);

// The row that takes these, as TorchScript chooses: exactly first, then with conversions.
struct BoundCall {
  const Operator* op = nullptr;
  std::vector<Argument> arguments;  // one for each of the schema
};
Result<BoundCall> ChooseOverload(std::string_view name, std::span<const Argument> positional,
                                 std::span<const KeywordArgument> keywords);

// --- Dtypes ---

// PyTorch's result type: bool < integers < floats by category, and in a category tensors with dims
// come before tensors of rank 0, those before Python numbers.
DType ResultType(std::span<const Argument> operands);
// The same; of integers and bools the default float (float32).
DType FloatResultType(std::span<const Argument> operands);

// The tables by subject.
using OperatorTable = std::span<const OperatorDef>;
OperatorTable ArithmeticOperators();
OperatorTable UnaryOperators();
OperatorTable ScalarOperators();
OperatorTable ReduceOperators();
OperatorTable FactoryOperators();
OperatorTable ViewOperators();
OperatorTable IndexOperators();
OperatorTable SortOperators();
OperatorTable PartOperators();
OperatorTable ProductOperators();
OperatorTable RestOperators();
// Those of nn_tables.cc: convolutions, normalisation, recurrent layers ...
std::vector<OperatorTable> NnOperatorTables();

// All rows, and the list of them in Markdown.
std::vector<const Operator*> AllOperators();
std::string OperatorList();

}  // namespace relayvm::import::torch
