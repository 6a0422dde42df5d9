// JsonReader: JSON that a stranger sent, read in one pass, without a tree in memory.
//
//   JsonReader reader(text);
//   if (reader.BeginObject())
//     for (std::string key; reader.NextKey(&key);) { ... read or Skip the value ... }
//   reader.ExpectEnd();
//   RELAYVM_RETURN_IF_ERROR(reader.status());
//
// The first error stays, and from then on nothing is read: loops end, and who asks once at the end
// knows. Errors are kInvalidArgument and say at which byte. Never recurses; values nest no deeper
// than kMaxJsonDepth. Takes no more memory than the text has bytes. NaN, Infinity and -Infinity are
// numbers, as Python's json writes them, and as strings, as ours does, elements. Not thread-safe.
// Tested by json_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"

namespace relayvm::serve {

inline constexpr size_t kMaxJsonDepth = 64;

class JsonReader {
 public:
  enum class Kind : uint8_t { kObject, kArray, kString, kNumber, kBool, kNull, kNone };

  explicit JsonReader(std::string_view text) : text_(text) {}

  const Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }
  // What comes next, by its first character; kNone at the end, after an error, and for what begins
  // no value.
  Kind Peek();

  // Each is false after an error, and makes one where something else comes.
  bool BeginObject();
  // The next member's name; false at the object's end, which is read.
  bool NextKey(std::string* key);
  bool BeginArray();
  bool NextElement();
  bool ReadString(std::string* text);
  bool ReadBool(bool* value);
  bool ReadInt(int64_t* value);
  bool ReadDouble(double* value);
  // One value, whatever it is.
  bool Skip();
  void ExpectEnd();

  // --- Arrays of numbers: what requests are made of. ---

  // Elements of a tensor of these dims, row by row: a flat array, or arrays nested as the dims say;
  // of rank 0 the number itself, too. Exactly out.size() numbers (or true and false, for T bool,
  // and for others not), each in T's range. REQUIRES: out.size() is the product of the dims.
  // T: bool, integers of 8 to 64 bits, float, double.
  template <typename T>
  bool ReadElements(std::span<const int64_t> dims, std::span<T> out);
  // The same of strings, `count` of them, which are added to `out`: views of the text that is read,
  // or, of those with escapes, of `decoded`, which is given room once and is not to be moved then.
  bool ReadStrings(std::span<const int64_t> dims, size_t count, std::vector<std::string_view>* out,
                   std::string* decoded);

  // Where it is, and back there: for members that come before what is needed to read them.
  // REQUIRES, to Rewind: the position was here, at the same depth.
  size_t position() const { return at_; }
  void Rewind(size_t position) { at_ = position; }
  size_t bytes_left() const { return text_.size() - at_; }
  // Makes an error at what was read last; false, for `return reader.Fail(...)`.
  bool Fail(std::string message);

 private:
  void SkipSpace();
  bool Take(char c);
  bool TakeWord(std::string_view word);
  bool Open(char c);
  bool Next(char close);
  bool ReadView(std::string_view* text, std::string* decoded);
  bool ReadRest(std::string* text);
  bool ReadEscape(std::string* text);
  bool ReadHex(uint32_t* unit);
  template <typename Element>
  bool ReadTree(std::span<const int64_t> dims, size_t count, const Element& element);
  template <typename Element>
  bool ReadFlat(size_t count, const Element& element);
  template <typename Element>
  bool ReadNested(std::span<const int64_t> dims, size_t count, const Element& element);
  template <typename T>
  bool ReadNumber(T* out);
  template <typename T>
  bool ReadNamedFloat(T* out);

  std::string_view text_;
  size_t at_ = 0;
  std::vector<char> open_;  // '{' or '[' of each value that we are in, '}' or ']' before the first
  Status status_;
};

}  // namespace relayvm::serve
