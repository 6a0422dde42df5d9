#include "compiler/compile_cache.h"

#include <cstring>
#include <map>
#include <span>
#include <string_view>

#include "bytecode/reader.h"
#include "bytecode/writer.h"
#include "compiler/regions/region_options.h"
#include "kernels/codegen/build_id.h"
#include "kernels/codegen/image_key.h"

namespace relayvm {
namespace {

using import::InputFiles;
using Question = InputFiles::Question;

// Texts one behind the other, each with its length before it, so that no two lists are the same.
class Fields {
 public:
  void Add(std::string_view text) {
    Add(text.size());
    bytes_ += text;
  }
  void Add(uint64_t number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void Add(std::span<const std::string> texts) {
    Add(texts.size());
    for (const std::string& text : texts) Add(text);
  }
  void Add(const SharedBytes& bytes) {
    Add(ObjectCache::KeyOf({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  }
  void Add(const ObjectCache::Key& key) { bytes_.append(key.begin(), key.end()); }
  template <typename T>
  void Add(const std::optional<T>& value) {
    Add(uint64_t{value ? 1U : 0U});
    if (value) Add(*value);
  }
  template <typename Name, typename T, typename Less>
  void Add(const std::map<Name, T, Less>& values) {
    Add(values.size());
    for (const auto& [name, value] : values) {
      Add(name);
      Add(value);
    }
  }
  void Add(const TileSchedule& schedule) { Add(ToString(schedule)); }
  void Add(int64_t number) { Add(static_cast<uint64_t>(number)); }
  void Add(const HostTensor& tensor) {
    Add(static_cast<uint64_t>(tensor.dtype));
    Add(tensor.shape.size());
    for (const int64_t size : tensor.shape) Add(size);
    Add(tensor.data);
  }

  std::span<const char> bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// What Fields wrote. Where there is less than is asked for, nothing is right any more.
class FieldReader {
 public:
  explicit FieldReader(std::span<const char> bytes) : rest_(bytes.data(), bytes.size()) {}
  uint64_t Number() {
    uint64_t number = 0;
    const std::string_view bytes = Take(sizeof number);
    if (is_right_) std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }
  std::string Text() { return std::string(Take(Number())); }
  ObjectCache::Key Key() {
    ObjectCache::Key key{};
    const std::string_view bytes = Take(key.size());
    if (is_right_) std::memcpy(key.data(), bytes.data(), key.size());
    return key;
  }
  bool has_more() const { return is_right_ && !rest_.empty(); }
  bool is_right() const { return is_right_; }

 private:
  std::string_view Take(uint64_t size) {
    is_right_ = is_right_ && size <= rest_.size();
    if (!is_right_) return {};
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::string_view rest_;
  bool is_right_ = true;
};

// A field more of the options is to be named in these. Each gives false where not all that matters
// can be told. Whom progress is told to, and how many threads there are, matters to nobody.
bool AddOptions(const KernelOptions& options, Fields* to) {
  const auto& [machine, opt_level, quick, by_share, time_kernels, exact, batching, keep_llvm_ir,
               keep_assembly, schedules, schedule_for, on_kernels, num_threads, stop, cache] =
      options;
  to->Add(codegen::MachineText(machine));
  to->Add(static_cast<uint64_t>(opt_level));
  for (const bool flag : {quick, by_share, exact, batching}) to->Add(uint64_t{flag});
  to->Add(schedules);
  return !keep_llvm_ir && !keep_assembly && !schedule_for;
}

bool AddOptions(const PipelineOptions& options, Fields* to) {
  const auto& [opt_level, machine, values, passes, disabled, print_ir_after, print, timings,
               on_pass, stop, measure, rule_files, cache, verify] = options;
  to->Add(static_cast<uint64_t>(opt_level));
  to->Add(codegen::MachineText(machine));
  to->Add(values.size());
  for (const auto& [name, texts] : values) {
    to->Add(name);
    to->Add(std::span(texts));
  }
  to->Add(std::span(disabled));
  for (const bool flag : {print != nullptr, verify}) to->Add(uint64_t{flag});
  to->Add(passes.size());
  for (const InsertedPass& inserted : passes) {
    to->Add(inserted.pass.name);
    to->Add(inserted.place);
    to->Add(inserted.content);
    if (inserted.content.empty()) return false;
  }
  return print_ir_after.empty() && measure == nullptr && rule_files == nullptr &&
         !regions::HasEngines(values);
}

bool AddOptions(const CompileOptions& options, Fields* to) {
  const auto& [direct, content, params_file, params_content, params, operators, user_operators,
               shapes, dims, signature, outputs, input_names, overridable, entry, pipeline, kernels,
               more_machines, schedules, warn, tune, for_graph, count_poor_kernels, time_forms,
               stop] = options;
  to->Add(content);
  to->Add(params_file);
  to->Add(params_content);
  to->Add(params);
  to->Add(shapes);
  to->Add(dims);
  to->Add(signature);
  to->Add(std::span(outputs));
  to->Add(std::span(input_names));
  to->Add(overridable ? std::span(*overridable) : std::span<const std::string>());
  to->Add(entry);
  to->Add(more_machines.size());
  for (const Machine& machine : more_machines) to->Add(codegen::MachineText(machine));
  to->Add(schedules.size());
  for (const tuner::ScheduleRecord& record : schedules) to->Add(FormatRecord(record));
  for (const bool flag : {count_poor_kernels, overridable.has_value()}) to->Add(uint64_t{flag});
  return !for_graph && operators.Names().empty() && user_operators.empty() &&
         tune.budget.count() == 0 && AddOptions(pipeline, to) && AddOptions(kernels, to);
}

Result<Compiled> ReadCompiled(const std::shared_ptr<const FileMapping>& file) {
  Compiled compiled;
  RELAYVM_ASSIGN_OR_RETURN(compiled.program, ReadProgram(file));
  if (std::vector<std::string> targets = std::exchange(compiled.program.targets, {});
      !targets.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(compiled.program, ReadProgram(file, {.target = targets[0]}));
    compiled.program.targets.clear();
    for (size_t i = 1; i < targets.size(); ++i) {
      RELAYVM_ASSIGN_OR_RETURN(Program other, ReadProgram(file, {.target = targets[i]}));
      other.targets.clear();
      compiled.others.push_back(std::move(other));
    }
  }
  compiled.file = file;
  return compiled;
}

}  // namespace

CompileCache::CompileCache(std::shared_ptr<ObjectCache> kept, const ObjectCache::Key& key)
    : kept_(std::move(kept)),
      key_(key),
      files_(std::make_shared<InputFiles>(&ObjectCache::KeyOf)) {}

std::optional<CompileCache> CompileCache::For(const std::string& input,
                                              const CompileOptions& options) {
  const std::string& build = codegen::BuildId();
  if (!options.direct || options.kernels.cache == nullptr || build.empty()) return std::nullopt;
  Fields fields;
  fields.Add("compilation 1");
  fields.Add(build);
  // Kernels that fold constants, and logs of schedules, are this machine's.
  fields.Add(codegen::MachineText(Machine::Native()));
  fields.Add(MachineName());
  fields.Add(input);
  if (!AddOptions(options, &fields)) return std::nullopt;
  return CompileCache(options.kernels.cache, ObjectCache::KeyOf(fields.bytes()));
}

ObjectCache::Key CompileCache::ResultKey(const std::vector<Question>& questions) {
  Fields fields;
  fields.Add(key_);
  for (const Question& question : questions) {
    fields.Add(static_cast<uint64_t>(question.kind));
    fields.Add(question.about);
    fields.Add(files_->Answer(question));
  }
  return ObjectCache::KeyOf(fields.bytes());
}

std::optional<Compiled> CompileCache::Find(const CompileOptions& options) {
  const auto asked = kept_->Find(key_);
  if (!asked) return std::nullopt;
  std::vector<Question> questions;
  FieldReader list(*asked);
  while (list.has_more()) {
    const uint64_t kind = list.Number();
    if (kind > static_cast<uint64_t>(InputFiles::Kind::kLast)) return std::nullopt;
    questions.push_back({static_cast<InputFiles::Kind>(kind), list.Text()});
  }
  if (!list.is_right()) return std::nullopt;
  const ObjectCache::Key key = ResultKey(questions);
  const auto result = kept_->Find(key);
  if (!result) return std::nullopt;
  FieldReader fields(*result);
  const auto file = kept_->FindFile(key, fields.Key());
  if (file == nullptr) return std::nullopt;
  auto compiled = ReadCompiled(file);
  if (!compiled.ok()) return std::nullopt;
  for (uint64_t* number : compiled->counts()) *number = fields.Number();
  std::vector<std::pair<bool, std::string>> said;
  while (fields.has_more()) {
    const bool is_warning = fields.Number() != 0;
    said.emplace_back(is_warning, fields.Text());
  }
  if (!fields.is_right()) return std::nullopt;
  for (const auto& [is_warning, text] : said) {
    if (is_warning && options.warn) options.warn(text);
    if (!is_warning && options.pipeline.print) options.pipeline.print(text);
  }
  return *std::move(compiled);
}

CompileOptions CompileCache::Recorded(const CompileOptions& options) {
  CompileOptions recorded = options;
  recorded.warn = [this, &options](const std::string& text) {
    said_.emplace_back(true, text);
    if (options.warn) options.warn(text);
  };
  if (!options.pipeline.print) return recorded;
  recorded.pipeline.print = [this, &options](std::string_view text) {
    said_.emplace_back(false, text);
    options.pipeline.print(text);
  };
  return recorded;
}

void CompileCache::Store(Compiled* compiled) {
  if (!files_->AreUnchanged()) return;
  const ObjectCache::Key key = ResultKey(files_->asked());
  uint64_t size = 0;
  for (const ConstantInfo& c : compiled->program.constants) size += BytesInFile(c);
  ObjectCache::Key content{};
  const auto file = kept_->StoreFile(key, size, &content, [&](const std::string& path) {
    return WriteProgramFile(compiled->program, path, compiled->others);
  });
  if (file == nullptr) return;
  compiled->file = file;
  Fields result, list;
  result.Add(content);
  for (const uint64_t* number : compiled->counts()) result.Add(*number);
  for (const auto& [is_warning, text] : said_) {
    result.Add(uint64_t{is_warning});
    result.Add(text);
  }
  kept_->Store(key, result.bytes());
  for (const Question& question : files_->asked()) {
    list.Add(static_cast<uint64_t>(question.kind));
    list.Add(question.about);
  }
  kept_->Store(key_, list.bytes());
}

}  // namespace relayvm
