#include "kernels/runtime/operator_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <set>
#include <string_view>

#include "bytecode/base/guarded.h"

namespace relayvm {
namespace {

// What is called with more is likely damaged.
constexpr uint32_t kMostTensors = 64, kMostAttributes = 64, kMostOperators = 10'000;

bool IsName(const char* name, bool dotted) {
  if (name == nullptr || *name == '\0' || (*name >= '0' && *name <= '9')) return false;
  for (const char* c = name; *c != '\0'; ++c) {
    const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
    const bool inside = (*c >= '0' && *c <= '9') ||
                        (dotted && *c == '.' && c != name && c[1] != '\0' && c[1] != '.');
    if (!letter && !inside) return false;
  }
  return true;
}

// Empty when the operator can be used.
std::string Problem(const RelayvmOperator& op) {
  if (!IsName(op.name, true)) return "its name is none: expected letters, digits, _ and .";
  const std::string who = fmt::format("{}: ", op.name);
  if (op.num_inputs > kMostTensors || op.num_outputs == 0 || op.num_outputs > kMostTensors) {
    return who + fmt::format("expected up to {0} inputs and 1 to {0} outputs, found {1} and {2}",
                             kMostTensors, op.num_inputs, op.num_outputs);
  }
  if (op.infer == nullptr || op.kernel == nullptr) return who + "it has no infer or no kernel";
  if ((op.onnx_domain == nullptr) != (op.onnx_name == nullptr))
    return who + "expected both onnx_domain and onnx_name, or none";
  if (op.num_attributes > kMostAttributes || (op.num_attributes > 0 && op.attributes == nullptr))
    return who + fmt::format("{} attributes, or none are there", op.num_attributes);
  std::set<std::string_view> names;
  for (uint32_t i = 0; i < op.num_attributes; ++i) {
    const RelayvmAttribute& a = op.attributes[i];
    if (!IsName(a.name, false)) return who + fmt::format("attribute {} has no name", i);
    if (!names.insert(a.name).second) return who + fmt::format("two attributes {}", a.name);
    if (a.kind < RELAYVM_ATTRIBUTE_INT || a.kind > RELAYVM_ATTRIBUTE_INTS)
      return who + fmt::format("attribute {} is of unknown kind {}", a.name, a.kind);
  }
  return "";
}

}  // namespace

std::vector<Builtin> OperatorLibrary::kernels() const {
  std::vector<Builtin> kernels;
  for (const RelayvmOperator& op : operators_) {
    Builtin& kernel = kernels.emplace_back();
    kernel.name = op.name;
    kernel.fn = op.kernel;
    kernel.num_tensors = static_cast<int>(op.num_inputs + op.num_outputs);
    kernel.num_inputs = static_cast<int>(op.num_inputs);
    kernel.num_params = static_cast<int>(op.num_attributes);
  }
  return kernels;
}

Result<OperatorLibrary> LoadOperatorLibrary(const std::string& path) {
  return Guarded([&] { return OperatorLibrary::Load(path); });
}

Result<OperatorLibrary> OperatorLibrary::Load(const std::string& path) {
  const auto bad = [&](const std::string& what) {
    return Status(StatusCode::kInvalidInput, fmt::format("{}: {}", path, what));
  };
  struct stat file;
  const bool is_here = path.find('/') == std::string::npos && ::stat(path.c_str(), &file) == 0;
  void* library = ::dlopen((is_here ? "./" + path : path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return bad(fmt::format("cannot load operators: {}", why == nullptr ? "?" : why));
  }
  void* entry = ::dlsym(library, "relayvm_operator_plugin");
  if (entry == nullptr)
    return bad("not a library of operators: it has no function relayvm_operator_plugin");
  const RelayvmOperatorPlugin* plugin = reinterpret_cast<RelayvmOperatorPluginFn>(entry)();
  if (plugin == nullptr) return bad("relayvm_operator_plugin gives NULL");
  if (plugin->abi != RELAYVM_OPERATOR_ABI || plugin->operator_size != sizeof(RelayvmOperator)) {
    return bad(fmt::format(
        "built for another relayvm: expected ABI {} with operators of {} bytes, found {} and {}",
        RELAYVM_OPERATOR_ABI, sizeof(RelayvmOperator), plugin->abi, plugin->operator_size));
  }
  if (plugin->num_operators == 0 || plugin->num_operators > kMostOperators ||
      plugin->operators == nullptr) {
    return bad(fmt::format("{} operators, or none are there", plugin->num_operators));
  }
  const std::span<const RelayvmOperator> operators(plugin->operators, plugin->num_operators);
  std::set<std::string_view> names;
  for (size_t i = 0; i < operators.size(); ++i) {
    const std::string problem = Problem(operators[i]);
    if (!problem.empty()) return bad(fmt::format("operator {}: {}", i, problem));
    if (!names.insert(operators[i].name).second)
      return bad(fmt::format("two operators {}", operators[i].name));
  }
  return OperatorLibrary(operators);
}

}  // namespace relayvm
