// What a caller says of inputs (--shape NAME=TEXT), as types: formats without shapes (TorchScript,
// MXNet) take them from here, others let them fix or open what the file declares.
//
//   x=1x3x?x?                     dims; the dtype is the file's, or float32
//   x=(n, 3, ?, w):float32        with names, each one size wherever it stands, and a dtype
//   x=Tensor[(n, 3), int64]       the same as a type
//   xs=List[Tensor[(?, 3), float32]], p=(Tensor[(n), float32], None), o=Optional[...]
//   0=...                         by position, where no input has that name
//
// Not thread-safe. Tested by input_types_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "compiler/import/import_options.h"
#include "compiler/ir/ir.h"

namespace relayvm::import {

class InputTypes {
 public:
  // `module` gives symbols their numbers. Both outlive this.
  InputTypes(const ir::Module& module, const ImportOptions& options)
      : module_(module), options_(options) {}

  // The type of an input, named or, from 0, by its position. `declared` is what the file says of
  // it, null: nothing, and then nothing said either gives a null type. Dims that stay open are
  // symbols of their own; in `declared` Any is what is open. kInvalidArgument where the text is no
  // type, or contradicts what is declared.
  Result<ir::Type> Of(std::string_view name, size_t position, ir::Type declared = nullptr);
  // Whether anything is said of it.
  bool IsSaid(std::string_view name, size_t position) const;
  // The dim that is called so: a number where --dim gives one. One symbol for each name.
  Dim DimNamed(const std::string& name);
  // An error for what is said of inputs, or of names of dims, that there are not. Call it last.
  Status CheckUsed() const;

 private:
  struct Said {
    const std::string* name = nullptr;
    const std::string* text = nullptr;
  };
  Said Find(std::string_view name, size_t position) const;
  // `declared` with each Any a symbol.
  ir::Type Opened(const ir::Type& type);
  Result<ir::Type> Merge(const ir::Type& declared, const ir::Type& said);

  const ir::Module& module_;
  const ImportOptions& options_;
  std::map<std::string, Dim> dims_;
  std::set<std::string> inputs_, used_;  // names of inputs that were asked for; of texts
};

}  // namespace relayvm::import
