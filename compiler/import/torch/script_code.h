// A TorchScript archive: its code, read file by file as it is called, the objects of data.pkl, the
// constants that the code names, and the user's own source lines (.debug_pkl). Nothing of it is
// executed. Not thread-safe. Tested by script_test.cc.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/container/pickle.h"
#include "compiler/import/container/zip.h"
#include "compiler/import/torch/script_syntax.h"
#include "compiler/import/torch/tensors.h"

namespace relayvm::import::torch {

// A file of code.
struct ScriptFile {
  std::string module;  // "__torch__.a.b"
  std::string entry;   // "code/__torch__/a/b.py"
  std::string text;
  SourceUnit unit;

  // Where bytes of `text` come from, in order of their offsets; read when it is first asked for.
  struct Origin {
    uint64_t offset;
    std::string place;  // "models.py:12"
  };
  mutable std::vector<Origin> origins;
  mutable bool origins_read = false;
};

class ScriptCode {
 public:
  // Errors name the file and the entry.
  static Result<std::unique_ptr<ScriptCode>> Open(const std::string& path, SharedBytes file);

  const std::string& path() const { return archive_.path(); }
  // Of the file format: what operators mean that were changed since (the upgraders).
  int64_t version() const { return version_; }
  const PickleValue& root() const { return data_->root(); }
  // CONSTANTS.c3; null: there is none.
  const PickleValue* Constant(std::string_view name) const;
  // REQUIRES: IsTensor(v).
  Result<TorchTensor> ReadTensor(const PickleValue& v, std::string_view name);

  // What a name of the code stands for: the class or the function that the longest part of it is.
  struct Found {
    const ScriptFile* file = nullptr;
    const ClassDef* type = nullptr;
    const FunctionDef* function = nullptr;  // where `type` is null
    std::string_view rest;                  // behind it: "RED"
  };
  // Nullopt: nothing of the archive; an error where its file is damaged.
  Result<std::optional<Found>> Find(std::string_view name);

  // "models.py:12" of the user's sources, where the file has them, else "code/__torch__/m.py:3".
  std::string PlaceOf(const ScriptFile& file, uint32_t offset) const;

 private:
  explicit ScriptCode(Archive archive);
  Status ReadVersion();
  Status CheckRoot() const;
  Result<const ScriptFile*> FileOf(const std::string& module);
  void ReadOrigins(const ScriptFile& file) const;

  Archive archive_;
  int64_t version_ = 0;
  std::optional<Pickle> data_, constants_;
  std::optional<TensorReader> data_tensors_, constant_tensors_;
  std::map<const PickleValue*, bool> is_constant_;
  std::map<std::string, std::unique_ptr<ScriptFile>, std::less<>> files_;  // by module; null: none
};

}  // namespace relayvm::import::torch
