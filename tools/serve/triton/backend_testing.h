// For tests: a model in a folder as Triton's repositories have it, loaded by the backend.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tools/serve/triton/fake_host.h"
#include "tools/shell.h"

namespace relayvm::triton {

using Json = nlohmann::json;

// Checks at its end that nothing is left of what the backend made.
class Served {
 public:
  Served() { std::filesystem::create_directory(shell / "1"); }
  explicit Served(const std::string& text) : Served() { Compile(text); }
  ~Served() {
    for (auto& instance : instances_) CHECK(Taken(backend().instance_finalize(&*instance)).empty());
    if (model.state != nullptr) CHECK(Taken(backend().model_finalize(&model)).empty());
    for (auto& instance : instances_) CHECK(instance->statistics.bad_times == 0);
    CHECK(HostWorld::Get().errors == 0);
    CHECK(HostWorld::Get().messages == 0);
    CHECK(HostWorld::Get().responses == 0);
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  void Compile(const std::string& text, const std::string& options = "") const {
    shell.Write("m.relay", "#[version = \"0.0.5\"]\n" + text);
    const tools::Outcome outcome = shell.Run("relayc -q m.relay -o 1/model.vmx " + options);
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  }
  // "", or why the model or its instances do not load.
  std::string Load(size_t num_instances = 1,
                   TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_CPU) {
    model.name = "m";
    model.repository = shell / "";
    REQUIRE(Taken(backend().initialize(nullptr)).empty());
    std::string message = Taken(backend().model_initialize(&model));
    for (size_t i = 0; i < num_instances && message.empty(); ++i) {
      auto instance = std::make_unique<TRITONBACKEND_ModelInstance>(&model, kind);
      message = Taken(backend().instance_initialize(&*instance));
      if (message.empty()) instances_.push_back(std::move(instance));
    }
    return message;
  }
  // Each has `answers` responses then, and is released.
  void Execute(std::vector<TRITONBACKEND_Request*> requests, size_t instance = 0,
               size_t answers = 1) {
    TRITONSERVER_Error* const error =
        backend().execute(&*instances_[instance], requests.data(), requests.size());
    CHECK(Taken(error).empty());
    for (const TRITONBACKEND_Request* request : requests) {
      CHECK(request->answers.size() == answers);
      CHECK(request->releases == 1);
    }
  }
  const LoadedBackend& backend() const {
    static const LoadedBackend backend(TRITON_BACKEND);
    return backend;
  }
  TRITONBACKEND_ModelInstance& instance(size_t i = 0) { return *instances_[i]; }

  tools::Shell shell;
  TRITONBACKEND_Model model;

 private:
  std::vector<std::unique_ptr<TRITONBACKEND_ModelInstance>> instances_;
};

inline TRITONBACKEND_Input Floats(const std::string& name, std::vector<int64_t> dims,
                                  const std::vector<float>& elements) {
  return {{name, TRITONSERVER_TYPE_FP32, std::move(dims), {BytesOf(elements)}}};
}

inline const HostTensor& OutputOf(const TRITONBACKEND_Request& request, size_t output = 0) {
  REQUIRE(request.answers.size() == 1);
  REQUIRE_MESSAGE(!request.answers[0].code.has_value(), request.answers[0].message);
  REQUIRE(request.answers[0].outputs.size() > output);
  return request.answers[0].outputs[output];
}

// The message of the request that failed.
inline std::string ErrorOf(const TRITONBACKEND_Request& request) {
  REQUIRE(request.answers.size() == 1);
  REQUIRE(request.answers[0].code.has_value());
  return request.answers[0].message;
}

}  // namespace relayvm::triton
