#include "compiler/import/torch/script_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace relayvm::import::torch {

namespace {

constexpr int64_t kNewestVersion = 10;
constexpr std::string_view kCode = "code/", kMangled = "__torch__";

bool KnownScriptGlobal(std::string_view module, std::string_view name) {
  return module.starts_with(kMangled) || IsTorchGlobal(module, name);
}

bool KnownOriginGlobal(std::string_view module, std::string_view name) {
  return IsTorchGlobal(module, name);
}

bool HasCode(const Archive& archive) { return !archive.Names(kCode).empty(); }

}  // namespace

ScriptCode::ScriptCode(Archive archive) : archive_(std::move(archive)) {}

Result<std::unique_ptr<ScriptCode>> ScriptCode::Open(const std::string& path, SharedBytes file) {
  RELAYVM_ASSIGN_OR_RETURN(Archive archive, Archive::Open(path, std::move(file)));
  if (archive.Has(".data/extern_modules") || !archive.Names(".data/ts_code/").empty()) {
    return Status(
        StatusCode::kUnsupported,
        fmt::format("{}: a torch.package archive; save the module with torch.jit.save", path));
  }
  if (!archive.Has("data.pkl")) {
    return Status(StatusCode::kInvalidInput,
                  fmt::format("{}: no data.pkl: this is no TorchScript archive", path));
  }
  if (!HasCode(archive)) {
    return Status(
        StatusCode::kInvalidInput,
        fmt::format("{}: holds what torch.save wrote (a state dict, a checkpoint or a pickled "
                    "module), which has no code; in Python make a program of the model: "
                    "torch.jit.script(model).save(\"model.pt\"), or "
                    "torch.export.save(torch.export.export(model, inputs), \"model.pt2\")",
                    path));
  }
  std::unique_ptr<ScriptCode> code(new ScriptCode(std::move(archive)));
  RELAYVM_RETURN_IF_ERROR(code->ReadVersion());
  const Archive& a = code->archive_;
  RELAYVM_ASSIGN_OR_RETURN(SharedBytes data, a.Read("data.pkl"));
  RELAYVM_ASSIGN_OR_RETURN(
      code->data_,
      Pickle::Read(path + ": data.pkl", std::span(data.data(), data.size()), KnownScriptGlobal));
  RELAYVM_RETURN_IF_ERROR(code->CheckRoot());
  if (a.Has("constants.pkl")) {
    RELAYVM_ASSIGN_OR_RETURN(SharedBytes constants, a.Read("constants.pkl"));
    RELAYVM_ASSIGN_OR_RETURN(
        code->constants_,
        Pickle::Read(path + ": constants.pkl", std::span(constants.data(), constants.size()),
                     KnownScriptGlobal));
    for (const PickleValue* v : code->constants_->root().items) code->is_constant_[v] = true;
  }
  code->data_tensors_.emplace(a, "data/");
  code->constant_tensors_.emplace(a, "constants/");
  return code;
}

Status ScriptCode::ReadVersion() {
  const std::string_view entry = archive_.Has("version") ? "version" : ".data/version";
  if (!archive_.Has(entry)) {
    return {StatusCode::kInvalidInput,
            fmt::format("{}: no version: this is no TorchScript archive", path())};
  }
  constexpr uint64_t kMost = 64;
  RELAYVM_ASSIGN_OR_RETURN(std::string text, archive_.Text(entry, kMost));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.pop_back();
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), version_);
  if (failed != std::errc() || end != text.data() + text.size() || version_ < 1) {
    return {StatusCode::kInvalidInput,
            fmt::format("{}: version: expected a number, found '{}'", path(), text)};
  }
  if (version_ > kNewestVersion) {
    return {
        StatusCode::kUnsupported,
        fmt::format("{}: file format version {} is newer than this version of relayc knows ({})",
                    path(), version_, kNewestVersion)};
  }
  return OkStatus();
}

Status ScriptCode::CheckRoot() const {
  const PickleValue& v = root();
  if (v.is(PickleValue::Kind::kCall) && v.callee->text.starts_with(kMangled)) return OkStatus();
  return {StatusCode::kInvalidInput,
          fmt::format("{}: data.pkl: expected a module, found {}", path(), Describe(v))};
}

const PickleValue* ScriptCode::Constant(std::string_view name) const {
  size_t index = 0;
  if (!constants_ || !name.starts_with("c")) return nullptr;
  const auto [end, failed] = std::from_chars(name.data() + 1, name.data() + name.size(), index);
  if (failed != std::errc() || end != name.data() + name.size()) return nullptr;
  const PickleValue& all = constants_->root();
  return all.is_sequence() && index < all.items.size() ? all.items[index] : nullptr;
}

Result<TorchTensor> ScriptCode::ReadTensor(const PickleValue& v, std::string_view name) {
  return (name.starts_with("CONSTANTS") ? constant_tensors_ : data_tensors_)->Read(v, name);
}

// --- Names ---

Result<const ScriptFile*> ScriptCode::FileOf(const std::string& module) {
  const auto known = files_.find(module);
  if (known != files_.end()) return known->second.get();
  auto& slot = files_[module];
  std::string entry = std::string(kCode) + module + ".py";
  std::replace(entry.begin() + kCode.size(), entry.end() - 3, '.', '/');
  if (!archive_.Has(entry)) return slot.get();
  auto file = std::make_unique<ScriptFile>();
  file->module = module;
  file->entry = entry;
  RELAYVM_ASSIGN_OR_RETURN(file->text, archive_.Text(entry));
  RELAYVM_ASSIGN_OR_RETURN(file->unit, ParseSource(path() + ": " + entry, file->text));
  slot = std::move(file);
  return slot.get();
}

Result<std::optional<ScriptCode::Found>> ScriptCode::Find(std::string_view name) {
  // a.b.C.d: C of file a/b.py and then .d, or b of file a.py and then .C.d ...
  for (size_t at = name.rfind('.'); at != std::string_view::npos && at > 0;
       at = name.rfind('.', at - 1)) {
    RELAYVM_ASSIGN_OR_RETURN(const ScriptFile* file, FileOf(std::string(name.substr(0, at))));
    if (file == nullptr) continue;
    std::string_view rest = name.substr(at + 1);
    const size_t dot = rest.find('.');
    const std::string_view own = rest.substr(0, dot);
    Found found{file, file->unit.FindClass(own), nullptr,
                dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1)};
    if (found.type == nullptr) found.function = file->unit.FindFunction(own);
    if (found.type != nullptr || found.function != nullptr) return std::optional(found);
  }
  return std::optional<Found>();
}

// --- The user's sources ---

namespace {

// A source range of a .debug_pkl: ((texts, file, first line), begin, end).
class OriginReader {
 public:
  explicit OriginReader(const PickleValue& root) {
    const bool table =
        root.is_sequence() && root.items.size() == 3 && root.items[0]->is(PickleValue::Kind::kText);
    if (table) strings_ = &Untagged(*root.items[1]);
    const PickleValue& ranges = table ? *root.items[2] : root;
    if (!ranges.is_sequence()) return;
    for (const PickleValue* v : ranges.items) {
      if (v->is_sequence() && v->items.size() >= 2 && v->items[0]->is(PickleValue::Kind::kInt))
        Add(static_cast<uint64_t>(v->items[0]->integer), *v->items[1]);
    }
    std::ranges::stable_sort(origins, {}, &ScriptFile::Origin::offset);
  }

  std::vector<ScriptFile::Origin> origins;

 private:
  const std::string* Text(const PickleValue& v) const {
    if (v.is(PickleValue::Kind::kText)) return &v.text;
    if (strings_ == nullptr || !v.is(PickleValue::Kind::kInt) || v.integer < 0 ||
        static_cast<uint64_t>(v.integer) >= strings_->items.size())
      return nullptr;
    const PickleValue& text = *strings_->items[static_cast<size_t>(v.integer)];
    return text.is(PickleValue::Kind::kText) ? &text.text : nullptr;
  }

  void Add(uint64_t offset, const PickleValue& range) {
    std::string place;
    if (range.is_sequence() && range.items.size() >= 2 && range.items[0]->is_sequence() &&
        range.items[0]->items.size() >= 3 && range.items[1]->is(PickleValue::Kind::kInt)) {
      const PickleValue& source = *range.items[0];
      const std::string* name = Text(*source.items[1]);
      const PickleValue& first = *source.items[2];
      if (name != nullptr && !name->empty() && first.is(PickleValue::Kind::kInt)) {
        const int64_t line =
            first.integer + LinesBefore(Untagged(*source.items[0]), range.items[1]->integer);
        const size_t slash = name->find_last_of('/');
        place = fmt::format("{}:{}", slash == std::string::npos ? *name : name->substr(slash + 1),
                            line);
      }
    }
    origins.push_back({offset, std::move(place)});
  }

  // How many lines end before byte `at` of the texts in a row.
  int64_t LinesBefore(const PickleValue& texts, int64_t at) const {
    int64_t lines = 0;
    const auto count = [&](const std::string& text) {
      const auto seen = std::min<int64_t>(at, static_cast<int64_t>(text.size()));
      lines += seen > 0 ? std::count(text.begin(), text.begin() + seen, '\n') : 0;
      at -= static_cast<int64_t>(text.size());
    };
    if (const std::string* text = Text(texts);
        text != nullptr && texts.is(PickleValue::Kind::kText)) {
      count(*text);
      return lines;
    }
    for (const PickleValue* part : texts.items) {
      const std::string* text = Text(*part);
      if (text == nullptr || at <= 0) break;
      count(*text);
    }
    return lines;
  }

  const PickleValue* strings_ = nullptr;
};

}  // namespace

void ScriptCode::ReadOrigins(const ScriptFile& file) const {
  file.origins_read = true;
  const std::string entry = file.entry + ".debug_pkl";
  if (!archive_.Has(entry)) return;
  constexpr uint64_t kMost = uint64_t{32} << 20;
  auto bytes = archive_.Read(entry, kMost);
  if (!bytes.ok()) return;
  auto pickle = Pickle::Read(entry, std::span(bytes->data(), bytes->size()), KnownOriginGlobal);
  if (pickle.ok()) file.origins = OriginReader(pickle->root()).origins;
}

std::string ScriptCode::PlaceOf(const ScriptFile& file, uint32_t offset) const {
  if (!file.origins_read) ReadOrigins(file);
  const auto next = std::ranges::upper_bound(file.origins, offset, {}, &ScriptFile::Origin::offset);
  if (next != file.origins.begin() && !std::prev(next)->place.empty())
    return std::prev(next)->place;
  return fmt::format("{}:{}", file.entry, LineOf(file.text, offset));
}

}  // namespace relayvm::import::torch
