// Elements of tensors as text, and back.
// Tested by numbers_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bytecode/base/dtype.h"
#include "bytecode/base/status.h"

namespace relayvm::tools {

// "f32", "bf16", "i64", "u8", "bool" and Relay's own names.
std::optional<DType> ParseShortDType(std::string_view name);
// "f32", ...
std::string_view ShortDTypeName(DType dtype);

// A number as an element of `dtype`, written to `out`. Takes "true", "inf", "nan" and Relay's
// suffixes ("2.5f", "3i64"), which must agree with `dtype`. kInvalidInput: "2.5 is not an integer",
// "300 is out of the range of uint8".
Status ParseElement(std::string_view text, DType dtype, void* out);

// What numbers are where no type says it, as Relay's own literals: a suffix's dtype, else float32
// where one has a point or an exponent or is inf or nan, else int32; truth values alone are bool.
// `text` is one number, or many among brackets and commas.
DType GuessDType(std::string_view text);

// The element at `data` as a double (any dtype).
double ElementAsDouble(DType dtype, const void* data);

// The shortest text that reads back as the same element: "0.1", "3", "true", "nan", "-inf".
std::string ShortestElement(DType dtype, const void* data);
// As a JSON value: NaN and infinities become the strings "NaN", "Infinity", "-Infinity".
std::string JsonElement(DType dtype, const void* data);
// As a Relay literal: "2.5f", "3", "3i64", "True".
std::string RelayElement(DType dtype, const void* data);

// How numpy prints a float among others: at most 8 digits after the point, and a trailing point
// ("1.", "0.33333334").
std::string NumpyFloat(DType dtype, const void* data, bool scientific);

}  // namespace relayvm::tools
