#include "compiler/api/reference_program.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "compiler/ir/declared_dims.h"
#include "compiler/lowering/value_type.h"
#include "compiler/pipeline.h"
#include "vm/border/optional_inputs.h"

namespace relayvm {
namespace {

// The module's border as a program: its only function fails when it is called. `given`: before its
// types were inferred.
Result<Program> SignatureOf(const ir::Module& given, const ir::Module& module) {
  ir::Function entry = *module.functions.at(module.entry);
  if (const auto at = given.functions.find(given.entry); at != given.functions.end()) {
    AttrList declared = ir::DeclaredDimsOf(*at->second);
    if (!declared.empty()) entry.attrs[ir::kDeclaredDims] = std::move(declared);
  }
  Program program;
  RELAYVM_RETURN_IF_ERROR(lower::AddStub(entry.name, entry.params.size(),
                                         "the reference interpreter runs this program", program));
  RELAYVM_RETURN_IF_ERROR(lower::AddExport(module, entry, 0, {}, program));
  return program;
}

Status WrongValue(const ir::Type& type) {
  return {StatusCode::kInvalidArgument,
          fmt::format("expected a value of type {}", ir::TypeToString(type))};
}

// Types of the fields of `value`, which is data of `type`, and its constructor; null of a tuple.
struct Fields {
  const ir::Constructor* constructor = nullptr;
  std::vector<ir::Type> types;
};
Result<Fields> FieldsOf(const Value& value, const ir::Type& type, const ir::Module& module) {
  Fields fields;
  if (const auto* tuple = type->As<ir::TupleType>()) {
    fields.types = tuple->fields;
  } else if (const auto* adt = type->As<ir::AdtType>()) {
    const ir::TypeDef& def = module.types.at(adt->name);
    if (value.tag() >= def.constructors.size()) return WrongValue(type);
    fields.constructor = def.constructors[value.tag()];
    std::map<uint32_t, ir::Type> args;
    for (size_t i = 0; i < def.params.size() && i < adt->args.size(); ++i)
      args.emplace(def.params[i]->As<ir::TypeVar>()->id, adt->args[i]);
    for (const ir::Type& t : fields.constructor->fields)
      fields.types.push_back(ir::SubstituteTypeVars(t, args));
  } else if (type->As<ir::TypeVar>() != nullptr) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("tuples and constructors of the open type {} are not for the "
                              "reference interpreter: declare the parameter's type",
                              ir::TypeToString(type)));
  } else {
    return WrongValue(type);
  }
  if (fields.types.size() != value.num_fields()) return WrongValue(type);
  return fields;
}

}  // namespace

Result<reference::Value> ToReference(const Value& root, const ir::Type& root_type,
                                     const ir::Module& module, StringTable* strings) {
  struct Frame {
    Value value;
    Fields fields;
    std::vector<reference::Value> done;
  };
  std::vector<Frame> stack;
  reference::Value made;
  // Makes a leaf, or opens a frame.
  auto begin = [&](const Value& value, const ir::Type& type) -> Status {
    if (value.is_tensor()) {
      HostTensor tensor;
      tensor.dtype = value.dtype();
      tensor.shape.assign(value.dims().begin(), value.dims().end());
      if (tensor.dtype == DType::kString) {
        if (strings == nullptr) return WrongValue(type);
        std::vector<int64_t> ids(static_cast<size_t>(value.num_elements()));
        for (size_t i = 0; i < ids.size(); ++i) {
          ids[i] = strings->Intern(value.text(static_cast<int64_t>(i)));
          if (ids[i] < 0) return Status::OutOfMemory();
        }
        tensor.data = SharedBytes::Copy(std::as_bytes(std::span(ids)));
        made = reference::MakeTensor(std::move(tensor));
        return OkStatus();
      }
      tensor.data = SharedBytes({static_cast<const std::byte*>(value.data()), value.bytes()},
                                std::make_shared<Value>(value));
      made = reference::MakeTensor(std::move(tensor));
      return OkStatus();
    }
    if (value.kind() != Value::Kind::kAdt) return WrongValue(type);
    RELAYVM_ASSIGN_OR_RETURN(Fields fields, FieldsOf(value, type, module));
    stack.push_back({value, std::move(fields), {}});
    return OkStatus();
  };
  RELAYVM_RETURN_IF_ERROR(begin(root, root_type));
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (made != nullptr) top.done.push_back(std::exchange(made, nullptr));
    if (const size_t i = top.done.size(); i < top.fields.types.size()) {
      const Value field = top.value.field(i);
      const ir::Type type = top.fields.types[i];
      RELAYVM_RETURN_IF_ERROR(begin(field, type));
      continue;
    }
    made = reference::Make(reference::Data{top.fields.constructor, std::move(top.done)});
    stack.pop_back();
  }
  return made;
}

Result<Value> FromReference(const reference::Value& root, const StringTable* strings) {
  struct Frame {
    const reference::Data* data;
    std::vector<Value> done;
  };
  std::vector<Frame> stack;
  Value made;
  auto begin = [&](const reference::Value& value) -> Status {
    if (const auto* tensor = value->As<reference::Tensor>()) {
      const HostTensor& t = *tensor->data;
      if (t.dtype == DType::kString) {
        std::vector<std::string_view> texts(static_cast<size_t>(t.size()));
        for (size_t i = 0; i < texts.size(); ++i) {
          int64_t id = 0;
          std::memcpy(&id, t.data.data() + 8 * i, 8);
          const auto text = strings == nullptr ? std::nullopt : strings->Text(id);
          if (!text) return {StatusCode::kInternal, fmt::format("no text has the id {}", id)};
          texts[i] = *text;
        }
        RELAYVM_ASSIGN_OR_RETURN(made, Value::CopyStrings(t.shape, texts));
        return OkStatus();
      }
      // A constant is the module's.
      if (tensor->data.use_count() == 0) {
        RELAYVM_ASSIGN_OR_RETURN(made, Value::CopyTensor(t.dtype, t.shape, t.data.data()));
        return OkStatus();
      }
      auto* owner = new std::shared_ptr<const HostTensor>(tensor->data);
      RELAYVM_ASSIGN_OR_RETURN(
          made,
          Value::WrapTensor(
              t.dtype, t.shape, const_cast<std::byte*>(t.data.data()),
              [](void* o) { delete static_cast<std::shared_ptr<const HostTensor>*>(o); }, owner));
      return OkStatus();
    }
    if (const auto* data = value->As<reference::Data>()) {
      stack.push_back({data, {}});
      return OkStatus();
    }
    return {StatusCode::kUnsupported,
            "functions and references live inside the reference interpreter: this value holds one"};
  };
  RELAYVM_RETURN_IF_ERROR(begin(root));
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (made) top.done.push_back(std::exchange(made, Value()));
    if (top.done.size() < top.data->fields.size()) {
      RELAYVM_RETURN_IF_ERROR(begin(top.data->fields[top.done.size()]));
      continue;
    }
    made = Value::Adt(top.data->constructor == nullptr ? 0 : top.data->constructor->tag,
                      std::move(top.done));
    if (!made) return Status(StatusCode::kUnsupported, "a value has more than 65535 fields");
    stack.pop_back();
  }
  return made;
}

Result<std::shared_ptr<const ReferenceProgram>> ReferenceProgram::Make(const LoadedModel& model) {
  std::shared_ptr<ReferenceProgram> made(new ReferenceProgram());
  RELAYVM_ASSIGN_OR_RETURN(made->module_, RunFrontendPipeline(model.module));
  RELAYVM_ASSIGN_OR_RETURN(Program signature, SignatureOf(model.module, made->module_));
  RELAYVM_ASSIGN_OR_RETURN(made->signature_, Executable::FromProgram(std::move(signature)));
  return std::shared_ptr<const ReferenceProgram>(std::move(made));
}

Result<Value> ReferenceProgram::Run(std::span<const Value> given,
                                    const reference::Options& options) const {
  const ir::Function& entry = *module_.functions.at(module_.entry);
  std::vector<Value> inputs(given.begin(), given.end());
  vm::CompleteInputs(signature_->program(), signature_->program().exports.front(), &inputs);
  if (inputs.size() != entry.params.size())
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("@{} takes {} inputs, found {}", module_.entry, entry.params.size(),
                              inputs.size()));
  RELAYVM_RETURN_IF_ERROR(
      signature_->CheckInputs(signature_->program().exports.front().name, inputs));
  StringTable strings(module_.strings.get());
  reference::Options own = options;
  own.strings = &strings;
  std::vector<reference::Value> args;
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto arg = ToReference(inputs[i], entry.params[i]->type, module_, &strings);
    if (!arg.ok()) return arg.status().WithContext("input " + entry.params[i]->name);
    args.push_back(*std::move(arg));
  }
  RELAYVM_ASSIGN_OR_RETURN(const reference::Value result,
                           reference::Run(module_, module_.entry, std::move(args), own));
  return FromReference(result, &strings);
}

}  // namespace relayvm
