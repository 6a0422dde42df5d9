#include "compiler/aot/descriptor.h"

#include <llvm/IR/Constants.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>

#include "bytecode/blake2b.h"
#include "vm/aot/aot_runtime.h"
#include "vm/memory/object.h"

namespace relayvm::aot {
namespace {

using llvm::Constant;

class DescriptorEmitter {
 public:
  explicit DescriptorEmitter(const ObjectModule& object) : object_(object), b_(object.context()) {}

  llvm::GlobalVariable* Emit(const DescriptorParts& parts, const std::string& symbol) {
    const Program& program = object_.program;
    const bool has_builtin =
        std::ranges::any_of(program.kernels, [](const KernelInfo& k) { return IsOfRuntime(k); });
    const std::string features =
        program.images.empty() ? std::string() : program.images[0].cpu_features;
    llvm::FunctionCallee find =
        has_builtin ? object_.Runtime("relayvm_aot_find_builtin", b_.getPtrTy(), {b_.getPtrTy()})
                    : llvm::FunctionCallee();
    std::vector<Constant*> fields = {Number(RelayvmAotProgram::kVersion), Text(features)};
    Append(&fields, Exports(parts));
    Append(&fields, Adts());
    Append(&fields, Functions());
    Append(&fields, Kernels());
    Append(&fields, Texts(program.messages));
    Append(&fields, Texts(program.source_files));
    fields.push_back(OrNull(parts.message));
    fields.push_back(OrNull(has_builtin ? llvm::cast<Constant>(find.getCallee()) : nullptr));
    fields.push_back(OrNull(nullptr));
    const Array made = MadeConstants();
    Append(&fields, made);
    llvm::FunctionCallee make;
    if (!made.data->isNullValue()) {
      make = object_.Runtime("relayvm_aot_make_constants", b_.getVoidTy(),
                             {b_.getPtrTy(), b_.getPtrTy()});
    }
    fields.push_back(OrNull(llvm::cast_or_null<Constant>(make.getCallee())));
    fields.push_back(OrNull(nullptr));
    Append(&fields, Regions());
    llvm::FunctionCallee regions;
    if (!program.regions.empty()) {
      regions = object_.Runtime("relayvm_aot_make_regions", b_.getVoidTy(),
                                {b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy()});
    }
    fields.push_back(OrNull(llvm::cast_or_null<Constant>(regions.getCallee())));
    Constant* value = llvm::ConstantStruct::getAnon(fields);
    return new llvm::GlobalVariable(
        object_.module, value->getType(), false,
        symbol.empty() ? llvm::GlobalValue::PrivateLinkage : llvm::GlobalValue::ExternalLinkage,
        value, symbol.empty() ? "program" : symbol);
  }

 private:
  // Found by its name.
  static bool IsOfRuntime(const KernelInfo& kernel) { return kernel.builtin && !kernel.region; }
  Constant* Number(uint64_t value) { return b_.getInt64(value); }
  Constant* OrNull(Constant* pointer) {
    return pointer != nullptr ? pointer : llvm::ConstantPointerNull::get(b_.getPtrTy());
  }
  Constant* Data(Constant* value, const char* name) {
    return new llvm::GlobalVariable(object_.module, value->getType(), true,
                                    llvm::GlobalValue::PrivateLinkage, value, name);
  }
  Constant* Text(const std::string& text) {
    Constant*& known = texts_[text];
    if (known == nullptr)
      known = Data(llvm::ConstantDataArray::getString(object_.context(), text), "text");
    return known;
  }

  // A NativeArray's two fields. All elements of an array have one type.
  struct Array {
    Constant* data;
    Constant* size;
  };
  Array ArrayOf(const std::vector<Constant*>& elements) {
    if (elements.empty()) return {OrNull(nullptr), Number(0)};
    auto* type = llvm::ArrayType::get(elements[0]->getType(), elements.size());
    return {Data(llvm::ConstantArray::get(type, elements), "table"), Number(elements.size())};
  }
  static void Append(std::vector<Constant*>* fields, const Array& array) {
    fields->insert(fields->end(), {array.data, array.size});
  }
  static Constant* Struct(const std::vector<Constant*>& fields) {
    return llvm::ConstantStruct::getAnon(fields);
  }

  Array Texts(const std::vector<std::string>& texts) {
    std::vector<Constant*> elements;
    for (const std::string& text : texts) elements.push_back(Text(text));
    return ArrayOf(elements);
  }
  Constant* Type(const ValueType& type) {
    std::vector<Constant*> fields = {Number(static_cast<uint64_t>(type.kind)),
                                     Number(static_cast<uint64_t>(type.dtype)), Number(type.index)};
    Append(&fields, Numbers(type.dims));
    Append(&fields, Texts(type.dim_names));
    Append(&fields, Formulas(type.dim_formulas));
    Append(&fields, Types(type.args));
    return Struct(fields);
  }
  Array Formulas(const std::vector<SizeFormula>& formulas) {
    static_assert(sizeof(SizeStep) == 2 * sizeof(uint64_t));
    std::vector<Constant*> elements;
    for (const SizeFormula& formula : formulas) {
      std::vector<Constant*> steps;
      for (const SizeStep& step : formula) {
        steps.push_back(Struct(
            {Number(static_cast<uint64_t>(step.kind)), Number(static_cast<uint64_t>(step.value))}));
      }
      std::vector<Constant*> fields;
      Append(&fields, ArrayOf(steps));
      elements.push_back(Struct(fields));
    }
    return ArrayOf(elements);
  }
  Array Types(const std::vector<ValueType>& types) {
    std::vector<Constant*> elements;
    for (const ValueType& type : types) elements.push_back(Type(type));
    return ArrayOf(elements);
  }

  Array Exports(const DescriptorParts& parts) {
    std::vector<Constant*> elements;
    for (size_t i = 0; i < object_.program.exports.size(); ++i) {
      const ExportInfo& e = object_.program.exports[i];
      std::vector<Constant*> fields = {Text(e.name), Number(e.num_type_params)};
      Append(&fields, Texts(e.param_names));
      Append(&fields, Types(e.params));
      Append(&fields, Types({e.result}));
      Append(&fields, Texts(e.output_names));
      fields.push_back(parts.entries[i]);
      fields.push_back(Number(parts.workspace_bytes.empty() ? 0 : parts.workspace_bytes[i]));
      elements.push_back(Struct(fields));
    }
    return ArrayOf(elements);
  }

  Array Adts() {
    std::vector<Constant*> elements;
    for (const AdtInfo& adt : object_.program.adts) {
      std::vector<Constant*> constructors;
      for (const ConstructorInfo& c : adt.constructors) {
        std::vector<Constant*> fields = {Text(c.name)};
        Append(&fields, Types(c.fields));
        constructors.push_back(Struct(fields));
      }
      std::vector<Constant*> fields = {Text(adt.name), Number(adt.num_type_params)};
      Append(&fields, ArrayOf(constructors));
      elements.push_back(Struct(fields));
    }
    return ArrayOf(elements);
  }

  Array Functions() {
    std::vector<Constant*> elements;
    for (const FunctionInfo& f : object_.program.functions) {
      static_assert(sizeof(SourceLocation) == 4 * sizeof(uint32_t));
      std::vector<Constant*> locations;
      for (const SourceLocation& l : f.locations) {
        locations.push_back(Struct(
            {b_.getInt32(l.pc), b_.getInt32(l.file), b_.getInt32(l.line), b_.getInt32(l.column)}));
      }
      std::vector<Constant*> fields = {Text(f.name)};
      Append(&fields, ArrayOf(locations));
      elements.push_back(Struct(fields));
    }
    return ArrayOf(elements);
  }

  Array Kernels() {
    std::vector<Constant*> elements;
    for (const KernelInfo& k : object_.program.kernels)
      elements.push_back(Struct({Text(k.name), Number(IsOfRuntime(k) ? 1 : 0)}));
    return ArrayOf(elements);
  }

  Array Numbers(const std::vector<int64_t>& numbers) {
    std::vector<Constant*> elements;
    for (const int64_t n : numbers) elements.push_back(Number(static_cast<uint64_t>(n)));
    return ArrayOf(elements);
  }
  Array Inputs(const RecipeInfo& recipe) {
    std::vector<Constant*> elements;
    for (const RecipeInput& input : recipe.inputs) {
      // Several constants may be made of one tensor.
      auto& [data, hash] = inputs_[input.data.identity()];
      if (data == nullptr) {
        const SharedBytes bytes = input.data.Loaded();
        const ContentHash of_bytes = HashOf(bytes);
        data = object_.AddData(bytes, "recipe");
        hash = object_.AddData(std::as_bytes(std::span(of_bytes)), "hash");
      }
      std::vector<Constant*> fields = {Number(static_cast<uint64_t>(input.dtype))};
      Append(&fields, Numbers(input.dims));
      Append(&fields, {data, Number(input.data.size())});
      fields.push_back(hash);
      elements.push_back(Struct(fields));
    }
    return ArrayOf(elements);
  }
  Array MadeConstants() {
    std::vector<Constant*> elements;
    for (size_t i = 0; i < object_.places.size(); ++i) {
      if (object_.places[i] == nullptr) continue;
      const ConstantInfo& c = object_.program.constants[i];
      std::vector<Constant*> fields = {Text(c.name), Number(static_cast<uint64_t>(c.dtype))};
      Append(&fields, Numbers(c.dims));
      fields.push_back(Text(c.recipe->builtin));
      Append(&fields, Numbers(c.recipe->params));
      Append(&fields, Inputs(*c.recipe));
      fields.push_back(object_.places[i]);
      elements.push_back(Struct(fields));
    }
    return ArrayOf(elements);
  }

  Array RegionConstants(const RegionInfo& region) {
    std::vector<Constant*> elements;
    for (const uint32_t i : region.constants) {
      const ConstantInfo& c = object_.program.constants[i];
      std::vector<Constant*> fields = {Number(static_cast<uint64_t>(c.dtype))};
      Append(&fields, Numbers(c.dims));
      Append(&fields, {OrNull(object_.constants[i]), Number(c.data.size())});
      fields.push_back(OrNull(object_.places[i]));
      elements.push_back(Struct(fields));
    }
    return ArrayOf(elements);
  }
  Array Regions() {
    const std::vector<KernelInfo>& kernels = object_.program.kernels;
    std::vector<Constant*> elements;
    for (uint32_t i = 0; i < object_.program.regions.size(); ++i) {
      const RegionInfo& region = object_.program.regions[i];
      std::vector<Constant*> fields = {Text(region.name), Text(region.engine)};
      Append(&fields, {Text(region.json), Number(region.json.size())});
      Append(&fields, RegionConstants(region));
      fields.push_back(Number(region.num_symbols));
      const auto kernel = std::ranges::find(kernels, std::optional(i), &KernelInfo::region);
      if (kernel == kernels.end()) {
        fields.insert(fields.end(), {Number(vm::NativeRegion::kNoKernel), Number(0), Number(0)});
      } else {
        const auto outputs = std::ranges::count_if(kernel->buffers, &KernelBuffer::written);
        fields.insert(fields.end(),
                      {Number(static_cast<uint64_t>(kernel - kernels.begin())),
                       Number(kernel->buffers.size() - static_cast<uint64_t>(outputs)),
                       Number(static_cast<uint64_t>(outputs))});
      }
      elements.push_back(Struct(fields));
    }
    return ArrayOf(elements);
  }

  const ObjectModule& object_;
  llvm::IRBuilder<> b_;
  std::map<const void*, std::pair<Constant*, Constant*>> inputs_;  // data and hash, by identity
  std::map<std::string, Constant*> texts_;
};

}  // namespace

llvm::GlobalVariable* EmitDescriptor(const ObjectModule& object, const DescriptorParts& parts,
                                     const std::string& symbol) {
  return DescriptorEmitter(object).Emit(parts, symbol);
}

llvm::GlobalVariable* EmitTensor(const ObjectModule& object, DType dtype,
                                 const std::vector<int64_t>& dims, Constant* data, uint64_t bytes) {
  // The header of vm/memory/object.h, field by field.
  static_assert(std::endian::native == std::endian::little);
  static_assert(sizeof(vm::Object) == 6 + 2 && sizeof(vm::Tensor) == 32);
  llvm::IRBuilder<> b(object.context());
  const auto byte = [&](auto value) { return b.getInt8(static_cast<uint8_t>(value)); };
  std::vector<int64_t> room = dims;
  room.resize(std::max<size_t>(dims.size(), vm::kInlineDims));
  Constant* value = llvm::ConstantStruct::getAnon(
      {b.getInt32(vm::kUncounted), byte(vm::ObjectKind::kTensor), byte(vm::Home::kImmortal),
       byte(dtype), byte(dims.size()),
       data != nullptr ? data : llvm::ConstantPointerNull::get(b.getPtrTy()),
       b.getInt64(bytes | uint64_t{static_cast<uint8_t>(vm::Storage::kExternal)} << 56),
       llvm::ConstantPointerNull::get(b.getPtrTy()),
       llvm::ConstantDataArray::get(object.context(), llvm::ArrayRef<int64_t>(room))});
  auto* tensor = new llvm::GlobalVariable(object.module, value->getType(), data != nullptr,
                                          llvm::GlobalValue::PrivateLinkage, value, "tensor");
  tensor->setAlignment(llvm::Align(vm::kDataAlignment));
  return tensor;
}

llvm::Constant* DataOfTensor(const ObjectModule& object, llvm::GlobalVariable* tensor) {
  llvm::IRBuilder<> b(object.context());
  return llvm::ConstantExpr::getInBoundsGetElementPtr(b.getInt8Ty(), tensor,
                                                      b.getInt64(sizeof(vm::Object)));
}

}  // namespace relayvm::aot
