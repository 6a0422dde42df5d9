// The memory of a program whose kernels become the nodes of a graph: which entry lies where, what
// is a view of what, and what shares storage. Tested by build_graph_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/program.h"
#include "compiler/graph/build_graph.h"

namespace relayvm::graph {

// Memory that tensors lie in: of a constant or an input, of an object, or a call's arena.
struct Region {
  uint32_t space = 0;
  uint64_t offset = 0;
};

class TracedMemory {
 public:
  // Both are borrowed; nodes and weights are added to `made`.
  TracedMemory(const Program& program, GraphProgram& made) : program_(program), made_(made) {}

  uint32_t NewSpace();
  Region OfConstant(uint32_t constant);
  Region OfNumber(DType dtype, int64_t value);  // a weight of its own
  // The constant that lies there, or -1.
  int64_t ConstantIn(Region region) const { return spaces_[region.space].constant; }
  const Entry& At(EntryRef ref) const { return made_.graph.nodes[ref.node].outputs[ref.output]; }

  // A node for what is given from outside, in `space`.
  void AddInput(const std::string& name, DType dtype, const std::vector<int64_t>& dims,
                uint32_t space);
  // An entry in storage of its own.
  Entry NewEntry(DType dtype, std::vector<int64_t> dims, uint64_t offset);
  // The tensor of this type that lies there: what a node wrote, or a view of that, whose source is
  // `place`.
  Result<EntryRef> Read(Region region, DType dtype, const std::vector<int64_t>& dims,
                        const std::string& place);
  void Write(Region region, EntryRef ref);
  // At the end: entries that share storage have one number.
  void JoinStorages();

 private:
  struct Space {
    // What was written last, by its first byte: disjoint.
    std::map<uint64_t, EntryRef> written;
    int64_t constant = -1;  // index into the program's constants
  };

  void AddWeight(const ConstantInfo& weight, uint32_t space);
  uint32_t NewStorage();
  uint32_t StorageRoot(uint32_t s);
  Result<EntryRef> View(Region region, DType dtype, const std::vector<int64_t>& dims,
                        const std::vector<EntryRef>& parts, const std::string& place);

  const Program& program_;
  GraphProgram& made_;
  std::vector<Space> spaces_;
  std::vector<uint32_t> storages_;  // of each, one that it is a part of
  std::map<uint32_t, uint32_t> constant_space_;
  std::map<std::pair<DType, int64_t>, uint32_t> number_space_;
  std::map<std::tuple<uint64_t, DType, std::vector<int64_t>, std::vector<EntryRef>>, EntryRef>
      views_;
  std::set<std::string> names_;
};

}  // namespace relayvm::graph
