// From a program to text. The syntax is the assembler's (see assembler.h, which draws it); what
// follows a ';' is a comment.
//
// assemble(disassemble(p)) is p again: the same code, the same tables, the same file once written.
// Thread-safe. Tested by assembler_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bytecode/program.h"

namespace relayvm {

struct DisassembleOptions {
  bool data = false;      // bytes of constants and images in hexadecimal; else `elided`
  bool comments = true;   // names and types of what operands refer to
  bool locations = true;  // source locations
};

// REQUIRES (of all): the program passed the verifier.
std::string DisassembleProgram(const Program& program, const DisassembleOptions& options = {});
std::string DisassembleFunction(const Program& program, uint32_t function,
                                const DisassembleOptions& options = {});
// Of a file's programs the one with regions, where there is one, behind a comment that says of its
// native twin, where that is there; else the first.
std::string DisassembleFile(const Program& first, std::span<const Program> others,
                            const DisassembleOptions& options = {});

// For people, as Relay writes types: "List[Tensor[(n, 3), float32]]", "(int32, fn)"; type
// parameters are A, B, ...
std::string TypeToString(const Program& program, const ValueType& type);
// The same of a result, or one of its fields: "of a type that a run tells" where nothing else does.
std::string ResultTypeToString(const Program& program, const ExportInfo& exported,
                               const ValueType& type);
// As people write a type parameter: A, B, ... by its position.
std::string TypeParameterName(uint32_t index);
// "Tensor[(1, 300), float32]".
std::string TensorTypeToString(DType dtype, const std::vector<int64_t>& dims);
// In quotes, with escapes: what the assembler reads.
std::string QuoteString(std::string_view text);

}  // namespace relayvm
