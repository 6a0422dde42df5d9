// The wire format of protobuf messages, read without a schema and without copies: a message is a
// view of bytes, its fields are numbers and views.
//
//   for (WireReader in(message); in.Next();) {
//     if (in.field() == 1) name = in.bytes();
//   }
//
// A message that is damaged or cut off ends early and says so (damaged()); a field of another wire
// type than the reader asks for is 0 or empty. Any bytes are safe. Format: the encoding chapter of
// the documentation of Protocol Buffers.
// Not thread-safe. Tested by protobuf_wire_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace relayvm::import {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

class WireReader {
 public:
  // `message` outlives what is read of it.
  explicit WireReader(std::string_view message) : rest_(message) {}

  // Goes on to the next field; false at the end and where the message is damaged.
  bool Next();
  bool damaged() const { return damaged_; }

  uint32_t field() const { return field_; }
  WireType type() const { return type_; }
  uint64_t number() const { return number_; }  // of fixed types their bits
  int64_t signed_number() const { return static_cast<int64_t>(number_); }
  bool boolean() const { return number_ != 0; }
  float float_number() const;    // of kFixed32
  double double_number() const;  // of kFixed64
  std::string_view bytes() const { return bytes_; }

 private:
  bool Varint(uint64_t* value);
  bool Damaged() {
    damaged_ = true;
    return false;
  }

  std::string_view rest_;
  uint32_t field_ = 0;
  WireType type_ = WireType::kVarint;
  uint64_t number_ = 0;
  std::string_view bytes_;
  bool damaged_ = false;
};

// The numbers of a repeated field, which may be packed: the current field of `in` is appended.
void AppendNumbers(const WireReader& in, std::vector<int64_t>* out);
void AppendFloats(const WireReader& in, std::vector<float>* out);
void AppendDoubles(const WireReader& in, std::vector<double>* out);

// --- Writing ---

void AppendVarint(uint64_t value, std::string* out);
void AppendTag(uint32_t field, WireType type, std::string* out);
void AppendNumber(uint32_t field, uint64_t value, std::string* out);
void AppendBytes(uint32_t field, std::string_view bytes, std::string* out);
void AppendFloat(uint32_t field, float value, std::string* out);
void AppendDouble(uint32_t field, double value, std::string* out);

}  // namespace relayvm::import
