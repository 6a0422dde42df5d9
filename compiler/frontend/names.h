// The names in scope while a function is parsed. Tested by parser_error_test.cc.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bytecode/base/suggestion.h"
#include "compiler/ir/ir.h"

namespace relayvm::frontend {

struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
};
template <typename T>
using NameMap = std::unordered_map<std::string, T, StringHash, std::equal_to<>>;

// Maps names to values, innermost first; a mark remembers a state to return to.
template <typename T>
class ScopedNames {
 public:
  size_t Mark() const { return order_.size(); }
  void Bind(const std::string& name, T value) {
    auto it = values_.try_emplace(name).first;
    it->second.push_back(std::move(value));
    order_.push_back(&*it);
    max_length_ = std::max(max_length_, name.size());
  }
  void Release(size_t mark) {
    for (; order_.size() > mark; order_.pop_back()) order_.back()->second.pop_back();
  }
  const T* Find(std::string_view name) const {
    auto it = values_.find(name);
    return it == values_.end() || it->second.empty() ? nullptr : &it->second.back();
  }
  // No name bound so far is longer.
  size_t max_length() const { return max_length_; }
  template <typename Fn>
  void ForEachName(const Fn& fn) const {
    for (const auto* entry : order_) fn(entry->first);
  }

 private:
  NameMap<std::vector<T>> values_;
  std::vector<typename NameMap<std::vector<T>>::value_type*> order_;
  size_t max_length_ = 0;
};

}  // namespace relayvm::frontend
