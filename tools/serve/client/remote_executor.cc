#include "tools/serve/client/remote_executor.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "tools/cli/option_forms.h"
#include "tools/serve/client/remote_model.h"
#include "tools/serve/protocol/token.h"

namespace relayvm::serve {
namespace {

using tools::FlatValue;

ValueType TypeOf(const TensorSpec& spec) {
  ValueType type;
  type.dtype = spec.dtype.value_or(DType::kFloat32);
  type.dims = spec.dims;
  type.dim_names.resize(spec.dims.size());
  return type;
}

class RemoteExecutor : public tools::Executor {
 public:
  RemoteExecutor(std::unique_ptr<RemoteModel> model, const tools::RunFlags& flags)
      : model_(std::move(model)), timeout_(flags.timeout()) {
    program_.exports.push_back(ExportOf(*model_, flags.function));
  }

  const Program& program() const override { return program_; }

  Result<FlatValue> Run(const ExportInfo& function, const std::vector<Value>& inputs,
                        tools::TypeTable& types) override {
    std::vector<InferTensor> named;
    for (size_t i = 0; i < inputs.size(); ++i)
      named.push_back({function.param_names[i], inputs[i]});
    const auto start = std::chrono::steady_clock::now();
    auto outputs = model_->Infer(std::move(named), timeout_);
    run_ns_ = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
    if (!outputs.ok()) return outputs.status();
    const Value result =
        outputs->size() == 1 ? outputs->front() : Value::Tuple(*std::move(outputs));
    return tools::Flatten(result, types, types.InternOf(function, function.result));
  }

  tools::RunCounts counts() const override { return {run_ns_, std::nullopt}; }

 private:
  std::unique_ptr<RemoteModel> model_;
  std::chrono::nanoseconds timeout_;
  Program program_;
  int64_t run_ns_ = 0;
};

}  // namespace

ExportInfo ExportOf(const RemoteModel& model, std::string name) {
  ExportInfo function;
  function.name = std::move(name);
  for (const TensorSpec& input : model.inputs()) {
    function.param_names.push_back(input.name);
    function.params.push_back(TypeOf(input));
  }
  if (model.outputs().size() == 1) {
    function.result = TypeOf(model.outputs().front());
  } else {
    function.result.kind = ValueType::Kind::kTuple;
  }
  for (const TensorSpec& output : model.outputs()) {
    // As the runtime calls those without a name, which here go by their place.
    const bool is_named = output.name != fmt::format("output_{}", function.output_names.size());
    function.output_names.push_back(is_named ? output.name : "");
    if (model.outputs().size() > 1) function.result.args.push_back(TypeOf(output));
  }
  return function;
}

void ServerFlags::AddTo(CLI::App& app) {
  app.add_option("--server", server,
                 "run on a server of the Open Inference Protocol (vmserve): http://HOST:PORT or "
                 "https://; MODEL is a name there, or NAME/VERSION");
  app.add_option("--server-token-file", token_file,
                 "of --server: a file with the token that it asks for");
  app.add_option("--server-ca", authorities_file,
                 "of --server: the authorities that may have signed its certificate, PEM (default: "
                 "the system's)");
  constexpr const char* kServer = "A server";
  constexpr tools::OptionForm kForms[] = {{"--server", kServer, "URL"},
                                          {"--server-token-file", kServer, "FILE"},
                                          {"--server-ca", kServer, "FILE"}};
  tools::ShowOptions(app, kForms);
}

Status ServerFlags::Check(const CLI::App& app) const {
  const auto invalid = [](std::string text) {
    return Status(StatusCode::kInvalidArgument, std::move(text));
  };
  if (!is_given()) {
    if (token_file.empty() && authorities_file.empty()) return OkStatus();
    return invalid("--server-token-file and --server-ca are of --server");
  }
  for (const char* name :
       {"--function", "--state", "--threads", "--profile", "--profile-file", "--profile-interval",
        "--trace", "--trace-file", "--memory-limit", "--stack-limit", "--verify", "--clear-memory",
        "--target", "--plugin", "--engine", "--no-byoc"}) {
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option != nullptr && option->count() > 0)
      return invalid(fmt::format("{} is of runs here: a server has its own", name));
  }
  return ServerUrl::Parse(server).status();
}

Result<HttpClientOptions> ServerFlags::MakeOptions() const {
  HttpClientOptions options;
  RELAYVM_ASSIGN_OR_RETURN(options.url, ServerUrl::Parse(server));
  if (!token_file.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(options.token, ReadToken(token_file));
  }
  if (options.url.is_tls) {
    RELAYVM_ASSIGN_OR_RETURN(options.tls, TlsContext::ForClient(authorities_file));
  }
  return options;
}

Result<std::unique_ptr<tools::Executor>> MakeRemoteExecutor(const ServerFlags& server,
                                                            const std::string& model,
                                                            const tools::RunFlags& flags) {
  RELAYVM_ASSIGN_OR_RETURN(HttpClientOptions options, server.MakeOptions());
  RELAYVM_ASSIGN_OR_RETURN(auto remote, RemoteModel::Connect(std::move(options), model));
  return std::unique_ptr<tools::Executor>(new RemoteExecutor(std::move(remote), flags));
}

}  // namespace relayvm::serve
