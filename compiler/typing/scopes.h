// Where symbols may be mentioned: a tree of blocks, and a clock that ticks with every binding.
// Not thread-safe: belongs to one run of type inference. Tested by solver_test.cc.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "bytecode/base/dim.h"

namespace relayvm::typing {

using ScopeId = uint32_t;

// A point of the program: a block and a time. What is defined at a place is visible at those of the
// same block and of blocks inside it that come no earlier.
struct Place {
  ScopeId scope = 0;
  uint32_t time = 0;
};

class Scopes {
 public:
  static constexpr ScopeId kRoot = 0;

  Scopes() : parents_{0}, depths_{0} {}

  ScopeId NewScope(ScopeId parent) {
    parents_.push_back(parent);
    depths_.push_back(depths_[parent] + 1);
    return static_cast<ScopeId>(parents_.size() - 1);
  }
  uint32_t Tick() { return ++clock_; }

  bool IsAncestor(ScopeId outer, ScopeId inner) const {
    while (depths_[inner] > depths_[outer]) inner = parents_[inner];
    return inner == outer;
  }
  bool IsVisible(const Place& definition, const Place& from) const {
    return definition.time <= from.time && IsAncestor(definition.scope, from.scope);
  }
  // The place from which only what both see is visible.
  Place Common(Place a, Place b) const {
    ScopeId x = a.scope;
    ScopeId y = b.scope;
    while (x != y) {
      if (depths_[x] < depths_[y]) {
        y = parents_[y];
      } else {
        x = parents_[x];
      }
    }
    return {x, a.time < b.time ? a.time : b.time};
  }

  void DefineSymbol(uint32_t id, Place place) { symbols_.emplace(id, place); }
  bool IsDefined(uint32_t id) const { return symbols_.contains(id); }
  bool IsSymbolVisible(uint32_t id, const Place& from) const {
    auto it = symbols_.find(id);
    return it != symbols_.end() && IsVisible(it->second, from);
  }

 private:
  std::vector<ScopeId> parents_;
  std::vector<uint32_t> depths_;
  uint32_t clock_ = 0;
  std::unordered_map<uint32_t, Place> symbols_;
};

}  // namespace relayvm::typing
