#include "compiler/frontend/params.h"

#include <fmt/format.h>

#include <cctype>
#include <optional>

#include "bytecode/base/file_kind.h"
#include "bytecode/base/file_mapping.h"
#include "bytecode/io/npz.h"
#include "bytecode/io/tvm_params.h"
#include "bytecode/io/zip_reader.h"
#include "compiler/frontend/names.h"
#include "compiler/ir/large_stack.h"
#include "compiler/ir/substitute.h"
#include "compiler/ir/walk.h"

namespace relayvm::frontend {
namespace {

bool IsNumberedVariant(std::string_view name, std::string_view base) {
  return name.size() > base.size() && name.substr(0, base.size()) == base &&
         name.find_first_not_of("0123456789", base.size()) == std::string_view::npos;
}

// As TVM prints a variable's name.
std::string PrintedName(const std::string& name) {
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) ? name : "v" + name;
}

bool Fits(const HostTensor& t, const ir::Type& type) {
  if (type == nullptr || type->As<ir::InferVar>() != nullptr) return true;
  auto* tensor = type->As<TensorType>();
  if (tensor == nullptr || tensor->dtype != t.dtype || tensor->shape.size() != t.shape.size())
    return false;
  for (size_t i = 0; i < t.shape.size(); ++i) {
    if (tensor->shape[i].is_const() && tensor->shape[i].value() != t.shape[i]) return false;
  }
  return true;
}

bool IsCalled(const ir::Block& b, const std::string& function) {
  bool found = false;
  ir::ForEachGlobal(
      b, [&](const ir::GlobalVar& g, const ir::CallExpr*) { found = found || g.name == function; });
  return found;
}

// The parameter that `name` means; null if there is none, or more than one is as likely.
const ir::Var* FindParam(const ir::Function& f, const std::string& name, const Params& params) {
  const std::string printed = PrintedName(name);
  for (const std::string& wanted : {name, printed}) {
    for (const ir::Var* p : f.params) {
      if (p->name == wanted) return p;
    }
  }
  const ir::Var* found = nullptr;
  for (const ir::Var* p : f.params) {
    if (!IsNumberedVariant(p->name, printed) || params.contains(p->name)) continue;
    if (found != nullptr) return nullptr;
    found = p;
  }
  return found;
}

}  // namespace

Result<Params> ReadParams(const std::string& path) {
  RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<const FileMapping> file, FileMapping::Open(path));
  return ReadParams(path, SharedBytes::OfFile(std::move(file)));
}

Result<Params> ReadParams(const std::string& path, const SharedBytes& bytes) {
  if (ZipReader::IsZip(bytes)) {
    RELAYVM_ASSIGN_OR_RETURN(NamedTensors tensors, ParseNpz(path, bytes));
    return Params(std::make_move_iterator(tensors.begin()), std::make_move_iterator(tensors.end()));
  }
  if (!IsTvmParams(bytes)) {
    return Status(
        StatusCode::kInvalidInput,
        fmt::format("{}: expected a TVM parameter file or an .npz archive, found {}", path,
                    DescribeFile({reinterpret_cast<const char*>(bytes.data()), bytes.size()})));
  }
  auto params = ParseTvmParams(bytes);
  if (!params.ok()) return params.status().WithContext(path);
  return params;
}

// Says what the function has: a file of other weights is told by it.
static Status NoParameter(const std::string& name, const ir::Function& main,
                          const std::string& entry) {
  constexpr size_t kMost = 12;
  Suggestion suggestion(name);
  for (const ir::Var* p : main.params) suggestion.Consider(p->name);
  const std::string suggested = suggestion.Text("%");
  std::string there;
  for (size_t i = 0; i < main.params.size() && i < kMost; ++i) {
    there += fmt::format("{}%{}", i == 0 ? "" : ", ", main.params[i]->name);
  }
  if (main.params.size() > kMost) there += fmt::format(" ... ({} in all)", main.params.size());
  return {StatusCode::kInvalidInput,
          fmt::format("parameter \"{}\" matches no parameter of @{}{} it has {}", name, entry,
                      suggested.empty() ? ";" : suggested, there.empty() ? "none" : there)};
}

static Result<ir::Module> Bind(const ir::Module& m, const Params& params) {
  auto entry = m.functions.find(m.entry);
  if (entry == m.functions.end())
    return Status(StatusCode::kNotFound,
                  fmt::format("no function @{} to bind parameters to", m.entry));
  const ir::Function& main = *entry->second;
  ir::AtomMap constants;
  for (const auto& [name, given] : params) {
    const ir::Var* param = FindParam(main, name, params);
    if (param == nullptr) {
      return NoParameter(name, main, m.entry);
    }
    HostTensor tensor = given;
    if (tensor.dtype == DType::kString) {
      auto ids = InternStrings(*m.strings, tensor);
      if (!ids.ok()) return ids.status().WithContext(fmt::format("parameter \"{}\"", name));
      tensor = *std::move(ids);
    }
    const ir::Constant* constant = ir::MakeConstant(m, tensor, name);
    if (!Fits(tensor, param->type)) {
      return m.sources->Error(StatusCode::kInvalidInput, param->span,
                              fmt::format("parameter \"{}\" is {}, but %{} is declared as {}", name,
                                          ir::TypeToString(ir::ConstantType(*constant)),
                                          param->name, ir::TypeToString(param->type)));
    }
    if (!constants.emplace(param->id, constant).second) {
      return m.sources->Error(StatusCode::kInvalidInput, param->span,
                              fmt::format("two of the given parameters match %{}", param->name));
    }
  }
  if (constants.empty()) return m;
  for (const auto& [name, function] : m.functions) {
    if (IsCalled(*function->body, m.entry)) {
      return m.sources->Error(
          StatusCode::kUnsupported, function->span,
          fmt::format("cannot bind parameters of @{}: @{} calls it", m.entry, name));
    }
  }
  ir::Function bound = main;
  std::erase_if(bound.params, [&](const ir::Var* p) { return constants.contains(p->id); });
  bound.body = ir::Substitute(m, *main.body, constants);
  ir::Module out = m;
  out.functions[m.entry] = m.arena->New(std::move(bound));
  return out;
}

Result<ir::Module> BindParams(const ir::Module& m, const Params& params) {
  return ir::WithLargeStack([&] { return Bind(m, params); });
}

}  // namespace relayvm::frontend
