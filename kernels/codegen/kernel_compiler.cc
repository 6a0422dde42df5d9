#include "kernels/codegen/kernel_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <numeric>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>
#include <unordered_map>

#include "bytecode/base/check_stop.h"
#include "bytecode/base/guarded.h"
#include "bytecode/image_loader.h"
#include "kernels/codegen/backend.h"
#include "kernels/codegen/batching.h"
#include "kernels/codegen/effort.h"
#include "kernels/codegen/image_key.h"
#include "kernels/codegen/immediates.h"
#include "kernels/codegen/link.h"
#include "kernels/codegen/quick.h"
#include "kernels/codegen/spec_key.h"

namespace relayvm {

using codegen::KernelPlan;

namespace {

// Kernels of one LLVM module: enough to share its set-up, few enough to keep all processors busy.
// The grouping does not depend on the number of threads, so neither do the bytes.
constexpr size_t kKernelsInModule = 8;
// Quick ones take no longer than the set-up.
constexpr size_t kQuickKernelsInModule = 32;

// Letters, digits and underscores.
std::string SymbolName(const std::string& name, size_t id) {
  std::string out;
  for (char c : name) out += isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (out.empty()) out = "kernel";
  return fmt::format("{}_{}", out.substr(0, 120), id);
}

// On this thread and up to `count` - 1 more: as many as the system has.
void RunOnThreads(size_t count, const std::function<void()>& work) {
  std::vector<std::jthread> threads;
  try {
    for (size_t t = 1; t < count; ++t) threads.emplace_back(work);
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
    // Those that there are do the work.
  }
  if (count > 0) work();
}

}  // namespace

struct KernelCompiler::Impl {
  struct Entry {
    uint32_t id;
    std::vector<Dim> symbols;
  };
  // Kernels that differ in immediates alone. The first few have theirs in their code. If more come,
  // the immediates that have differed are scalars of one kernel; those that code is faster for
  // knowing, after many more.
  //
  //   multiply(x, 0.1f) ... multiply(x, 0.8f)   8 kernels
  //   multiply(x, 0.9f), multiply(x, 1.1f) ...  1 kernel with a scalar
  struct Structure {
    static constexpr size_t kFew = 8, kMany = 64;
    std::vector<int64_t> first;  // immediates of the first spec
    std::vector<bool> differs;
    std::vector<bool> scalars;                       // which immediates are scalars of new kernels
    std::unordered_map<std::string, Entry> kernels;  // by TextOf

    // What is in the code of a kernel with these scalars.
    static std::string TextOf(const std::vector<codegen::Immediate>& immediates,
                              const std::vector<bool>& scalars) {
      std::string text;
      for (size_t i = 0; i < immediates.size(); ++i) {
        text += scalars[i] ? "s;" : fmt::format("{:x};", immediates[i].bits);
      }
      return text;
    }

    // Chooses the scalars of the kernel for these immediates.
    std::vector<bool> ScalarsFor(const std::vector<codegen::Immediate>& immediates) {
      std::vector<bool> none(immediates.size(), false);
      if (first.empty()) {
        for (const codegen::Immediate& i : immediates) first.push_back(i.bits);
        differs = scalars = none;
      }
      for (size_t i = 0; i < immediates.size(); ++i) {
        differs[i] = differs[i] || immediates[i].bits != first[i];
      }
      if (kernels.size() < kFew || kernels.contains(TextOf(immediates, none))) return none;
      if (kernels.contains(TextOf(immediates, scalars))) return scalars;
      for (size_t i = 0; i < immediates.size(); ++i) {
        bool wait = immediates[i].helpful && kernels.size() < kMany;
        scalars[i] = scalars[i] || (differs[i] && !wait);
      }
      return scalars;
    }
  };
  KernelOptions options;
  const codegen::KernelBackend& backend = *options.machine.backend;
  std::vector<KernelPlan> plans;
  std::vector<double> runs;  // of each plan
  codegen::ImageKey key;
  std::unordered_map<std::string, Structure> structures;

  explicit Impl(KernelOptions o) : options(std::move(o)) {}

  codegen::ContractionTarget TargetFor(const TileSchedule& schedule) const {
    return {options.machine, options.exact, options.quick, schedule};
  }
  TileSchedule ScheduleFor(const KernelSpec& spec) const {
    const TileSchedules& all = options.schedules;
    auto found = all.find(spec.name);
    if (found == all.end()) found = all.find("");
    if (found != all.end()) return found->second;
    return options.schedule_for ? options.schedule_for(spec) : TileSchedule();
  }
};

KernelCompiler::KernelCompiler(KernelOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
KernelCompiler::~KernelCompiler() = default;

Result<KernelCompiler::Added> KernelCompiler::Add(const KernelSpec& spec) {
  Impl& impl = *impl_;
  RELAYVM_RETURN_IF_ERROR(CheckStop(impl.options.stop));
  codegen::SpecKey key = codegen::KeyOf(spec);
  const bool is_any = spec.order.form == SumOrder::Form::kAny;
  const codegen::ContractionTarget target =
      impl.TargetFor(is_any ? impl.ScheduleFor(spec) : TileSchedule());
  Impl::Structure& structure = impl.structures[key.text + ToString(target.schedule)];
  std::vector<bool> scalars = structure.ScalarsFor(key.immediates);
  std::vector<te::Expr> taken;
  std::vector<int64_t> values;
  for (size_t i = 0; i < scalars.size(); ++i) {
    if (!scalars[i]) continue;
    taken.push_back(key.immediates[i].node);
    values.push_back(key.immediates[i].bits);
  }
  std::string text = Impl::Structure::TextOf(key.immediates, scalars);
  auto found = structure.kernels.find(text);
  if (found == structure.kernels.end()) {
    uint32_t id = static_cast<uint32_t>(impl.plans.size());
    auto plan = impl.backend.Plan(codegen::WithScalars(spec, taken), SymbolName(spec.name, id),
                                  key.symbols, target);
    if (!plan.ok()) return plan.status();
    impl.plans.push_back(std::move(*plan));
    impl.runs.push_back(0);
    impl.key.Add(impl.plans.back().name, key, text, target.schedule);
    found = structure.kernels.emplace(std::move(text), Impl::Entry{id, key.symbols}).first;
  }
  // The interface of the kernel that is there, over the symbols of this spec.
  const Impl::Entry& entry = found->second;
  impl.runs[entry.id] += spec.runs;
  KernelInterface interface = impl.plans[entry.id].Interface();
  auto rename = [&](const Dim& d) {
    return d.Substitute([&](const Dim& symbol) -> std::optional<Dim> {
      for (size_t i = 0; i < entry.symbols.size(); ++i) {
        if (entry.symbols[i] == symbol) return key.symbols[i];
      }
      return std::nullopt;
    });
  };
  interface.symbols = key.symbols;
  interface.immediates = std::move(values);
  interface.parallel_extent = rename(interface.parallel_extent);
  interface.grain = rename(interface.grain);
  interface.scratch_bytes = rename(interface.scratch_bytes);
  return Added{entry.id, std::move(interface)};
}

std::unique_ptr<codegen::BatchedKernel> KernelCompiler::Batched(const KernelSpec& spec,
                                                                const Dim& b) const {
  if (impl_->options.quick) return nullptr;  // its sums have no order that others can have
  return codegen::BatchKernel(spec, b, impl_->TargetFor(impl_->ScheduleFor(spec)));
}

namespace {

// Kernels of one text.
struct Group {
  std::vector<KernelPlan*> plans;
  int opt_level = 3;
};

// The level of each plan. Those that are little of the program's time become quick.
std::vector<int> ChooseLevels(const std::vector<double>& runs, const KernelOptions& options,
                              std::vector<KernelPlan>& plans) {
  if (!options.by_share || options.opt_level == 0)
    return std::vector<int>(plans.size(), options.opt_level);
  // With batching, a kernel has the bits of another one.
  const std::vector<codegen::KernelWeight> weights =
      codegen::WeightsOf(plans, runs, options.machine, !options.batching);
  std::vector<int> levels = codegen::LevelsOf(weights, options.opt_level);
  for (size_t i = 0; i < plans.size(); ++i) {
    if (levels[i] > 0) continue;
    codegen::QuickenLoops(*plans[i].loops);
    plans[i].is_minor = true;
  }
  return levels;
}

// Levels one after the other, the highest first: a helper that several texts have is of the first.
std::vector<Group> GroupsOf(std::vector<KernelPlan>& plans, const std::vector<int>& levels,
                            int highest) {
  std::vector<Group> groups;
  for (int level = highest; level >= 0; --level) {
    size_t room = 0;
    for (size_t i = 0; i < plans.size(); ++i) {
      if (levels[i] != level) continue;
      if (room == 0) {
        groups.push_back({{}, level});
        room = level == 0 ? kQuickKernelsInModule : kKernelsInModule;
      }
      groups.back().plans.push_back(&plans[i]);
      --room;
    }
  }
  return groups;
}

// Of helpers that several texts define, the first one does. They may share bodies as kernels do.
void ShareHelpers(std::span<codegen::KernelText> texts) {
  struct Definition {
    std::string features;
    size_t first;
    bool is_shared = false, differs = false;
  };
  std::unordered_map<std::string, Definition> all;
  for (size_t t = 0; t < texts.size(); ++t) {
    for (const codegen::Helper& h : texts[t].helpers) {
      auto [at, is_new] = all.try_emplace(h.name, h.features, t);
      at->second.is_shared |= !is_new;
      at->second.differs |= at->second.features != h.features;
    }
  }
  for (size_t t = 0; t < texts.size(); ++t) {
    for (codegen::Helper& h : texts[t].helpers) {
      const Definition& d = all.at(h.name);
      if (d.differs) continue;
      if (d.is_shared) (d.first == t ? texts[t].shared : texts[t].elsewhere).push_back(h.name);
      if (d.first == t && h.form.is_shareable) texts[t].forms.push_back(std::move(h.form));
    }
  }
}

void ShareBodiesOf(std::span<codegen::KernelText> texts) {
  std::vector<const std::vector<codegen::FunctionForm>*> modules;
  for (const codegen::KernelText& text : texts) modules.push_back(&text.forms);
  std::vector<std::vector<codegen::SharedBody>> bodies = codegen::ShareBodies(modules);
  for (size_t t = 0; t < texts.size(); ++t) texts[t].bodies = std::move(bodies[t]);
}

// What is known of an image before it is made.
KernelImage ImageOf(const std::vector<KernelPlan>& plans, const Machine& machine) {
  KernelImage image;
  image.cpu_features = machine.level;
  std::set<std::string> features;
  for (const KernelPlan& plan : plans) {
    image.names.push_back(plan.name);
    for (const std::string& feature : ExpandFeatures(plan.features)) {
      if (features.insert(feature).second) image.cpu_features += fmt::format(",{}", feature);
    }
  }
  return image;
}

// Whether the image is there.
bool TakeKept(const ObjectCache& cache, const ObjectCache::Key& key, KernelImage* image) {
  const std::optional<std::vector<char>> kept = cache.Find(key);
  if (!kept) return false;
  image->elf.assign(kept->begin(), kept->end());
  auto entries = codegen::FindFunctions(image->elf, image->names);
  if (!entries.ok()) return false;
  image->entry_offsets = *std::move(entries);
  return true;
}

// What the host throws would leave a thread.
Status Tell(const KernelOptions& options, size_t done, size_t total) {
  return Guarded([&] {
    if (options.on_kernels) options.on_kernels(done, total);
    return OkStatus();
  });
}

}  // namespace

Result<KernelImage> KernelCompiler::Finish() {
  Impl& impl = *impl_;
  const KernelOptions& options = impl.options;
  KernelImage image = ImageOf(impl.plans, options.machine);
  if (impl.plans.empty()) return image;
  const std::vector<int> levels = ChooseLevels(impl.runs, options, impl.plans);
  const std::vector<Group> groups = GroupsOf(impl.plans, levels, options.opt_level);
  const size_t num_texts = groups.size();
  const std::optional<ObjectCache::Key> key = impl.key.Of(options, levels);
  if (key && TakeKept(*options.cache, *key, &image)) {
    image.times.objects = image.times.found = num_texts;
    RELAYVM_RETURN_IF_ERROR(Tell(options, impl.plans.size(), impl.plans.size()));
    return image;
  }
  const size_t wanted =
      options.num_threads > 0 ? options.num_threads : std::thread::hardware_concurrency();
  const size_t num_threads = std::min(std::max<size_t>(wanted, 1), num_texts);
  // Until one fails. What a thread throws for want of memory would leave it.
  auto for_each = [&](std::span<const size_t> order, const std::function<Status(size_t t)>& make) {
    std::vector<Status> made(num_texts);
    std::atomic<size_t> next{0};
    RunOnThreads(num_threads, [&] {
      for (size_t t = next++; t < num_texts; t = next++) {
        Status& status = made[order[t]];
        status = Guarded([&] { return make(order[t]); });
        if (!status.ok()) next = num_texts;
      }
    });
    const auto failed = std::ranges::find_if(made, [](const Status& s) { return !s.ok(); });
    return failed == made.end() ? OkStatus() : std::move(*failed);
  };

  std::vector<size_t> order(num_texts);
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<codegen::KernelText> texts(num_texts);
  RELAYVM_RETURN_IF_ERROR(for_each(order, [&](size_t t) -> Status {
    RELAYVM_ASSIGN_OR_RETURN(texts[t], impl.backend.Emit(groups[t].plans, options));
    texts[t].opt_level = groups[t].opt_level;
    return OkStatus();
  }));
  ShareHelpers(texts);
  ShareBodiesOf(texts);

  // What takes longest is first, so that threads end together.
  std::ranges::stable_sort(order, std::greater(), [&](size_t t) {
    return texts[t].opt_level > 0 ? texts[t].bitcode.size() : 0;
  });
  std::vector<codegen::KernelCode> outputs(num_texts);
  std::atomic<size_t> done{0};
  RELAYVM_RETURN_IF_ERROR(for_each(order, [&](size_t t) -> Status {
    RELAYVM_ASSIGN_OR_RETURN(outputs[t], impl.backend.Translate(texts[t], options));
    texts[t].work = nullptr;
    const size_t count = groups[t].plans.size();
    const size_t all = done += count;
    return Tell(options, all, impl.plans.size());
  }));

  for (const codegen::KernelText& text : texts) image.times.emission += text.times.emission;
  std::vector<std::vector<char>> objects;
  for (codegen::KernelCode& code : outputs) {
    objects.push_back(std::move(code.object));
    image.llvm_ir += code.llvm_ir;
    image.assembly += code.assembly;
    image.times.emission += code.times.emission;
    image.times.optimisation += code.times.optimisation;
    image.times.code_generation += code.times.code_generation;
    image.times.objects += code.times.objects;
    image.times.found += code.times.found;
    std::ranges::move(code.times.kernels, std::back_inserter(image.times.kernels));
  }
  RELAYVM_RETURN_IF_ERROR(impl.backend.Link(objects, options.stop, &image));
  if (key)
    options.cache->Store(*key, {reinterpret_cast<const char*>(image.elf.data()), image.elf.size()});
  return image;
}

}  // namespace relayvm
