#include "compiler/import/torch/argument.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/scalar.h"
#include "compiler/ir/type.h"

namespace relayvm::import::torch {

namespace {

struct TorchDType {
  int64_t number;
  std::optional<DType> dtype;
  const char* name;
};
constexpr TorchDType kDTypes[] = {
    {0, DType::kUInt8, "uint8"},       {1, DType::kInt8, "int8"},
    {2, DType::kInt16, "int16"},       {3, DType::kInt32, "int32"},
    {4, DType::kInt64, "int64"},       {5, DType::kFloat16, "float16"},
    {6, DType::kFloat32, "float32"},   {7, DType::kFloat64, "float64"},
    {8, std::nullopt, "complex32"},    {9, std::nullopt, "complex64"},
    {10, std::nullopt, "complex128"},  {11, DType::kBool, "bool"},
    {12, std::nullopt, "qint8"},       {13, std::nullopt, "quint8"},
    {14, std::nullopt, "qint32"},      {15, DType::kBFloat16, "bfloat16"},
    {16, std::nullopt, "quint4x2"},    {17, std::nullopt, "quint2x4"},
    {23, std::nullopt, "float8_e5m2"}, {24, std::nullopt, "float8_e4m3fn"},
    {27, DType::kUInt16, "uint16"},    {28, DType::kUInt32, "uint32"},
    {29, DType::kUInt64, "uint64"},
};

Argument Of(Argument::Kind kind) {
  Argument a;
  a.kind = kind;
  return a;
}

}  // namespace

Argument Argument::Bool(bool v) {
  Argument a = Of(Kind::kBool);
  a.integer = v ? 1 : 0;
  return a;
}
Argument Argument::Int(int64_t v) {
  Argument a = Of(Kind::kInt);
  a.integer = v;
  return a;
}
Argument Argument::Float(double v) {
  Argument a = Of(Kind::kFloat);
  a.real = v;
  return a;
}
Argument Argument::Complex(double re, double im) {
  Argument a = Of(Kind::kComplex);
  a.real = re;
  a.imaginary = im;
  return a;
}
Argument Argument::String(std::string text) {
  Argument a = Of(Kind::kString);
  a.text = std::move(text);
  return a;
}
Argument Argument::Device(std::string text) {
  Argument a = Of(Kind::kDevice);
  a.text = std::move(text);
  return a;
}
Argument Argument::List(std::vector<Argument> items) {
  Argument a = Of(Kind::kList);
  a.items = std::move(items);
  return a;
}
Argument Argument::Tuple(std::vector<Argument> items) {
  Argument a = Of(Kind::kTuple);
  a.items = std::move(items);
  return a;
}
Argument Argument::OfObject(std::shared_ptr<Object> object) {
  Argument a = Of(Kind::kObject);
  a.object = std::move(object);
  return a;
}
Argument Argument::Sequence(Value v) {
  Argument a = Of(Kind::kSequence);
  a.value = std::move(v);
  return a;
}
Argument Argument::Tensors(const std::vector<Value>& values) {
  return List(std::vector<Argument>(values.begin(), values.end()));
}
Argument Argument::Ints(const std::vector<int64_t>& values) {
  Argument a = Of(Kind::kList);
  for (const int64_t v : values) a.items.push_back(Int(v));
  return a;
}

Argument ScalarArgument(TypedBuilder& b, const Value& v) {
  if (!v.is_tensor()) return Argument::Int(0);
  const Value scalar = v.rank() == 0 ? v : b.Reshape(v, {});
  Argument a;
  if (IsFloat(v.dtype())) {
    if (v.constant != nullptr && v.constant->size() == 1)
      return Argument::Float(ir::NumberAt(*v.constant));
    a = Of(Argument::Kind::kSymFloat);
    a.value = b.Cast(scalar, DType::kFloat64);
    return a;
  }
  if (v.dtype() == DType::kString) {
    a = Of(Argument::Kind::kSymString);
    a.value = scalar;
    return a;
  }
  const bool is_bool = v.dtype() == DType::kBool;
  if (const auto known = b.ConstantInts(scalar); known && known->size() == 1)
    return is_bool ? Argument::Bool((*known)[0] != 0) : Argument::Int((*known)[0]);
  a = Of(is_bool ? Argument::Kind::kSymBool : Argument::Kind::kSymInt);
  a.value = is_bool ? scalar : b.Cast(scalar, DType::kInt64);
  return a;
}

Value ScalarValue(TypedBuilder& b, const Argument& number, DType dtype) {
  switch (number.kind) {
    case Argument::Kind::kBool:
    case Argument::Kind::kInt:
      if (dtype == DType::kBool) return b.Scalar(number.integer != 0 ? 1 : 0, dtype);
      return IsFloat(dtype) ? b.Scalar(static_cast<double>(number.integer), dtype)
                            : b.Int(number.integer, dtype);
    case Argument::Kind::kFloat:
      return b.Scalar(number.real, dtype);
    case Argument::Kind::kSymBool:
    case Argument::Kind::kSymInt:
    case Argument::Kind::kSymFloat:
      return b.Cast(number.value, dtype);
    default:
      b.Fail("expected a number, found {}", KindText(number));
      return b.Scalar(0, dtype);
  }
}

DType DTypeOfNumber(const Argument& number) {
  if (number.is_bool()) return DType::kBool;
  return number.is_int() ? DType::kInt64 : DType::kFloat32;
}

std::optional<DType> DTypeOfTorch(int64_t number) {
  for (const TorchDType& d : kDTypes) {
    if (d.number == number) return d.dtype;
  }
  return std::nullopt;
}

int64_t TorchOfDType(DType dtype) {
  for (const TorchDType& d : kDTypes) {
    if (d.dtype == dtype) return d.number;
  }
  return -1;
}

std::string TorchDTypeName(int64_t number) {
  for (const TorchDType& d : kDTypes) {
    if (d.number == number) return fmt::format("torch.{}", d.name);
  }
  return fmt::format("dtype {}", number);
}

bool IsTorchComplex(int64_t number) { return number >= 8 && number <= 10; }

std::string KindText(const Argument& a) {
  switch (a.kind) {
    case Argument::Kind::kNone:
      return "None";
    case Argument::Kind::kBool:
    case Argument::Kind::kSymBool:
      return "bool";
    case Argument::Kind::kInt:
    case Argument::Kind::kSymInt:
      return "int";
    case Argument::Kind::kFloat:
    case Argument::Kind::kSymFloat:
      return "float";
    case Argument::Kind::kComplex:
      return "complex";
    case Argument::Kind::kString:
    case Argument::Kind::kSymString:
      return "str";
    case Argument::Kind::kDevice:
      return "Device";
    case Argument::Kind::kTensor:
      return a.value.type == nullptr ? "Tensor" : ir::TypeToString(a.value.type);
    case Argument::Kind::kSequence:
      return "Tensor[]";
    case Argument::Kind::kList:
      return a.items.empty() ? "[]" : fmt::format("{}[]", KindText(a.items[0]));
    case Argument::Kind::kTuple: {
      std::string text = "(";
      for (const Argument& item : a.items) {
        if (text.size() > 1) text += ", ";
        text += KindText(item);
      }
      return text + ")";
    }
    case Argument::Kind::kObject:
      return a.object == nullptr ? "object" : a.object->type;
  }
  return "?";
}

}  // namespace relayvm::import::torch
