#include "compiler/import/torch/export_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace relayvm::import::torch {

namespace {

Status Wrong(std::string_view where, std::string_view what) {
  return {StatusCode::kInvalidInput, fmt::format("{}: {}", where, what)};
}

// A size that is a number.
std::optional<int64_t> KnownSize(const Json& v) { return IntOf(Member(v, "as_int")); }

}  // namespace

int TorchOfExported(int64_t dtype) {
  constexpr std::array<std::pair<int64_t, int>, 22> kNumbers = {{
      {1, 0},   {2, 1},   {3, 2},   {4, 3},   {5, 4},   {6, 5},   {7, 6},   {8, 7},
      {9, 8},   {10, 9},  {11, 10}, {12, 11}, {13, 15}, {28, 27}, {29, 24}, {30, 23},
      {31, 26}, {32, 25}, {33, 44}, {34, 28}, {35, 29}, {0, -1},
  }};
  for (const auto& [exported, number] : kNumbers) {
    if (exported == dtype) return number;
  }
  return -1;
}

namespace {

// What a pickle could run, were it loaded: such a file is no model, whatever it holds besides.
bool IsDangerous(std::string_view module, std::string_view name) {
  constexpr std::array<std::string_view, 12> kModules = {
      "os",     "posix", "nt",     "subprocess", "sys",    "shutil",
      "socket", "runpy", "pickle", "importlib",  "ctypes", "webbrowser"};
  constexpr std::array<std::string_view, 8> kFunctions = {
      "eval", "exec", "compile", "open", "__import__", "getattr", "execfile", "input"};
  const std::string_view top = module.substr(0, module.find('.'));
  const bool builtin = top == "builtins" || top == "__builtin__";
  return std::find(kModules.begin(), kModules.end(), top) != kModules.end() ||
         (builtin && std::find(kFunctions.begin(), kFunctions.end(), name) != kFunctions.end());
}

}  // namespace

// Samples of inputs are not needed; one that is made to run something is said, not read.
Status ExportArchive::CheckSamples() const {
  for (const std::string_view entry : archive_->Names("data/sample_inputs/")) {
    constexpr uint64_t kMost = uint64_t{1} << 20;
    if (archive_->SizeOf(entry) > kMost) continue;
    const auto bytes = archive_->Read(entry);
    if (!bytes.ok()) continue;
    std::string found;
    const auto known = [&](std::string_view module, std::string_view name) {
      if (IsDangerous(module, name)) found = fmt::format("{}.{}", module, name);
      return found.empty();
    };
    const std::string where = fmt::format("{}: {}", path_, entry);
    const auto pickle = Pickle::Read(where, std::span(bytes->data(), bytes->size()), known);
    if (!pickle.ok() && !found.empty())
      return Wrong(where, fmt::format("a pickle that names {}, which would run code", found));
    if (pickle.ok()) continue;
    auto inner = Archive::Open(where, *bytes);
    if (!inner.ok() || !inner->Has("data.pkl")) continue;
    const auto data = inner->Read("data.pkl", kMost);
    if (!data.ok()) continue;
    static_cast<void>(Pickle::Read(where, std::span(data->data(), data->size()), known));
    if (!found.empty())
      return Wrong(where, fmt::format("a pickle that names {}, which would run code", found));
  }
  return OkStatus();
}

Result<ExportArchive> ExportArchive::Open(const std::string& path, SharedBytes file,
                                          const std::string& model) {
  RELAYVM_ASSIGN_OR_RETURN(Archive archive, Archive::Open(path, std::move(file)));
  ExportArchive out(std::move(archive));
  const bool is_legacy = out.archive_->Has("serialized_exported_program.json");
  RELAYVM_RETURN_IF_ERROR(out.CheckSamples());
  RELAYVM_RETURN_IF_ERROR(is_legacy ? out.ReadLegacy() : out.ReadModel(model));
  return out;
}

Status ExportArchive::ReadModel(const std::string& wanted) {
  constexpr std::string_view kFolder = "models/", kEnd = ".json";
  std::vector<std::string> models;
  for (const std::string_view name : archive_->Names(kFolder)) {
    if (name.ends_with(kEnd) && name.size() > kFolder.size() + kEnd.size())
      models.emplace_back(name.substr(kFolder.size(), name.size() - kFolder.size() - kEnd.size()));
  }
  if (models.empty()) {
    const bool compiled = !archive_->Names("data/aotinductor/").empty();
    return Wrong(path_, compiled ? "it holds compiled code (AOTInductor) and no program; save the "
                                   "program with torch.export.save"
                                 : "it holds no program; expected models/NAME.json");
  }
  std::string model = wanted;
  if (model.empty()) {
    const bool has_usual = std::find(models.begin(), models.end(), "model") != models.end();
    model = models.size() == 1 ? models[0] : has_usual ? "model" : "";
  }
  if (std::find(models.begin(), models.end(), model) == models.end()) {
    std::string all;
    for (const std::string& m : models) all += (all.empty() ? "" : ", ") + m;
    return {wanted.empty() ? StatusCode::kInvalidInput : StatusCode::kInvalidArgument,
            fmt::format("{}: say which of its models is meant: --signature NAME, one of {}", path_,
                        all)};
  }
  const std::string entry = fmt::format("models/{}.json", model);
  RELAYVM_ASSIGN_OR_RETURN(const std::string text, archive_->Text(entry));
  RELAYVM_ASSIGN_OR_RETURN(program_, ParseJson(fmt::format("{}: {}", path_, entry), text));
  for (const char* kind : {"weights", "constants"}) {
    const std::string folder = fmt::format("data/{}/", kind);
    const std::string config = fmt::format("{}{}_{}_config.json", folder, model, kind);
    if (archive_->Has(config)) RELAYVM_RETURN_IF_ERROR(ReadConfig(config, folder));
    const std::string pickled = fmt::format("{}{}.pt", folder, model);
    if (archive_->Has(pickled)) RELAYVM_RETURN_IF_ERROR(ReadPickled(pickled));
  }
  return OkStatus();
}

Status ExportArchive::ReadLegacy() {
  RELAYVM_ASSIGN_OR_RETURN(const std::string text,
                           archive_->Text("serialized_exported_program.json"));
  RELAYVM_ASSIGN_OR_RETURN(
      program_, ParseJson(fmt::format("{}: serialized_exported_program.json", path_), text));
  for (const char* entry : {"serialized_state_dict.pt", "serialized_constants.pt"}) {
    if (archive_->SizeOf(entry) > 0) RELAYVM_RETURN_IF_ERROR(ReadPickled(entry));
  }
  return OkStatus();
}

Status ExportArchive::ReadConfig(const std::string& entry, const std::string& folder) {
  RELAYVM_ASSIGN_OR_RETURN(const std::string text, archive_->Text(entry));
  RELAYVM_ASSIGN_OR_RETURN(Json json, ParseJson(fmt::format("{}: {}", path_, entry), text));
  if (!Member(json, "config").is_object())
    return Wrong(fmt::format("{}: {}", path_, entry), "expected an object 'config'");
  configs_.push_back({std::move(json["config"]), folder});
  return OkStatus();
}

// What torch.save wrote: an archive in the archive.
Status ExportArchive::ReadPickled(const std::string& entry) {
  const std::string where = fmt::format("{}: {}", path_, entry);
  RELAYVM_ASSIGN_OR_RETURN(SharedBytes bytes, archive_->View(entry));
  RELAYVM_ASSIGN_OR_RETURN(Archive inner, Archive::Open(where, std::move(bytes)));
  Pickled p;
  p.archive = std::make_unique<Archive>(std::move(inner));
  RELAYVM_ASSIGN_OR_RETURN(const SharedBytes data, p.archive->Read("data.pkl"));
  RELAYVM_ASSIGN_OR_RETURN(Pickle pickle,
                           Pickle::Read(fmt::format("{}: data.pkl", where),
                                        std::span(data.data(), data.size()), IsTorchGlobal));
  p.pickle = std::make_unique<Pickle>(std::move(pickle));
  p.reader = std::make_unique<TensorReader>(*p.archive, "data/");
  p.dictionary = &p.pickle->root();
  pickles_.push_back(std::move(p));
  return OkStatus();
}

namespace {

// Floats of 8 bits, for which the IR has no dtype: their numbers are kept as float32.
struct EightBitFloat {
  int number;    // TorchScript's
  int mantissa;  // bits
  int bias;
  bool is_unsigned_zero;  // fnuz: the only NaN is where -0 would be
  bool has_infinity;
};
constexpr int kUInt8 = 0;
constexpr EightBitFloat kEightBitFloats[] = {{23, 2, 15, false, true},
                                             {24, 3, 7, false, false},
                                             {25, 2, 16, true, false},
                                             {26, 3, 8, true, false}};

const EightBitFloat* EightBitFloatOf(int number) {
  for (const EightBitFloat& f : kEightBitFloats) {
    if (f.number == number) return &f;
  }
  return nullptr;
}

float NumberOf(uint8_t code, const EightBitFloat& f) {
  const int exponent_bits = 7 - f.mantissa, most = (1 << exponent_bits) - 1;
  const int exponent = (code >> f.mantissa) & most, mantissa = code & ((1 << f.mantissa) - 1);
  const float sign = (code & 0x80) != 0 ? -1.0F : 1.0F;
  if (f.is_unsigned_zero) {
    if (code == 0x80) return NAN;
  } else if (f.has_infinity && exponent == most) {
    return mantissa == 0 ? sign * INFINITY : NAN;
  } else if (!f.has_infinity && (code & 0x7F) == 0x7F) {
    return NAN;
  }
  const float part = static_cast<float>(mantissa) / static_cast<float>(1 << f.mantissa);
  return exponent == 0 ? sign * std::ldexp(part, 1 - f.bias)
                       : sign * std::ldexp(1 + part, exponent - f.bias);
}

HostTensor Decoded(const HostTensor& codes, const EightBitFloat& f) {
  std::vector<float> numbers;
  numbers.reserve(codes.data.size());
  for (size_t i = 0; i < codes.data.size(); ++i)
    numbers.push_back(NumberOf(static_cast<uint8_t>(codes.data.data()[i]), f));
  return {DType::kFloat32, codes.shape, SharedBytes::Copy(std::as_bytes(std::span(numbers)))};
}

}  // namespace

Result<TorchTensor> ExportArchive::FromConfig(const std::string& name, const Json& payload,
                                              const std::string& folder) {
  const std::string where = fmt::format("{}: '{}'", path_, name);
  const Json& pickled = Member(payload, "use_pickle");
  if (!pickled.is_boolean() || pickled == Json(true)) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{}: it is stored as a Python pickle, which is not read", where));
  }
  const Json& meta = Member(payload, "tensor_meta");
  const std::string entry = folder + std::string(TextOf(Member(payload, "path_name")));
  const auto dtype = IntOf(Member(meta, "dtype"));
  const auto layout = IntOf(Member(meta, "layout")).value_or(7);
  if (layout != 7) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{}: a sparse tensor (layout {}) is not supported", where, layout));
  }
  const int number = TorchOfExported(dtype.value_or(0));
  const EightBitFloat* eight = EightBitFloatOf(number);
  auto type = ElementTypeOf(eight == nullptr ? number : kUInt8);
  if (!type) {
    return Status(
        StatusCode::kUnsupported,
        fmt::format("{}: its dtype (number {}) is not supported", where, dtype.value_or(0)));
  }
  TorchTensor t;
  t.type = *type;
  t.storage = entry;
  t.is_parameter = Member(payload, "is_param") == Json(true);
  for (const Json& d : Member(meta, "sizes")) {
    const auto size = KnownSize(d);
    if (!size) return Wrong(where, "a size that is no number");
    t.view.sizes.push_back(*size);
  }
  for (const Json& d : Member(meta, "strides")) {
    const auto stride = KnownSize(d);
    if (!stride) return Wrong(where, "a stride that is no number");
    t.view.strides.push_back(*stride);
  }
  t.view.offset = KnownSize(Member(meta, "storage_offset")).value_or(0);
  RELAYVM_ASSIGN_OR_RETURN(const SharedBytes bytes, archive_->View(entry));
  RELAYVM_ASSIGN_OR_RETURN(t.elements, TensorOf(where, bytes, t.type, t.view));
  if (eight != nullptr) t.elements = Decoded(t.elements, *eight);
  return t;
}

Result<TorchTensor> ExportArchive::Tensor(const std::string& name) {
  for (const Configured& c : configs_) {
    if (const Json& payload = Member(c.config, name.c_str()); !payload.is_null())
      return FromConfig(name, payload, c.folder);
  }
  for (Pickled& p : pickles_) {
    const PickleValue* v = p.dictionary->Find(name);
    if (v != nullptr && IsTensor(*v)) return p.reader->Read(*v, name);
  }
  return Wrong(path_, fmt::format("there is no tensor '{}' in the file", name));
}

}  // namespace relayvm::import::torch
