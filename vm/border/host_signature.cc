#include "vm/border/host_signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "bytecode/base/message.h"
#include "bytecode/disassembler.h"
#include "bytecode/text_cursor.h"
#include "bytecode/verifier.h"

namespace relayvm::vm {
namespace {

class SignatureParser {
 public:
  SignatureParser(const Program& program, std::string_view text) : program_(program), in_(text) {}

  Result<HostFunctionInfo> Run() {
    HostFunctionInfo function;
    in_.ExpectWord("fn");
    function.params = Types('(', ')', 0);
    in_.Expect('-');
    in_.Expect('>');
    function.result = Type(0);
    if (in_.ok() && !in_.AtEnd()) in_.FailExpected("the end");
    if (!in_.ok()) return Status(StatusCode::kInvalidArgument, in_.error());
    return function;
  }

 private:
  std::vector<ValueType> Types(char open, char close, int depth) {
    std::vector<ValueType> types;
    in_.Expect(open);
    while (in_.ok() && !in_.Eat(close)) {
      types.push_back(Type(depth));
      if (!in_.Eat(',') && !in_.Peek(close)) in_.FailExpected(fmt::format("',' or '{}'", close));
    }
    return types;
  }

  ValueType Type(int depth) {
    ValueType type;
    if (depth >= kMaxTypeDepth) in_.Fail(fmt::format("type nests deeper than {}", kMaxTypeDepth));
    if (!in_.ok()) return type;
    if (in_.Peek('(')) {
      type.kind = ValueType::Kind::kTuple;
      type.args = Types('(', ')', depth + 1);
      return type;
    }
    const std::string_view word = in_.Word();
    if (word == "Tensor") {
      TensorType(&type);
    } else if (const std::optional<DType> dtype = ParseDType(word)) {
      type.dtype = *dtype;
    } else {
      DataType(word, depth, &type);
    }
    return type;
  }

  void TensorType(ValueType* type) {
    in_.Expect('[');
    in_.Expect('(');
    while (in_.ok() && !in_.Eat(')')) {
      type->dims.push_back(Dim());
      if (!in_.Eat(',') && !in_.Peek(')')) in_.FailExpected("',' or ')' in a shape");
    }
    in_.Expect(',');
    const std::string_view name = in_.Word();
    const std::optional<DType> dtype = ParseDType(name);
    if (!dtype) in_.Fail(fmt::format("unknown dtype '{}'", name));
    type->dtype = dtype.value_or(DType::kBool);
    in_.Expect(']');
  }

  // A number; ? and names leave it open.
  int64_t Dim() {
    if (in_.Eat('?')) return -1;
    const std::string_view word = in_.Word();
    if (word.empty()) in_.FailExpected("a dim");
    if (word.find_first_not_of("0123456789") != std::string_view::npos) return -1;
    return TextCursor(word).Number<int64_t>();
  }

  void DataType(std::string_view name, int depth, ValueType* type) {
    const auto adt = std::find_if(program_.adts.begin(), program_.adts.end(),
                                  [&](const AdtInfo& a) { return a.name == name; });
    if (adt == program_.adts.end()) {
      if (name.empty()) return in_.FailExpected("a type");
      return in_.Fail(fmt::format("the program has no type '{}'", name));
    }
    type->kind = ValueType::Kind::kAdt;
    type->index = static_cast<uint32_t>(adt - program_.adts.begin());
    if (in_.Peek('[')) type->args = Types('[', ']', depth + 1);
    if (type->args.size() != adt->num_type_params) {
      in_.Fail(fmt::format("type {} takes {} type arguments, {} are given", name,
                           adt->num_type_params, type->args.size()));
    }
  }

  const Program& program_;
  TextCursor in_;
};

bool Agree(const ValueType& a, const ValueType& b) {
  if (a.kind != b.kind || a.args.size() != b.args.size() || a.dims.size() != b.dims.size())
    return false;
  if (a.kind == ValueType::Kind::kTensor && a.dtype != b.dtype) return false;
  if (a.kind == ValueType::Kind::kAdt && a.index != b.index) return false;
  for (size_t i = 0; i < a.dims.size(); ++i) {
    if (a.dims[i] != b.dims[i] && a.dims[i] != -1 && b.dims[i] != -1) return false;
  }
  return std::equal(a.args.begin(), a.args.end(), b.args.begin(), Agree);
}

}  // namespace

Result<HostFunctionInfo> ParseHostSignature(const Program& program, std::string_view text) {
  return SignatureParser(program, text).Run();
}

std::string CompareSignatures(const Program& program, const HostFunctionInfo& declared,
                              const HostFunctionInfo& registered) {
  if (declared.params.size() != registered.params.size()) {
    return fmt::format("expected {} parameters, found {}", declared.params.size(),
                       registered.params.size());
  }
  const auto differ = [&](const ValueType& a, const ValueType& b) {
    return fmt::format("expected {}, found {}", TypeToString(program, a), TypeToString(program, b));
  };
  for (size_t i = 0; i < declared.params.size(); ++i) {
    if (!Agree(declared.params[i], registered.params[i]))
      return fmt::format("parameter {}: {}", i, differ(declared.params[i], registered.params[i]));
  }
  if (!Agree(declared.result, registered.result))
    return fmt::format("result: {}", differ(declared.result, registered.result));
  return "";
}

std::string SignatureToString(const Program& program, const HostFunctionInfo& function) {
  std::vector<std::string> params;
  for (const ValueType& param : function.params) params.push_back(TypeToString(program, param));
  return fmt::format("fn ({}) -> {}", Joined(params), TypeToString(program, function.result));
}

}  // namespace relayvm::vm
