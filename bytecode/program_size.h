// How large the flatbuffer of a program can be: for the writer. Thread-safe. Tested by
// reader_test.cc.
#pragma once

#include <cstdint>
#include <string>

#include "bytecode/base/message.h"
#include "bytecode/program.h"
#include "bytecode/regions.h"

namespace relayvm {

// An upper bound of the flatbuffer's size. The builder only asserts its limit, so it must be known
// before.
class SizeBound {
 public:
  uint64_t bytes() const { return bytes_; }

  void AddProgram(const Program& program) {
    Table();
    Vector(program.code.size(), sizeof(uint16_t));
    for (const FunctionInfo& f : program.functions) {
      Table();
      String(f.name);
      Vector(f.slots.size(), sizeof(ArenaSlot));
      Vector(f.locations.size(), sizeof(SourceLocation));
    }
    for (const ExportInfo& e : program.exports) {
      Table();
      String(e.name);
      for (const std::string& name : e.param_names) Named(name);
      for (const ValueType& type : e.params) Type(type);
      Type(e.result);
      for (const std::string& name : e.output_names) Named(name);
      Vector(e.states.size(), sizeof(StateInfo));
    }
    for (const AdtInfo& adt : program.adts) {
      Named(adt.name);
      for (const ConstructorInfo& constructor : adt.constructors) {
        Named(constructor.name);
        for (const ValueType& type : constructor.fields) Type(type);
      }
    }
    for (const KernelInfo& k : program.kernels) {
      Named(k.name);
      Vector(k.entries.size(), sizeof(uint64_t));
      Vector(k.fixed.size(), sizeof(FixedScalar));
      Vector(k.units.size(), sizeof(SizeStep));
      Vector(k.scratch.size(), sizeof(SizeStep));
      for (const KernelBuffer& b : k.buffers) {
        Table();
        Vector(b.shape.size(), sizeof(SizeStep));
        Vector(b.may_share.size(), sizeof(uint16_t));
      }
      if (k.batched) {
        Vector(1, sizeof(uint32_t));
        Table();
        Vector(k.batched->shared.size(), sizeof(uint16_t));
        Vector(k.batched->scalars.size(), sizeof(uint16_t));
        Vector(k.batched->rows.size(), sizeof(SizeStep));
      }
    }
    for (const RegionInfo& r : program.regions) {
      Named(r.name);
      String(r.engine);
      String(r.json);
      Vector(r.constants.size(), sizeof(uint32_t));
    }
    for (const HostFunctionInfo& h : program.host_functions) {
      Named(h.name);
      for (const ValueType& param : h.params) Type(param);
      Type(h.result);
    }
    for (const TensorTypeInfo& t : program.tensor_types) {
      Table();
      Vector(t.dims.size(), sizeof(int64_t));
    }
    for (const ConstantInfo& c : program.constants) {
      Named(c.name);
      Vector(c.dims.size(), sizeof(int64_t));
      if (c.recipe == nullptr) continue;
      Named(c.recipe->builtin);
      Vector(c.recipe->params.size(), sizeof(int64_t));
      for (const RecipeInput& input : c.recipe->inputs) {
        Table();
        Vector(input.dims.size(), sizeof(int64_t));
      }
    }
    for (const std::string& s : program.messages) String(s);
    for (const std::string& s : program.source_files) String(s);
    for (const std::string& s : program.strings) String(s);
    for (const std::string& s : program.devices) String(s);
    for (const ImageInfo& image : program.images) Named(image.cpu_features);
  }
  void AddAlternative(const Program& program) {
    Named(FeaturesOf(program));
    String(Joined(EnginesOf(program), ","));
  }

 private:
  // The largest table with its vtable, its vectors' lengths, alignment, and the reference to it.
  void Table() { bytes_ += 160; }
  void String(const std::string& s) { bytes_ += s.size() + 16; }
  void Vector(uint64_t count, uint64_t element) { bytes_ += count * element + 16; }
  void Named(const std::string& name) {
    Table();
    String(name);
  }
  void Type(const ValueType& type) {
    Table();
    bytes_ += 40 * type.dims.size();
    for (const std::string& name : type.dim_names) String(name);
    for (const SizeFormula& formula : type.dim_formulas) Vector(formula.size(), sizeof(SizeStep));
    for (const ValueType& arg : type.args) Type(arg);
  }

  uint64_t bytes_ = 64;
};

}  // namespace relayvm
