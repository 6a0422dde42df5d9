// What PyTorch's operators take and give, in TorchScript and in torch.export alike: tensors,
// numbers that are known, numbers that only running tells, lists. Plain data. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/import/arithmetic.h"

namespace relayvm::import::torch {

class TensorAlias;  // aliases.h
struct Object;

// How the integers of a quantised tensor stand for numbers: (q - zero_point) * scale.
struct Quantisation {
  Value scale;       // float32 (what PyTorch stores as float64), rank 0, or rank 1 by channels
  Value zero_point;  // int32, of the same rank
  int axis = -1;     // of the channels; -1: one scale for all
  DType dtype = DType::kUInt8;  // of the integers: kInt8 (qint8), kUInt8 (quint8), kInt32 (qint32)
};

struct Argument {
  enum class Kind : uint8_t {
    kNone,
    kBool,       // `integer`, 0 or 1
    kInt,        // `integer`; also dtypes, layouts, memory formats, by TorchScript's numbers
    kFloat,      // `real`
    kComplex,    // `real`, `imaginary`
    kString,     // `text`
    kDevice,     // `text`: "cpu", "cuda:0"; nobody asks which
    kTensor,     // `value`
    kSymInt,     // `value`: an int64 of rank 0 that is no number now (it may be a dim)
    kSymFloat,   // `value`: a float64 of rank 0
    kSymBool,    // `value`: a bool of rank 0
    kSymString,  // `value`: a string of rank 0; none: a text that only messages may hold
    kSequence,   // `value`: tensors, whose number only running tells (control_flow.h: IsSequence)
    kList,       // `items`
    kTuple,      // `items`
    kObject      // `object`
  };

  Argument() = default;
  Argument(Value v) : kind(Kind::kTensor), value(std::move(v)) {}  // NOLINT
  Argument(const Term& t) : Argument(t.value()) {}                 // NOLINT
  static Argument Bool(bool v);
  static Argument Int(int64_t v);
  static Argument Float(double v);
  static Argument Complex(double re, double im);
  static Argument String(std::string text);
  static Argument Device(std::string text);
  static Argument List(std::vector<Argument> items);
  static Argument Tuple(std::vector<Argument> items);
  static Argument OfObject(std::shared_ptr<Object> object);
  static Argument Sequence(Value v);
  static Argument Tensors(const std::vector<Value>& values);  // a list
  static Argument Ints(const std::vector<int64_t>& values);   // a list

  bool is(Kind k) const { return kind == k; }
  bool is_none() const { return kind == Kind::kNone; }
  bool is_tensor() const { return kind == Kind::kTensor; }
  bool is_list() const { return kind == Kind::kList || kind == Kind::kTuple; }
  bool is_int() const { return kind == Kind::kInt || kind == Kind::kSymInt; }
  bool is_float() const { return kind == Kind::kFloat || kind == Kind::kSymFloat; }
  bool is_bool() const { return kind == Kind::kBool || kind == Kind::kSymBool; }
  // A Python number: bool, int, float, complex, known or not.
  bool is_number() const { return is_int() || is_float() || is_bool() || kind == Kind::kComplex; }
  bool is_text() const { return kind == Kind::kString || kind == Kind::kSymString; }
  bool is_known_number() const {
    return kind == Kind::kBool || kind == Kind::kInt || kind == Kind::kFloat;
  }
  // REQUIRES: is_known_number.
  double number() const { return kind == Kind::kFloat ? real : static_cast<double>(integer); }

  Kind kind = Kind::kNone;
  int64_t integer = 0;
  double real = 0, imaginary = 0;
  std::string text;
  Value value;
  std::vector<Argument> items;
  std::shared_ptr<Object> object;
  // Of tensors only.
  std::shared_ptr<TensorAlias> alias;  // who else sees its elements; null: not known to anybody
  std::shared_ptr<const Quantisation> quantised;  // null: numbers as they are
  // Of a nested tensor, padded: which places are there (bool, the first dims); null: all.
  std::shared_ptr<const Value> rows;
  // Complex numbers: `value` has one dim more, of 2, its last: real and imaginary parts.
  bool complex = false;
};

// A module, an instance of a class, packed weights: what operators take as an object.
struct Object {
  std::string type;            // "__torch__.torch.classes.quantized.Conv2dPackedParamsBase"
  Argument state;              // what its __setstate__ was given, or a tuple of its attributes
  std::shared_ptr<void> host;  // the evaluator's own
};

// A scalar of the graph as an argument: a known number where it is one, else symbolic. The dtype
// says which: bool, integers (int64 afterwards), floats (float64 afterwards).
Argument ScalarArgument(TypedBuilder& b, const Value& v);
// A number as a scalar of the graph (rank 0) of that dtype. REQUIRES: is_number, not complex.
Value ScalarValue(TypedBuilder& b, const Argument& number, DType dtype);
// The dtype that PyTorch gives a tensor made of a Python number: bool, int64, float32 (default).
DType DTypeOfNumber(const Argument& number);

// TorchScript's numbers of dtypes: 0 uint8, 1 int8, 2 int16, 3 int32, 4 int64, 5 half, 6 float,
// 7 double, 8 9 10 complex, 11 bool, 12 qint8, 13 quint8, 14 qint32, 15 bfloat16 ...
std::optional<DType> DTypeOfTorch(int64_t number);  // nullopt: the IR has none
int64_t TorchOfDType(DType dtype);
std::string TorchDTypeName(int64_t number);  // "torch.float32"
bool IsTorchComplex(int64_t number);

// For messages: "int", "Tensor[(n, 3), float32]", "int[]".
std::string KindText(const Argument& a);

}  // namespace relayvm::import::torch
