// A torch.export archive (.pt2): the program as JSON, and the tensors that it names. All of its
// containers are read: configurations of raw tensors (2.7 and later), pickled dictionaries in one
// folder, and the plain zip of torch 2.1 to 2.6. Samples of inputs are never read. Not thread-safe.
// Tested by export_importer_test.cc.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "compiler/import/container/zip.h"
#include "compiler/import/torch/export_json.h"
#include "compiler/import/torch/tensors.h"

namespace relayvm::import::torch {

// TorchScript's number of one of torch.export's dtypes; -1: there is none.
int TorchOfExported(int64_t dtype);

class ExportArchive {
 public:
  // `model`: which of several (`--signature`); empty: the only one, or "model".
  static Result<ExportArchive> Open(const std::string& path, SharedBytes file,
                                    const std::string& model);

  const std::string& path() const { return path_; }
  const Json& program() const { return program_; }
  // A parameter, buffer or constant by the name that it has in the program. Those of one storage
  // share its bytes, and say so (TorchTensor::storage).
  Result<TorchTensor> Tensor(const std::string& name);

 private:
  explicit ExportArchive(Archive archive)
      : path_(archive.path()), archive_(std::make_unique<Archive>(std::move(archive))) {}
  Status CheckSamples() const;
  Status ReadModel(const std::string& model);
  Status ReadLegacy();
  Status ReadConfig(const std::string& entry, const std::string& folder);
  Status ReadPickled(const std::string& entry);
  Result<TorchTensor> FromConfig(const std::string& name, const Json& payload,
                                 const std::string& folder);

  struct Pickled {
    std::unique_ptr<Archive> archive;
    std::unique_ptr<Pickle> pickle;
    std::unique_ptr<TensorReader> reader;
    const PickleValue* dictionary = nullptr;
  };
  struct Configured {
    Json config;
    std::string folder;
  };

  std::string path_;
  std::unique_ptr<Archive> archive_;
  Json program_;
  std::vector<Configured> configs_;
  std::vector<Pickled> pickles_;
};

}  // namespace relayvm::import::torch
