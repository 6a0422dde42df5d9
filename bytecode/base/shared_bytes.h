// SharedBytes: bytes with a shared owner. They are a buffer of the process, a part of a mapped file
// that stays mapped for as long as somebody holds it, or a recipe that makes them when they are
// read. Weights are such bytes: from the file they come in to the file they go out, nobody copies
// them who does not change them.
//
//   SharedBytes file = SharedBytes::OfFile(mapping);          no copy
//   SharedBytes part = file.Slice(128, 4096);                 no copy, the same owner
//   part.Mutable()[0] = ...;                                  copies first: `file` stays as it is
//   SharedBytes packed = SharedBytes::Lazy(4096, PackPart);   no memory yet
//   Write(packed.Loaded());                                   memory while it is written
//
// Copies of an object share their bytes. Thread-safe as a shared_ptr is. Tested by
// shared_bytes_test.cc.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace relayvm {

class FileMapping;

class SharedBytes {
 public:
  SharedBytes() = default;
  // Takes the vector over.
  SharedBytes(std::vector<std::byte> bytes);  // NOLINT(google-explicit-constructor)
  // `owner` keeps `bytes` alive and unchanged.
  SharedBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  static SharedBytes OfFile(std::shared_ptr<const FileMapping> file);
  // A buffer of its own, 64-byte aligned. Large ones take memory as they are written.
  static SharedBytes Zeros(size_t size);
  static SharedBytes Copy(std::span<const std::byte> bytes);
  // `fill` writes all bytes into zeros, the same each time, from any thread. It owns what it reads.
  static SharedBytes Lazy(size_t size, std::function<void(std::span<std::byte>)> fill);

  // Lazy bytes stay in memory from here on, until the last copy of this object dies.
  const std::byte* data() const { return kind_ == Kind::kLazy ? Pin() : data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const std::byte* begin() const { return data(); }
  const std::byte* end() const { return data() + size_; }
  const std::byte& operator[](size_t i) const { return data()[i]; }
  friend bool operator==(const SharedBytes& a, const SharedBytes& b);
  // Objects of one identity and size hold the same bytes, for as long as one of them lives.
  const void* identity() const { return kind_ == Kind::kLazy ? owner_.get() : data_; }

  // REQUIRES: offset + size <= this->size().
  SharedBytes Slice(size_t offset, size_t size) const;
  // These bytes, to be written. They are copied first unless this object alone holds them and they
  // are a buffer that Zeros or Copy made. Pointers from before are void.
  std::span<std::byte> Mutable();

  // For code that reads large weights once: the bytes in memory for as long as the result lives
  // (lazy ones are made here), and the memory of a mapped file's pages given back (the next read
  // brings them in again; does nothing to other bytes).
  SharedBytes Loaded() const;
  void DropPages() const;

 private:
  enum class Kind : unsigned char { kForeign, kBuffer, kMapped, kLazy };
  struct Recipe;

  const std::byte* Pin() const;

  std::shared_ptr<void> owner_;  // of kind kLazy: a Recipe
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  Kind kind_ = Kind::kForeign;
};

}  // namespace relayvm
