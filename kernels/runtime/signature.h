// What a builtin takes, as a line of text in its table (builtin.cc) that is parsed when this is
// compiled:
//
//     "T[*s] int[*] T[*] -> T[*s]; axis mode=0..5"
//      inputs            -> outputs; parameters
//
//   dtype     T U V     any dtype; the same letter is the same dtype
//             F G       float16, bfloat16, float32 or float64, likewise
//             any int   any dtype; an integer dtype but bool
//             float bool f32 u64 str ...
//   dims      n         the same letter is the same extent
//             4         this extent
//             _         any extent
//             #         as many as the kernel then counts: an upper bound of its next count
//             *s        any number of dims, the same wherever s stands; once in a list
//             *         any number of dims
//             +         any number of dims, at least one element; stands alone
//   =T[*s]    an output that may be the first input's memory: only what changes is written then
//   parameter axis      an axis of the first input
//             axis?     that, or -1
//             bool int real (the bits of a double) lo..hi
//             real...   any number of reals; last
//
// CheckCall holds each call to it before the builtin runs, and the hostile test makes calls of it.
// Tested by signature_test.cc.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>
#include <string_view>

#include "kernels/runtime/call_args.h"

namespace relayvm {

struct DTypeSpec {
  enum class Kind : uint8_t { kAny, kInteger, kFloat, kExact };
  Kind kind = Kind::kAny;
  DType exact = DType::kFloat32;
  char variable = 0;  // 'T', or 0
};

struct DimSpec {
  enum class Kind : uint8_t { kAny, kExact, kVariable, kCounted, kRest, kNonEmpty };
  Kind kind = Kind::kAny;
  int8_t exact = 0;
  char variable = 0;  // of kVariable, kRest ('*s', or 0)
};

struct TensorSpec {
  DTypeSpec dtype;
  std::array<DimSpec, 6> dims;
  uint8_t num_dims = 0;

  // Any number of dims.
  constexpr bool is_open() const {
    for (const DimSpec& d : dims) {
      if (d.kind == DimSpec::Kind::kRest || d.kind == DimSpec::Kind::kNonEmpty) return true;
    }
    return false;
  }
};

struct ParamSpec {
  enum class Kind : uint8_t { kAxis, kOptionalAxis, kRange, kInt, kReal, kReals };
  Kind kind = Kind::kInt;
  int16_t low = 0, high = 0;  // of kRange
};

// There is one for each builtin: small, since it takes room in every program.
struct Signature {
  std::array<TensorSpec, CallArgs::kMaxTensors> tensors;
  std::array<ParamSpec, 9> params;
  uint8_t num_inputs = 0, num_tensors = 0, num_counts = 0, num_params = 0;
  bool in_place = false;  // of the first output: marked by =

  // Of a constant: where the text is not as above, it does not compile.
  static constexpr Signature Parse(std::string_view text);
};

// 0 when the arguments are as the signature says, all dims are sizes and all tensors' bytes fit
// int64 (dims of 0 left out, so that no product of dims overflows); else
// RELAYVM_KERNEL_INVALID_ARGUMENT.
int32_t CheckCall(const Signature& signature, const CallArgs& args);
// Whether `t` is one of the dtypes.
bool Accepts(const DTypeSpec& spec, DType t);

// --- Parsing ---

namespace signature_internal {

// In a constant, what is not constant does not compile.
[[noreturn]] inline void Wrong(const char* /*what*/) { std::abort(); }

class Parser {
 public:
  constexpr explicit Parser(std::string_view text) : text_(text) {}

  constexpr Signature Run() {
    Signature s;
    bool outputs = false;
    while (at_ < text_.size() && text_[at_] != ';') {
      if (Eat("->")) {
        if (outputs) Wrong("one arrow only");
        outputs = true;
        s.num_inputs = s.num_tensors;
      } else {
        if (Eat("=")) {
          if (!outputs || s.num_tensors != s.num_inputs) Wrong("= marks the first output");
          s.in_place = true;
        }
        s.tensors[static_cast<size_t>(s.num_tensors++)] = Tensor();
      }
      Spaces();
    }
    if (!outputs) Wrong("no outputs");
    if (Eat(";")) {
      for (Spaces(); at_ < text_.size(); Spaces()) {
        s.params[static_cast<size_t>(s.num_params++)] = Param();
      }
    }
    if (s.num_params > 0 && Last(s).kind == ParamSpec::Kind::kReals) --s.num_params;
    for (int i = 0; i < s.num_tensors; ++i) {
      for (const DimSpec& d : s.tensors[static_cast<size_t>(i)].dims) {
        if (d.kind == DimSpec::Kind::kCounted) s.num_counts = 1;
      }
    }
    return s;
  }

 private:
  static constexpr const ParamSpec& Last(const Signature& s) {
    return s.params[static_cast<size_t>(s.num_params - 1)];
  }
  constexpr bool Eat(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  constexpr void Spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  constexpr char Next() {
    if (at_ == text_.size()) Wrong("the text ends early");
    return text_[at_++];
  }
  static constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
  static constexpr bool IsLetter(char c) { return c >= 'a' && c <= 'z'; }
  constexpr bool AtLetter() const { return at_ < text_.size() && IsLetter(text_[at_]); }
  template <typename T>
  constexpr T Number() {
    int n = 0;
    for (; at_ < text_.size() && IsDigit(text_[at_]); ++at_) n = n * 10 + (text_[at_] - '0');
    if (n > std::numeric_limits<T>::max()) Wrong("a number is too large");
    return static_cast<T>(n);
  }

  constexpr DTypeSpec DTypeName() {
    using Kind = DTypeSpec::Kind;
    if (Eat("any")) return {};
    if (Eat("int")) return {Kind::kInteger};
    if (Eat("float")) return {Kind::kFloat};
    if (Eat("bool")) return {Kind::kExact, DType::kBool};
    if (Eat("f32")) return {Kind::kExact, DType::kFloat32};
    if (Eat("i32")) return {Kind::kExact, DType::kInt32};
    if (Eat("i64")) return {Kind::kExact, DType::kInt64};
    if (Eat("str")) return {Kind::kExact, DType::kString};
    if (Eat("u64")) return {Kind::kExact, DType::kUInt64};
    const char c = Next();
    if (c == 'T' || c == 'U' || c == 'V') return {Kind::kAny, DType::kFloat32, c};
    if (c == 'F' || c == 'G') return {Kind::kFloat, DType::kFloat32, c};
    Wrong("unknown dtype");
  }

  constexpr DimSpec Dim() {
    using Kind = DimSpec::Kind;
    if (IsDigit(text_[at_])) return {Kind::kExact, Number<int8_t>()};
    const char c = Next();
    if (c == '_') return {};
    if (c == '#') return {Kind::kCounted};
    if (c == '+') return {Kind::kNonEmpty};
    if (c == '*') return {Kind::kRest, 0, AtLetter() ? Next() : '\0'};
    if (IsLetter(c)) return {Kind::kVariable, 0, c};
    Wrong("unknown dim");
  }

  constexpr TensorSpec Tensor() {
    TensorSpec t;
    t.dtype = DTypeName();
    if (!Eat("[")) Wrong("expected [");
    while (!Eat("]")) {
      if (t.num_dims > 0 && !Eat(",")) Wrong("expected ,");
      t.dims[static_cast<size_t>(t.num_dims++)] = Dim();
    }
    return t;
  }

  constexpr ParamSpec Param() {
    using Kind = ParamSpec::Kind;
    if (Eat("axis?")) return {Kind::kOptionalAxis};
    if (Eat("axis")) return {Kind::kAxis};
    if (Eat("bool")) return {Kind::kRange, 0, 1};
    if (Eat("int")) return {Kind::kInt};
    if (Eat("real...")) return {Kind::kReals};
    if (Eat("real")) return {Kind::kReal};
    if (at_ == text_.size() || !IsDigit(text_[at_])) Wrong("unknown parameter");
    const auto low = Number<int16_t>();
    if (!Eat("..")) Wrong("expected ..");
    return {Kind::kRange, low, Number<int16_t>()};
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace signature_internal

constexpr Signature Signature::Parse(std::string_view text) {
  return signature_internal::Parser(text).Run();
}

}  // namespace relayvm
