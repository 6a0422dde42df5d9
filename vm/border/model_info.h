// What a program says of itself: its functions with what they take and give, its data types.
//
//   auto main = executable->info().FindFunction("main");
//   for (const NamedType& input : (*main)->inputs) std::cout << input.name << ": " << input.type.text;
//
// Plain data, made when a program is loaded, as old as its Executable; how programs are stored does
// not show in it. Tested by model_info_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/dtype.h"
#include "bytecode/base/status.h"
#include "bytecode/base/status_detail.h"
#include "vm/border/value.h"

namespace relayvm {

struct Program;

struct TypeInfo {
  enum class Kind : uint8_t { kTensor, kTuple, kAdt, kFunction, kRef, kTypeVar };
  struct Dim {
    int64_t size = -1;  // -1: known when it runs
    // As the program or model writes it: "n", "n*2 + 1". One name is one number in all inputs.
    // Empty where it is a number, or has no name.
    std::string name;
  };
  Kind kind = Kind::kTensor;
  DType dtype = DType::kFloat32;  // kTensor
  std::vector<Dim> dims;          // kTensor
  std::vector<TypeInfo> args;     // kTuple: fields; kAdt: type arguments; kRef: content
  // kAdt: index into ModelInfo::data_types; kTypeVar: position among the type parameters in scope,
  // of the data type or of the function: any tensor, tuple or constructor.
  uint32_t index = 0;
  std::string text;  // as Relay writes it: "Tensor[(?, 300), float32]"
};

struct NamedType {
  std::string name;
  TypeInfo type;
  bool is_optional = false;  // an input that may be left out: Optional[Tensor[(3), float32]]
};

// A state between runs (vm/border/state.h): the input is what the output of the run before was.
struct StatePair {
  size_t input, output;  // positions in FunctionSignature::inputs and outputs
};

// A function that hosts may call.
struct FunctionSignature {
  std::string name;
  uint32_t num_type_params = 0;
  std::vector<NamedType> inputs;
  TypeInfo result;
  // Of the result what is no tuple, counted depth first through its tuples; where the program has
  // no names, output_0, output_1 ...
  std::vector<NamedType> outputs;
  std::vector<StatePair> states;

  // The inputs in their order; those that may be left out may be missing, with `without_states`
  // those of states too. Fails with kInvalidArgument for a name that there is not, one that is
  // given twice, and one that is missing.
  Result<std::vector<Value>> OrderInputs(std::span<const NamedValue> given,
                                         bool without_states = false) const;
  // The same of buffers for tensors of the result, as Invocation::Run takes them.
  Result<std::vector<OutputBuffer>> OrderBuffers(std::span<const NamedBuffer> given) const;
  // The output of that name in a result of the function; none where it went to a buffer.
  // kInvalidArgument where there is no such output.
  Result<Value> FindOutput(const Value& result, std::string_view name) const;
};

struct DataTypeInfo {
  struct Constructor {
    std::string name;
    std::vector<TypeInfo> fields;
  };
  std::string name;
  uint32_t num_type_params = 0;
  std::vector<Constructor> constructors;  // position is the tag
};

struct ModelInfo {
  std::vector<FunctionSignature> functions;
  std::vector<DataTypeInfo> data_types;
  // Of a file that holds the program for several processors: what each needs ("x86-64-v3"), the
  // least first.
  std::vector<std::string> targets;

  // kNotFound where there is none of that name.
  Result<const FunctionSignature*> FindFunction(std::string_view name) const;

  // For the runtime and the compiler. REQUIRES: the program is verified.
  static ModelInfo Of(const Program& program);
};

}  // namespace relayvm
