#include "compiler/typing/infer.h"

#include <fmt/format.h>

#include "compiler/typing/inference.h"
#include "compiler/typing/rebuild.h"
#include "compiler/typing/structure.h"

namespace relayvm {
namespace {

// Each run makes at least one dim unknown for good. Programs take one or two.
constexpr int kMaxRuns = 1000;

// The host of a call that stands alone.
class LoneCallHost final : public typing::OpHost {
 public:
  LoneCallHost(const ir::Module& module, std::span<const ir::Atom> args)
      : module_(module), args_(args) {}

  std::vector<Dim> Elements(size_t i, int64_t size) override {
    std::vector<Dim> out;
    const ir::Var* var = nullptr;
    if (i < args_.size()) {
      if (auto* v = std::get_if<const ir::Var*>(&args_[i])) var = *v;
    }
    if (var != nullptr) {
      if (auto known = module_.contents.find(var->id); known != module_.contents.end()) {
        return known->second;
      }
    }
    for (int64_t k = 0; k < size; ++k) out.push_back(ElementOf(var, i, k));
    return out;
  }
  Dim Element(size_t i, int64_t index) override {
    auto* v = i < args_.size() ? std::get_if<const ir::Var*>(&args_[i]) : nullptr;
    return ElementOf(v != nullptr ? *v : nullptr, i, index);
  }
  const ir::Constant* ConstantArg(size_t i) override {
    if (i >= args_.size()) return nullptr;
    auto* c = std::get_if<const ir::Constant*>(&args_[i]);
    return c != nullptr ? *c : nullptr;
  }
  Dim NewSymbol(std::string_view name) override {
    return Dim::Symbol(module_.ids->Next(), fmt::format("result.{}", name));
  }
  typing::Broadcasts& broadcasts() override { return broadcasts_; }
  ir::SymbolTable TakeSymbols() { return std::move(symbols_); }

 private:
  Dim ElementOf(const ir::Var* var, size_t arg, int64_t index) {
    std::string name = var != nullptr && !var->name.empty() ? var->name : fmt::format("arg{}", arg);
    name += fmt::format("[{}]", index);
    if (var == nullptr) return Dim::Symbol(module_.ids->Next(), name, /*nonnegative=*/false);
    for (const ir::SymbolTable* table : {&module_.symbols, &std::as_const(symbols_)}) {
      for (const auto& [id, e] : *table) {
        if (e.var->id == var->id && e.index == index) return Dim::Symbol(id, name, false);
      }
    }
    uint32_t id = module_.ids->Next();
    symbols_[id] = {var, index};
    return Dim::Symbol(id, name, /*nonnegative=*/false);
  }

  const ir::Module& module_;
  std::span<const ir::Atom> args_;
  typing::Broadcasts broadcasts_;
  ir::SymbolTable symbols_;
};

Result<OpCallTyping> InferLone(const ir::Module& module, const OpDef& op,
                               std::span<const ir::Type> types, std::span<const ir::Atom> atoms,
                               const Attrs& attrs, ir::Span span) {
  auto locate = [&](const Status& s) {
    bool known =
        module.sources != nullptr && span.line != 0 && span.file < module.sources->num_files();
    return known ? module.sources->Error(s.code(), span, s.message()) : s;
  };
  if (op.is_identity && types.size() == 1) return OpCallTyping{types[0], {}, {}};
  auto args = typing::ArgTypes(op, types);
  if (!args.ok()) return locate(args.status());
  LoneCallHost host(module, atoms);
  auto typing = typing::TypeOp(op, attrs, *args, host);
  if (!typing.ok()) return locate(typing.status());
  OpCallTyping out;
  std::vector<ir::Type> fields;
  for (const TensorType& t : typing->result.tensors) {
    fields.push_back(ir::MakeTensorType(t.shape, t.dtype));
  }
  out.type = typing->result.is_tuple ? ir::MakeType(ir::TupleType{std::move(fields)}) : fields[0];
  out.guards = std::move(typing->guards);
  out.symbols = host.TakeSymbols();
  return out;
}

}  // namespace

Result<ir::Module> InferTypes(const ir::Module& module) {
  RELAYVM_RETURN_IF_ERROR(typing::CheckStructure(module));
  typing::Widenings widenings;
  for (int run = 0; run < kMaxRuns; ++run) {
    typing::Inference inference(module, &widenings);
    Status s = inference.Run();
    // What a run says before it found out that it began too narrow does not count.
    if (inference.must_rerun()) continue;
    RELAYVM_RETURN_IF_ERROR(s);
    return typing::Rebuild(module, inference);
  }
  return Status(StatusCode::kInternal, "type inference does not come to an end");
}

Result<OpCallTyping> InferOpCall(const ir::Module& module, const OpDef& op,
                                 std::span<const ir::Atom> args, const Attrs& attrs,
                                 ir::Span span) {
  std::vector<ir::Type> types;
  for (const ir::Atom& a : args) types.push_back(ir::AtomType(module, a));
  return InferLone(module, op, types, args, attrs, span);
}

Result<OpCallTyping> InferOpCall(const ir::Module& module, const OpDef& op,
                                 std::span<const ir::Type> arg_types, const Attrs& attrs,
                                 ir::Span span) {
  return InferLone(module, op, arg_types, {}, attrs, span);
}

}  // namespace relayvm
