// Types and sizes in the assembler's text; for assembler.cc alone. What is wrong is the cursor's
// error.
#pragma once

#include <cstdint>
#include <vector>

#include "bytecode/program.h"
#include "bytecode/size_formula.h"
#include "bytecode/text_cursor.h"

namespace relayvm::assembler {

DType ParseDTypeWord(TextCursor* in);
uint8_t Device(TextCursor* in);  // "@1" where it is not the host
// `device` may be null: there is none.
void StaticType(TextCursor* in, DType* dtype, std::vector<int64_t>* dims,
                uint8_t* device = nullptr);
ValueType Type(TextCursor* in, int depth);
std::vector<ValueType> Types(TextCursor* in, int depth);  // "(...)"
// A sum of products: "s0*8 + floordiv(s1, 2)".
void Size(TextCursor* in, SizeFormula* to, int depth);

}  // namespace relayvm::assembler
