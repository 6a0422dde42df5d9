// Writes small HDF5 files for tests, as h5py does: superblock 0, object headers 1, groups of symbol
// tables, contiguous datasets, attributes of texts of one length.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace relayvm::import::testing {

class Hdf5Writer {
 public:
  using Texts = std::vector<std::string>;
  using Attributes = std::vector<std::pair<std::string, Texts>>;

  Hdf5Writer() : bytes_(96, '\0') {}

  // float32. All of these give the address of the object's header.
  uint64_t Floats(const std::vector<uint64_t>& shape, const std::vector<float>& values) {
    std::string data(values.size() * 4, '\0');
    std::memcpy(data.data(), values.data(), data.size());
    const uint64_t at = Append(data);
    std::string layout = Number(3, 1) + Number(1, 1) + Number(at, 8) + Number(data.size(), 8);
    // Class 1: bits 0 to 31, the exponent of 8 from 23 on, the sign last.
    const std::string type = Number(0x11, 1) + Number(0x1f20, 3) + Number(4, 4) + Number(0, 2) +
                             Number(32, 2) + Number(23, 1) + Number(8, 1) + Number(0, 1) +
                             Number(23, 1) + Number(127, 4);
    return Header({{1, Space(shape)}, {3, type}, {8, layout}});
  }

  // Members in the order of their names.
  uint64_t Group(const std::vector<std::pair<std::string, uint64_t>>& members,
                 const Attributes& attributes = {}) {
    std::string names(8, '\0'), entries;
    for (const auto& [name, header] : members) {
      entries += Number(names.size(), 8) + Number(header, 8) + std::string(24, '\0');
      names += Padded(name + '\0');
    }
    const uint64_t name_data = Append(names);
    const uint64_t heap = Append("HEAP" + Number(0, 4) + Number(names.size(), 8) +
                                 Number(~uint64_t{0}, 8) + Number(name_data, 8));
    const uint64_t leaf = Append("SNOD" + Number(1, 2) + Number(members.size(), 2) + entries);
    const uint64_t tree =
        Append("TREE" + Number(0, 2) + Number(1, 2) + Number(~uint64_t{0}, 8) +
               Number(~uint64_t{0}, 8) + Number(0, 8) + Number(leaf, 8) + Number(0, 8));
    std::vector<std::pair<uint32_t, std::string>> messages = {
        {0x11, Number(tree, 8) + Number(heap, 8)}};
    for (const auto& [name, texts] : attributes) messages.emplace_back(0xC, Attribute(name, texts));
    return Header(messages);
  }

  std::string File(uint64_t root) {
    std::string head = "\x89HDF\r\n\x1a\n" + Number(0, 5) + Number(8, 1) + Number(8, 1) +
                       Number(0, 1) + Number(4, 2) + Number(16, 2) + Number(0, 4) + Number(0, 8) +
                       Number(~uint64_t{0}, 8) + Number(bytes_.size(), 8) +
                       Number(~uint64_t{0}, 8) + Number(0, 8) + Number(root, 8) +
                       std::string(24, '\0');
    std::string out = bytes_;
    std::copy(head.begin(), head.end(), out.begin());
    return out;
  }

 private:
  static std::string Number(uint64_t value, size_t size) {
    std::string out;
    for (size_t i = 0; i < size; ++i) out += static_cast<char>(i < 8 ? value >> (8 * i) & 0xff : 0);
    return out;
  }
  static std::string Padded(std::string text) {
    text.resize((text.size() + 7) / 8 * 8);
    return text;
  }
  static std::string Space(const std::vector<uint64_t>& shape) {
    std::string out = Number(1, 1) + Number(shape.size(), 1) + Number(0, 6);
    for (const uint64_t d : shape) out += Number(d, 8);
    return out;
  }
  // One text is a scalar.
  static std::string Attribute(const std::string& name, const Texts& texts) {
    size_t longest = 1;
    for (const std::string& t : texts) longest = std::max(longest, t.size());
    const std::string type = Number(0x13, 1) + Number(0, 3) + Number(longest, 4);
    const std::string space =
        Space(texts.size() == 1 ? std::vector<uint64_t>{} : std::vector<uint64_t>{texts.size()});
    std::string out = Number(1, 2) + Number(name.size() + 1, 2) + Number(type.size(), 2) +
                      Number(space.size(), 2) + Padded(name + '\0') + Padded(type) + Padded(space);
    for (std::string t : texts) {
      t.resize(longest);
      out += t;
    }
    return out;
  }
  uint64_t Header(const std::vector<std::pair<uint32_t, std::string>>& messages) {
    std::string all;
    for (const auto& [type, data] : messages) {
      const std::string padded = Padded(data);
      all += Number(type, 2) + Number(padded.size(), 2) + Number(0, 4) + padded;
    }
    return Append(Number(1, 2) + Number(messages.size(), 2) + Number(1, 4) + Number(all.size(), 8) +
                  all);
  }
  uint64_t Append(const std::string& data) {
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    const uint64_t at = bytes_.size();
    bytes_ += data;
    return at;
  }

  std::string bytes_;
};

}  // namespace relayvm::import::testing
