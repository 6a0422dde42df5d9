#include "vm/kernels/recipes.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "bytecode/base/machine_limits.h"
#include "bytecode/blake2b.h"
#include "bytecode/verifier.h"
#include "kernels/runtime/call_builtin.h"
#include "vm/memory/object.h"
#include "vm/run/shared_constants.h"

namespace relayvm::vm {
namespace {

// A constant to be made, and where it lies among those of its program.
struct ToMake {
  ConstantInfo* constant;
  const Builtin* builtin;
  uint64_t offset, bytes;
};

Status OfConstant(const ToMake& one, StatusCode code, const char* what) {
  return {code, fmt::format("constant '{}', made by '{}': {}", one.constant->name,
                            one.constant->recipe->builtin, what)};
}

Result<std::vector<ToMake>> FindAll(Program* program, uint64_t* total) {
  std::vector<ToMake> all;
  for (ConstantInfo& constant : program->constants) {
    if (constant.recipe == nullptr || !constant.data.empty()) continue;
    RELAYVM_ASSIGN_OR_RETURN(const uint64_t bytes,
                             StaticTensorBytes(constant.dtype, constant.dims));
    const RecipeInfo& recipe = *constant.recipe;
    const ToMake one = {&constant, FindBuiltin(recipe.builtin), *total, bytes};
    if (one.builtin == nullptr) {
      return OfConstant(one, StatusCode::kUnsupported,
                        "this runtime has no such builtin: use a newer one");
    }
    if (!one.builtin->makes_constants || std::ssize(recipe.params) != one.builtin->num_params ||
        std::ssize(recipe.inputs) != one.builtin->num_inputs) {
      return OfConstant(one, StatusCode::kInvalidInput,
                        "it makes no constants, or not of so many inputs and parameters");
    }
    all.push_back(one);
    *total += (bytes + kDataAlignment - 1) / kDataAlignment * kDataAlignment;
  }
  return all;
}

// Of all that decides the bytes; none where the program does not say what its inputs hold.
std::optional<ContentHash> KeyOf(const std::vector<ToMake>& all) {
  Blake2b key;
  const auto add_text = [&](std::string_view text) {
    key.Add(text.size());
    key.Add(std::as_bytes(std::span(text)));
  };
  const auto add_type = [&](DType dtype, const std::vector<int64_t>& dims) {
    key.Add(static_cast<uint64_t>(dtype));
    key.Add(dims.size());
    key.Add(std::as_bytes(std::span(dims)));
  };
  for (const ToMake& one : all) {
    const RecipeInfo& recipe = *one.constant->recipe;
    add_text(recipe.builtin);
    key.Add(recipe.params.size());
    key.Add(std::as_bytes(std::span(recipe.params)));
    add_type(one.constant->dtype, one.constant->dims);
    for (const RecipeInput& input : recipe.inputs) {
      if (!input.hash) return std::nullopt;
      add_type(input.dtype, input.dims);
      key.Add(std::as_bytes(std::span(*input.hash)));
    }
  }
  return key.Finish();
}

// `inputs`: the bytes of the recipe's inputs.
Status Make(const ToMake& one, std::span<const std::byte* const> inputs, std::byte* out) {
  const RecipeInfo& recipe = *one.constant->recipe;
  std::vector<BuiltinTensor> tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    tensors.push_back(
        {recipe.inputs[i].dtype, recipe.inputs[i].dims, const_cast<std::byte*>(inputs[i])});
  }
  tensors.push_back({one.constant->dtype, one.constant->dims, out});
  const int32_t error = CallBuiltin(*one.builtin, tensors, recipe.params);
  if (error == RELAYVM_KERNEL_OK) return OkStatus();
  if (error == RELAYVM_KERNEL_OUT_OF_MEMORY) return Status::OutOfMemory();
  return OfConstant(one, StatusCode::kInvalidInput, "its tensors are not what that takes");
}

// Makes one for others to see: of a copy of the inputs, which are what the program has said they
// are, and which nobody changes meanwhile.
Status MakeShared(const ToMake& one, std::vector<std::byte>* out) {
  std::vector<std::vector<std::byte>> copies;
  std::vector<const std::byte*> inputs;
  for (const RecipeInput& input : one.constant->recipe->inputs) {
    const auto& copy = copies.emplace_back(input.data.begin(), input.data.end());
    if (HashOf(copy) != *input.hash)
      return OfConstant(one, StatusCode::kInvalidInput, "an input is damaged: its hash differs");
    inputs.push_back(copy.data());
  }
  out->resize(one.bytes);
  return Make(one, inputs, out->data());
}

// All of them in a file for all processes. None where there is no place for it.
Result<std::optional<SharedBytes>> MakeAllShared(const std::vector<ToMake>& all, uint64_t total,
                                                 const ContentHash& key, bool verify) {
  std::optional<SharedBytes> found = FindSharedConstants(key, total, verify);
  if (found) return found;
  std::optional<SharedConstantsWriter> writer = SharedConstantsWriter::Create(key, total);
  if (!writer) return std::optional<SharedBytes>();
  std::vector<std::byte> bytes;
  for (const ToMake& one : all) {
    RELAYVM_RETURN_IF_ERROR(MakeShared(one, &bytes));
    if (!writer->Write(one.offset, bytes)) return std::optional<SharedBytes>();
  }
  return writer->Publish();
}

Status MakeOwn(const ToMake& one) {
  std::vector<const std::byte*> inputs;
  for (const RecipeInput& input : one.constant->recipe->inputs) inputs.push_back(input.data.data());
  SharedBytes made = SharedBytes::Zeros(one.bytes);
  RELAYVM_RETURN_IF_ERROR(Make(one, inputs, made.Mutable().data()));
  one.constant->data = std::move(made);
  return OkStatus();
}

}  // namespace

Status MakeByRecipes(Program* program, bool share, bool verify) {
  uint64_t total = 0;
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<ToMake> all, FindAll(program, &total));
  if (all.empty()) return OkStatus();
  if (const size_t most = ReadMachineLimits().memory_bytes; total > most) {
    return {StatusCode::kResourceExhausted,
            fmt::format("{} bytes of constants are to be made, the machine has {}", total, most)};
  }
  std::optional<SharedBytes> shared;
  if (const auto key = share && total > 0 ? KeyOf(all) : std::nullopt) {
    RELAYVM_ASSIGN_OR_RETURN(shared, MakeAllShared(all, total, *key, verify));
  }
  for (const ToMake& one : all) {
    if (shared) {
      one.constant->data = shared->Slice(one.offset, one.bytes);
    } else {
      RELAYVM_RETURN_IF_ERROR(MakeOwn(one));
    }
  }
  return OkStatus();
}

}  // namespace relayvm::vm
