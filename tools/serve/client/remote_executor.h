// vmrun --server: a model of a server as what runs a program here. Tested by
// ../tests/run_client.py.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "bytecode/program.h"
#include "tools/serve/client/http_client.h"
#include "tools/serve/client/remote_model.h"
#include "tools/values/run.h"

namespace relayvm::serve {

struct ServerFlags {
  std::string server, token_file, authorities_file;

  void AddTo(CLI::App& app);
  bool is_given() const { return !server.empty(); }
  // kInvalidArgument for a URL that is none, and for an option that is of local runs alone.
  Status Check(const CLI::App& app) const;
  Result<HttpClientOptions> MakeOptions() const;
};

// What the model's metadata says of it, as a function of a program of nothing else.
ExportInfo ExportOf(const RemoteModel& model, std::string name);

// Outputs of a model are the result: one is a tensor, several are a tuple.
Result<std::unique_ptr<tools::Executor>> MakeRemoteExecutor(const ServerFlags& server,
                                                            const std::string& model,
                                                            const tools::RunFlags& flags);

}  // namespace relayvm::serve
