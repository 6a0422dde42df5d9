#include "tools/lib/reference_executor.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <optional>

#include "bytecode/base/printable.h"
#include "compiler/lowering/value_type.h"
#include "compiler/reference/interpreter.h"
#include "tools/lib/value_trace.h"
#include "tools/values/tensor_file.h"
#include "vm/border/border.h"
#include "vm/border/optional_inputs.h"
#include "vm/border/signature_dims.h"

namespace relayvm::tools {
namespace {

class ReferenceExecutor : public Executor {
 public:
  ReferenceExecutor(ir::Module module, Program program, const reference::Options& options,
                    size_t trace_values)
      : module_(std::move(module)),
        program_(std::move(program)),
        options_(options),
        trace_values_(trace_values) {}

  const Program& program() const override { return program_; }
  RunCounts counts() const override { return {run_ns_, std::nullopt}; }

  Result<FlatValue> Run(const ExportInfo& function, const std::vector<Value>& given,
                        TypeTable& types) override {
    std::vector<Value> inputs = given;
    vm::CompleteInputs(program_, function, &inputs);
    RELAYVM_RETURN_IF_ERROR(
        vm::CheckInputs(program_, function, vm::SignatureDims(function.params, nullptr), inputs));
    StringTable strings(module_.strings.get());
    std::vector<reference::Value> args;
    for (size_t i = 0; i < inputs.size(); ++i) {
      RELAYVM_ASSIGN_OR_RETURN(
          reference::Value arg,
          FromValue(inputs[i], types, types.InternOf(function, function.params[i]), strings));
      args.push_back(std::move(arg));
    }
    std::optional<ValueTrace> trace;
    reference::Options options = options_;
    options.strings = &strings;
    if (trace_values_ > 0) {
      trace.emplace(*module_.sources, trace_values_,
                    [](std::string_view line) { fmt::print(stderr, "{}\n", Printable(line)); });
      options.observe = [&](const reference::ValueEvent& event) { return (*trace)(event); };
      trace_values_ = 0;
    }
    auto start = std::chrono::steady_clock::now();
    RELAYVM_ASSIGN_OR_RETURN(reference::Value result,
                             reference::Run(module_, function.name, std::move(args), options));
    run_ns_ = (std::chrono::steady_clock::now() - start).count();
    return ToFlat(result, strings);
  }

 private:
  // The values of an input, children before parents, without recursion.
  Result<reference::Value> FromValue(const Value& root, TypeTable& types, TypeTable::Id root_type,
                                     StringTable& strings) const {
    struct Frame {
      Value value;
      TypeTable::Id type;
      std::vector<reference::Value> fields;
    };
    std::vector<Frame> stack;
    stack.push_back({root, root_type, {}});
    while (true) {
      Frame& top = stack.back();
      reference::Value done;
      bool tuple = types.kind(top.type) == ValueType::Kind::kTuple;
      if (top.value.is_tensor()) {
        HostTensor tensor = ToHostTensor(top.value);
        if (tensor.dtype == DType::kString) {
          RELAYVM_ASSIGN_OR_RETURN(tensor, InternStrings(strings, tensor));
        }
        done = reference::MakeTensor(std::move(tensor));
      } else if (top.fields.size() < top.value.num_fields()) {
        size_t i = top.fields.size();
        const auto& types_of_fields =
            tuple ? types.args(top.type) : types.ConstructorFields(top.type, top.value.tag());
        Value field = top.value.field(i);
        stack.push_back({std::move(field), types_of_fields[i], {}});
        continue;
      } else {
        const ir::Constructor* constructor =
            tuple ? nullptr
                  : module_.types.at(types.adt(top.type).name).constructors[top.value.tag()];
        done = reference::Make(reference::Data{constructor, std::move(top.fields)});
      }
      stack.pop_back();
      if (stack.empty()) return done;
      stack.back().fields.push_back(std::move(done));
    }
  }

  static Result<FlatValue> ToFlat(const reference::Value& root, const StringTable& strings) {
    FlatValue out;
    std::vector<const reference::Object*> stack = {root.get()};
    while (!stack.empty()) {
      const reference::Object& o = *stack.back();
      stack.pop_back();
      if (out.size() + stack.size() >= kMaxFlatNodes) {
        return {
            StatusCode::kOutOfRange,
            fmt::format("the result has more than {} parts; it cannot be printed", kMaxFlatNodes)};
      }
      FlatNode node{FlatNode::Kind::kTensor};
      if (const auto* tensor = o.As<reference::Tensor>()) {
        HostTensor data = *tensor->data;
        if (data.dtype == DType::kString) {
          RELAYVM_ASSIGN_OR_RETURN(data, PackStrings(strings, data));
        }
        RELAYVM_ASSIGN_OR_RETURN(node.tensor, ToValue(data));
      } else if (const auto* data = o.As<reference::Data>()) {
        node.kind =
            data->constructor == nullptr ? FlatNode::Kind::kTuple : FlatNode::Kind::kConstructor;
        if (data->constructor != nullptr) node.name = data->constructor->name;
        node.num_children = static_cast<uint32_t>(data->fields.size());
        for (size_t i = data->fields.size(); i-- > 0;) stack.push_back(data->fields[i].get());
      } else if (const auto* closure = o.As<reference::Closure>()) {
        node.kind = FlatNode::Kind::kFunction;
        node.name =
            closure->function != nullptr ? closure->function->name : closure->constructor->name;
      } else {
        node.kind = FlatNode::Kind::kRef;
        node.num_children = 1;
        stack.push_back(o.As<reference::Reference>()->content.get());
      }
      out.push_back(std::move(node));
    }
    return out;
  }

  ir::Module module_;
  Program program_;  // the signature only
  reference::Options options_;
  size_t trace_values_;  // of the next run
  int64_t run_ns_ = 0;
};

}  // namespace

Result<std::unique_ptr<Executor>> MakeReferenceExecutor(ir::Module module, const RunFlags& flags,
                                                        size_t trace_values) {
  if (flags.memory_limit != SIZE_MAX || !flags.stack_limit_text.empty() || flags.profile ||
      flags.trace || !flags.trace_file.empty()) {
    return {StatusCode::kInvalidArgument,
            "--memory-limit, --stack-limit, --profile and --trace are not for the reference "
            "interpreter"};
  }
  Program program;
  RELAYVM_RETURN_IF_ERROR(
      lower::AddExport(module, *module.functions.at(module.entry), 0, {}, program));
  reference::Options options;
  options.timeout = flags.timeout();
  return std::unique_ptr<Executor>(
      new ReferenceExecutor(std::move(module), std::move(program), options, trace_values));
}

}  // namespace relayvm::tools
