#include "compiler/regions/choose_regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "compiler/ir/region.h"
#include "compiler/ir/walk.h"
#include "compiler/regions/partition_graph.h"

namespace relayvm::regions {
namespace {

std::vector<std::vector<Dim>> ShapesOf(const std::vector<const ir::Var*>& params) {
  std::vector<std::vector<Dim>> shapes;
  for (const ir::Var* p : params) {
    if (const auto* tensor = p->type->As<TensorType>()) shapes.push_back(tensor->shape);
  }
  return shapes;
}

class Chooser {
 public:
  Chooser(const ir::Module& m, const RegionMeasure& measure) : m_(m), measure_(measure) {
    const auto& params = m.functions.at(m.entry)->params;
    entry_ = ShapesOf(params);
    defaults_ = tuner::DefaultSampleSizes(entry_);
  }

  Result<ir::Module> Run(std::string* table) {
    FindCalls();
    ir::Module out = m_;
    *table = fmt::format("{:<36} {:<20} {:>12} {:>12} {:>7}  {}\n", "region", "sizes", "native us",
                         "engine us", "ratio", "runs");
    for (auto& [name, f] : out.functions) {
      const std::string engine = ir::TextAttr(*f, ir::kCompilerAttr);
      if (engine.empty()) continue;
      std::string measured;
      RELAYVM_ASSIGN_OR_RETURN(const bool stays, Measure(name, *f, engine, table, &measured));
      if (!stays) f = Plain(*f, engine, measured);
    }
    RELAYVM_RETURN_IF_ERROR(CheckWhole(&out, table));
    return out;
  }

 private:
  const ir::Function* Plain(const ir::Function& f, const std::string& engine,
                            const std::string& measured) const {
    ir::Function plain = f;
    plain.attrs = {{kPrunedAttr, engine}, {kMeasuredAttr, measured}};
    return m_.arena->New<ir::Function>(std::move(plain));
  }

  // What a region's neighbours lose by it shows in the whole program: where that is not faster with
  // those that stay, none does. A program that cannot be run on random data is not measured.
  Status CheckWhole(ir::Module* out, std::string* table) const {
    const auto& params = m_.functions.at(m_.entry)->params;
    const bool has_regions = std::ranges::any_of(out->functions, [](const auto& f) {
      return !ir::TextAttr(*f.second, ir::kCompilerAttr).empty();
    });
    if (!has_regions || entry_.size() != params.size()) return OkStatus();
    const std::vector<ShapeSample> samples = Samples(entry_, defaults_, /*only_entry=*/true);
    const auto times = measure_.time(*out, samples);
    if (!times.ok()) {
      if (times.status().code() == StatusCode::kCancelled) return times.status();
      *table += fmt::format("{:<36} not measured: {}\n", "the program", times.status().message());
      return OkStatus();
    }
    const bool is_faster = std::ranges::all_of(
        *times, [](const auto& t) { return t.engine_us <= kWholeFaster * t.native_us; });
    AddRows("the program", samples, *times, is_faster ? "with these" : "native", table);
    if (is_faster) return OkStatus();
    for (auto& [name, f] : out->functions) {
      const std::string engine = ir::TextAttr(*f, ir::kCompilerAttr);
      if (!engine.empty()) f = Plain(*f, engine, "faster by itself, and the whole program slower");
    }
    return OkStatus();
  }

  static void AddRows(const std::string& name, const std::vector<ShapeSample>& samples,
                      const std::vector<RegionTime>& times, const std::string& runs,
                      std::string* table) {
    for (size_t i = 0; i < times.size(); ++i) {
      *table += fmt::format("{:<36} {:<20} {:>12.2f} {:>12.2f} {:>7.2f}  {}\n", name,
                            samples[i].name.empty() ? "-" : samples[i].name, times[i].native_us,
                            times[i].engine_us, times[i].native_us / times[i].engine_us, runs);
    }
  }

  // The first call of each region.
  void FindCalls() {
    for (const auto& [name, f] : m_.functions) {
      ir::ForEachBinding(*f->body, [&](const ir::Binding& b) {
        const auto* call = b.value->As<ir::CallExpr>();
        const auto* g =
            call == nullptr ? nullptr : std::get_if<const ir::GlobalVar*>(&call->callee);
        if (g != nullptr) calls_.try_emplace((*g)->name, call);
      });
    }
  }

  // A size for each symbol; what is sampled of it, of several names in turn, by number.
  int64_t SizeOf(const Dim& symbol, const tuner::SampleSizes& defaults, size_t number,
                 std::map<std::string, int64_t>* named) const {
    const auto given = measure_.samples.find(symbol.symbol_name());
    const auto usual = defaults.find(symbol.symbol_name());
    const std::vector<int64_t> sizes = given != measure_.samples.end() ? given->second
                                       : usual != defaults.end()       ? usual->second
                                                                       : std::vector<int64_t>{16};
    const int64_t size = sizes[std::min(number, sizes.size() - 1)];
    (*named)[symbol.symbol_name()] = size;
    return size;
  }

  std::optional<ShapeSample> SampleOf(const std::vector<std::vector<Dim>>& shapes,
                                      const tuner::SampleSizes& defaults, size_t number,
                                      bool only_entry) const {
    std::map<uint32_t, int64_t> sizes;
    std::map<std::string, int64_t> named;
    const auto take = [&](const std::vector<std::vector<Dim>>& of) {
      for (const auto& shape : of) {
        for (const Dim& d : shape) {
          d.ForEachSymbol([&](const Dim& s) {
            if (!sizes.contains(s.symbol_id()))
              sizes[s.symbol_id()] = SizeOf(s, defaults, number, &named);
          });
        }
      }
    };
    take(only_entry ? entry_ : shapes);
    ShapeSample sample;
    for (const auto& shape : shapes) {
      std::vector<int64_t>& numbers = sample.shapes.emplace_back();
      for (const Dim& d : shape) {
        const auto value = d.Evaluate([&](uint32_t id) -> std::optional<int64_t> {
          const auto at = sizes.find(id);
          return at == sizes.end() ? std::nullopt : std::optional(at->second);
        });
        if (!value || *value < 0) return std::nullopt;
        numbers.push_back(*value);
      }
    }
    for (const auto& [name, size] : named)
      sample.name += fmt::format("{}{}={}", sample.name.empty() ? "" : " ", name, size);
    return sample;
  }

  std::vector<ShapeSample> SamplesOf(const std::string& name, const ir::Function& f) const {
    std::vector<std::vector<Dim>> shapes = ShapesOf(f.params);
    tuner::SampleSizes defaults = tuner::DefaultSampleSizes(shapes);
    bool only_entry = false;
    if (const auto call = calls_.find(name); call != calls_.end()) {
      std::vector<std::vector<Dim>> at_call;
      for (const ir::Atom& a : call->second->args)
        at_call.push_back(ir::AtomType(m_, a)->As<TensorType>()->shape);
      if (SampleOf(at_call, defaults_, 0, true)) {
        shapes = std::move(at_call);
        defaults = defaults_;
        only_entry = true;
      }
    }
    return Samples(shapes, defaults, only_entry);
  }

  std::vector<ShapeSample> Samples(const std::vector<std::vector<Dim>>& shapes,
                                   const tuner::SampleSizes& defaults, bool only_entry) const {
    constexpr size_t kMostSamples = 8;
    std::vector<ShapeSample> samples;
    for (size_t i = 0; i < kMostSamples; ++i) {
      auto sample = SampleOf(shapes, defaults, i, only_entry);
      if (!sample || (!samples.empty() && samples.back().shapes == sample->shapes)) break;
      samples.push_back(*std::move(sample));
    }
    return samples;
  }

  // A program of this region alone.
  ir::Module Alone(const std::string& name, const ir::Function& f) const {
    ir::Module alone = m_;
    alone.entry = "main";
    alone.symbols.clear();
    alone.contents.clear();
    alone.typed = nullptr;
    alone.functions = {{name, &f}};
    ir::Function main;
    ir::CallExpr call{m_.arena->New<ir::GlobalVar>(ir::GlobalVar{name}), {}, {}};
    std::map<uint32_t, Dim> symbols;
    for (const ir::Var* p : f.params) {
      const ir::Type type = ir::MapDims(p->type, [&](const Dim& d) {
        if (!d.is_symbol()) return d;
        const auto [at, inserted] = symbols.try_emplace(d.symbol_id());
        if (inserted) at->second = Dim::Symbol(m_.ids->Next(), d.symbol_name());
        return at->second;
      });
      main.params.push_back(ir::MakeVar(m_, fmt::format("x{}", main.params.size()), type, f.span));
      call.args.emplace_back(main.params.back());
    }
    const ir::Var* result = ir::MakeVar(m_, "", nullptr, f.span);
    ir::Block body;
    body.bindings.push_back({result, ir::MakeExpr(m_, std::move(call), f.span)});
    body.result = result;
    main.body = m_.arena->New<ir::Block>(std::move(body));
    main.span = f.span;
    alone.functions.emplace("main", m_.arena->New<ir::Function>(std::move(main)));
    return alone;
  }

  Result<bool> Measure(const std::string& name, const ir::Function& f, const std::string& engine,
                       std::string* table, std::string* measured) const {
    const std::vector<ShapeSample> samples = SamplesOf(name, f);
    auto times = measure_.time(Alone(name, f), samples);
    if (!times.ok()) {
      if (times.status().code() == StatusCode::kCancelled) return times.status();
      *table +=
          fmt::format("{:<36} not measured, runs native: {}\n", name, times.status().message());
      *measured = "and could not be measured: " + times.status().message();
      return false;
    }
    double logs = 0;
    bool is_slower = samples.empty();
    for (const RegionTime& t : *times) {
      logs += std::log(t.engine_us / t.native_us);
      is_slower = is_slower || t.engine_us > t.native_us;
    }
    const bool stays = !is_slower && std::exp(logs / static_cast<double>(times->size())) <= kFaster;
    AddRows(name, samples, *times, stays ? engine : "native", table);
    for (size_t i = 0; i < times->size(); ++i) {
      const RegionTime& t = (*times)[i];
      *measured +=
          fmt::format("{}{:.2f} us, natively {:.2f}{}{}", i == 0 ? "in " : "; ", t.engine_us,
                      t.native_us, samples[i].name.empty() ? "" : " at ", samples[i].name);
    }
    if (samples.empty()) *measured = "and has no sizes to measure it at";
    return stays;
  }

  const ir::Module& m_;
  const RegionMeasure& measure_;
  std::vector<std::vector<Dim>> entry_;
  tuner::SampleSizes defaults_;
  std::map<std::string, const ir::CallExpr*> calls_;
};

}  // namespace

Result<ir::Module> ChooseRegions(const ir::Module& m, const RegionMeasure& measure,
                                 std::string* table) {
  return Chooser(m, measure).Run(table);
}

}  // namespace relayvm::regions
