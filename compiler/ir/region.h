// What functions are to other engines (BYOC): attributes by TVM's names, and a region as the
// lowering takes it.
//
//   fn (%x, %w) { nn.relu(nn.conv2d(%x, %w)) }            Composite="dnnl.conv2d_relu": a literal that
//                                                         is called where it stands: one node
//   def @tvmgen_default_dnnl_main_0(%x, ...) { ... }      Compiler="dnnl": a region, a function of the
//                                                         module
//
// LowerRegions (compiler/regions) makes a PrimitiveCall of each call of a region. Tested by
// compiler/regions/regions_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace relayvm::ir {

inline constexpr const char* kCompilerAttr = "Compiler";
inline constexpr const char* kCompositeAttr = "Composite";
inline constexpr const char* kGlobalSymbolAttr = "global_symbol";

// Empty where the attribute is not there, or no text.
std::string TextAttr(const Function& f, const char* name);

// A region that is ready to run. Its arguments are tensors: inputs, then constants. What it
// computes is the JSON's to say; the body is none (a Trap).
struct Region {
  std::string engine, name, json;
  uint32_t num_constants = 0;
  // Of the arguments, over symbols of its own.
  std::vector<std::vector<Dim>> argument_dims;
  // What the JSON's symbols are, over the same ones.
  std::vector<Dim> symbols;
};
// A function for a PrimitiveCall. `result`: over the same symbols as well.
const Function* MakeRegionFunction(const Module& m, const Region& region,
                                   const std::vector<Type>& params, const Type& result, Span span);
bool IsRegion(const Function& f);
// Nullopt: it is none.
std::optional<Region> RegionOf(const Function& f);
// The numbers of the JSON's symbols in a call with arguments of these types.
std::vector<Dim> SymbolsOfCall(const Region& region, const std::vector<TensorType>& args);
// The type of such a call.
Type ResultOfCall(const Function& region, const std::vector<TensorType>& args);

}  // namespace relayvm::ir
