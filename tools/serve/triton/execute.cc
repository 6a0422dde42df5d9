#include "tools/serve/triton/execute.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "tools/serve/triton/tensors.h"
#include "tools/serve/triton/triton_error.h"

// Younger than the rest of the interface: without them nothing is cancelled, and nothing has a
// deadline.
extern "C" {
#pragma weak TRITONBACKEND_RequestIsCancelled
#pragma weak TRITONBACKEND_InferenceRequestTimeoutMicroseconds
}

namespace relayvm::triton {
namespace {

uint64_t Now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

struct Times {
  uint64_t exec_begin = 0, compute_begin = 0, compute_end = 0;
};

struct Pending {
  TRITONBACKEND_Request* request = nullptr;
  bool is_answered = false;
  // In the function's order; none for one that is left out.
  std::vector<std::optional<InputTensor>> inputs;
  std::vector<std::string> outputs;  // that are wanted
  int64_t rows = 1;
  uint64_t timeout_us = 0;  // 0: none
};

Status ReadInputs(const FunctionSignature& function, Pending* pending) {
  pending->inputs.resize(function.inputs.size());
  uint32_t count = 0;
  RELAYVM_TRITON_CALL(TRITONBACKEND_RequestInputCount, pending->request, &count);
  for (uint32_t i = 0; i < count; ++i) {
    TRITONBACKEND_Input* input = nullptr;
    RELAYVM_TRITON_CALL(TRITONBACKEND_RequestInputByIndex, pending->request, i, &input);
    RELAYVM_ASSIGN_OR_RETURN(InputTensor tensor, ReadInput(input));
    const auto it = std::ranges::find(function.inputs, tensor.name, &NamedType::name);
    if (it == function.inputs.end()) {
      return Status(StatusCode::kInvalidArgument, fmt::format("there is no input {}", tensor.name));
    }
    if (it->type.dtype != tensor.dtype) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("input {}: expected {}, found {}", tensor.name,
                                TypeName(TypeOf(it->type.dtype)), TypeName(TypeOf(tensor.dtype))));
    }
    pending->inputs[static_cast<size_t>(it - function.inputs.begin())] = std::move(tensor);
  }
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    if (pending->inputs[i].has_value() || function.inputs[i].is_optional) continue;
    return {StatusCode::kInvalidArgument,
            fmt::format("input {} is missing", function.inputs[i].name)};
  }
  return OkStatus();
}

Status ReadOutputs(const FunctionSignature& function, Pending* pending) {
  uint32_t count = 0;
  RELAYVM_TRITON_CALL(TRITONBACKEND_RequestOutputCount, pending->request, &count);
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    RELAYVM_TRITON_CALL(TRITONBACKEND_RequestOutputName, pending->request, i, &name);
    if (std::ranges::find(function.outputs, name, &NamedType::name) == function.outputs.end())
      return {StatusCode::kInvalidArgument, fmt::format("there is no output {}", name)};
    pending->outputs.emplace_back(name);
  }
  if (count == 0) {
    for (const NamedType& output : function.outputs) pending->outputs.push_back(output.name);
  }
  return OkStatus();
}

// Of a batched model: the first dim, which all inputs must have.
Status ReadRows(Pending* pending) {
  bool first = true;
  for (const std::optional<InputTensor>& input : pending->inputs) {
    if (!input.has_value()) continue;
    if (input->dims.empty())
      return {StatusCode::kInvalidArgument, fmt::format("input {} has no rows", input->name)};
    if (!first && input->dims[0] != pending->rows) {
      return {StatusCode::kInvalidArgument,
              fmt::format("input {}: expected {} rows, as the inputs before it have, found {}",
                          input->name, pending->rows, input->dims[0])};
    }
    pending->rows = input->dims[0];
    first = false;
  }
  return OkStatus();
}

Status Read(const ServedModel& model, Pending* pending) {
  if (TRITONBACKEND_RequestIsCancelled != nullptr) {
    bool is_cancelled = false;
    RELAYVM_TRITON_CALL(TRITONBACKEND_RequestIsCancelled, pending->request, &is_cancelled);
    if (is_cancelled) return {StatusCode::kCancelled, "the request was cancelled"};
  }
  if (TRITONBACKEND_InferenceRequestTimeoutMicroseconds != nullptr) {
    RELAYVM_TRITON_CALL(TRITONBACKEND_InferenceRequestTimeoutMicroseconds, pending->request,
                        &pending->timeout_us);
  }
  RELAYVM_RETURN_IF_ERROR(ReadInputs(model.function(), pending));
  RELAYVM_RETURN_IF_ERROR(ReadOutputs(model.function(), pending));
  return model.options().max_batch_size > 0 ? ReadRows(pending) : OkStatus();
}

// Whether the rows of both can stand one below the other.
bool Fits(const Pending& a, const Pending& b) {
  if (a.timeout_us != b.timeout_us) return false;
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    if (a.inputs[i].has_value() != b.inputs[i].has_value()) return false;
    if (!a.inputs[i].has_value()) continue;
    if (!std::ranges::equal(a.inputs[i]->dims.subspan(1), b.inputs[i]->dims.subspan(1)))
      return false;
  }
  return true;
}

using Group = std::vector<Pending*>;

std::vector<Group> MakeGroups(std::span<Pending> pending, int64_t max_rows) {
  std::vector<Group> groups;
  std::vector<int64_t> rows;
  for (Pending& p : pending) {
    if (p.is_answered) continue;
    size_t at = 0;
    while (at < groups.size() &&
           !(max_rows > 0 && p.rows <= max_rows - rows[at] && Fits(*groups[at].front(), p))) {
      ++at;
    }
    if (at == groups.size()) {
      groups.emplace_back();
      rows.push_back(0);
    }
    groups[at].push_back(&p);
    rows[at] += p.rows;
  }
  return groups;
}

int64_t RowsOf(const Group& group) {
  int64_t rows = 0;
  for (const Pending* pending : group) rows += pending->rows;
  return rows;
}

Result<Value> Run(ServedInstance* served, const Group& group, Times* times) {
  std::vector<Value> inputs;
  for (size_t i = 0; i < group.front()->inputs.size(); ++i) {
    std::vector<const InputTensor*> parts;
    for (const Pending* pending : group) {
      if (pending->inputs[i].has_value()) parts.push_back(&*pending->inputs[i]);
    }
    if (parts.empty()) {
      inputs.emplace_back();
      continue;
    }
    RELAYVM_ASSIGN_OR_RETURN(Value joined, JoinRows(parts, RowsOf(group)));
    inputs.push_back(std::move(joined));
  }
  constexpr uint64_t kLongest = INT64_MAX / 1000;
  const uint64_t timeout_us = std::min(group.front()->timeout_us, kLongest);
  served->invocation->set_timeout(std::chrono::microseconds(timeout_us));
  times->compute_begin = Now();
  Result<Value> result =
      served->invocation->Run(served->model->options().function, std::move(inputs));
  times->compute_end = Now();
  return result;
}

// Counted and given back to the server.
void Finish(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request, bool success,
            const Times& times) {
  Status status = FromError(
      TRITONBACKEND_ModelInstanceReportStatistics(instance, request, success, times.exec_begin,
                                                  times.compute_begin, times.compute_end, Now()),
      "TRITONBACKEND_ModelInstanceReportStatistics");
  if (!status.ok()) Log(TRITONSERVER_LOG_ERROR, status.message());
  status = FromError(TRITONBACKEND_RequestRelease(request, TRITONSERVER_REQUEST_RELEASE_ALL),
                     "TRITONBACKEND_RequestRelease");
  if (!status.ok()) Log(TRITONSERVER_LOG_ERROR, status.message());
}

// Its one response: what `write` puts there, or the failure.
template <typename Write>
void Respond(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request, Status status,
             const Times& times, const Write& write) {
  TRITONBACKEND_Response* response = nullptr;
  Status made =
      FromError(TRITONBACKEND_ResponseNew(&response, request), "TRITONBACKEND_ResponseNew");
  if (!made.ok()) {
    Log(TRITONSERVER_LOG_ERROR, made.message());
    Finish(instance, request, false, times);
    return;
  }
  if (status.ok()) status = write(response);
  TRITONSERVER_Error* const error = ToError(status);
  made =
      FromError(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error),
                "TRITONBACKEND_ResponseSend");
  if (error != nullptr) TRITONSERVER_ErrorDelete(error);
  if (!made.ok()) Log(TRITONSERVER_LOG_ERROR, made.message());
  Finish(instance, request, status.ok() && made.ok(), times);
}

void Refuse(TRITONBACKEND_ModelInstance* instance, Pending* pending, const Status& status,
            const Times& times) {
  pending->is_answered = true;
  Respond(instance, pending->request, status, times,
          [](TRITONBACKEND_Response*) { return OkStatus(); });
}

// The outputs of a result that some request wants; kInternal where a batch has other rows.
Result<std::vector<Value>> OutputsOf(const FunctionSignature& function, const Value& result,
                                     const Group& group) {
  std::vector<Value> outputs;
  const int64_t rows = RowsOf(group);
  for (const NamedType& output : function.outputs) {
    RELAYVM_ASSIGN_OR_RETURN(Value value, function.FindOutput(result, output.name));
    if (group.size() > 1 && (value.dims().empty() || value.dims()[0] != rows)) {
      return Status(StatusCode::kInternal,
                    fmt::format("output {}: expected {} rows, its dims are [{}]", output.name, rows,
                                fmt::join(value.dims(), ", ")));
    }
    outputs.push_back(std::move(value));
  }
  return outputs;
}

Status WriteOutputs(const FunctionSignature& function, const Pending& pending,
                    const std::vector<Value>& outputs, int64_t begin, bool is_part,
                    TRITONBACKEND_Response* response) {
  for (const std::string& name : pending.outputs) {
    const auto it = std::ranges::find(function.outputs, name, &NamedType::name);
    const auto at = static_cast<size_t>(it - function.outputs.begin());
    RELAYVM_RETURN_IF_ERROR(
        WriteOutput(response, name, {outputs[at], begin, is_part ? pending.rows : -1}));
  }
  return OkStatus();
}

void ReportRun(TRITONBACKEND_ModelInstance* instance, int64_t rows, const Times& times) {
  const Status status =
      FromError(TRITONBACKEND_ModelInstanceReportBatchStatistics(
                    instance, static_cast<uint64_t>(std::max<int64_t>(rows, 1)), times.exec_begin,
                    times.compute_begin, times.compute_end, Now()),
                "TRITONBACKEND_ModelInstanceReportBatchStatistics");
  if (!status.ok()) Log(TRITONSERVER_LOG_ERROR, status.message());
}

bool IsOver(const Status& status) {
  return status.code() == StatusCode::kDeadlineExceeded || status.code() == StatusCode::kCancelled;
}

// Answers all of the group.
void RunGroup(TRITONBACKEND_ModelInstance* instance, ServedInstance* served, const Group& group,
              Times times) {
  const FunctionSignature& function = served->model->function();
  const Result<Value> result = Run(served, group, &times);
  Result<std::vector<Value>> outputs = result.ok() ? OutputsOf(function, *result, group)
                                                   : Result<std::vector<Value>>(result.status());
  if (!outputs.ok() && group.size() > 1 && !IsOver(outputs.status())) {
    for (Pending* pending : group) RunGroup(instance, served, {pending}, times);
    return;
  }
  if (outputs.ok()) ReportRun(instance, RowsOf(group), times);
  int64_t begin = 0;
  for (Pending* pending : group) {
    pending->is_answered = true;
    Respond(instance, pending->request, outputs.status(), times,
            [&](TRITONBACKEND_Response* response) {
              return WriteOutputs(function, *pending, *outputs, begin, group.size() > 1, response);
            });
    begin += pending->rows;
  }
}

void AnswerAll(TRITONBACKEND_ModelInstance* instance, ServedInstance* served,
               std::span<Pending> pending, const Times& times) {
  for (Pending& p : pending) {
    const Status status = Read(*served->model, &p);
    if (!status.ok()) Refuse(instance, &p, status, times);
  }
  for (const Group& group : MakeGroups(pending, served->model->options().max_batch_size))
    RunGroup(instance, served, group, times);
}

}  // namespace

void Execute(TRITONBACKEND_ModelInstance* instance, ServedInstance* served,
             std::span<TRITONBACKEND_Request*> requests) {
  Times times;
  times.exec_begin = times.compute_begin = times.compute_end = Now();
  std::vector<Pending> pending(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) pending[i].request = requests[i];
  try {
    AnswerAll(instance, served, pending, times);
  } catch (const std::exception&) {  // no memory: what was answered is the server's again
    for (Pending& p : pending) {
      if (!p.is_answered) Refuse(instance, &p, Status::OutOfMemory(), times);
    }
  }
}

}  // namespace relayvm::triton
