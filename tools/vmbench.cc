// vmbench: measures a server of the Open Inference Protocol under open-loop load. The command line
// is the user's contract:
//
//   vmbench --server URL NAME[/VERSION] --input ARG ... [--lengths FILE] [--rate R,R,...|max]
//           [--fixed] [--duration SECONDS] [--connections N] [--bound p99=20ms|p99=3x]
//           [--format binary|json] [--svg FILE] [--csv FILE] [--latencies FILE] [--seed N]
//           [--server-token-file FILE] [--server-ca FILE]
//
// Prints a table; with --bound, the highest rate whose latencies stay below. Exit status: 0 done, 1
// wrong usage, 2 it could not begin, 3 requests failed. Tested by serve/tests/run_client.py.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>

#include "tools/cli/command_line.h"
#include "tools/cli/option_forms.h"
#include "tools/serve/bench/load.h"
#include "tools/serve/bench/report.h"
#include "tools/serve/client/remote_executor.h"
#include "tools/values/input.h"

namespace relayvm::serve {
namespace {

using tools::Exit;

constexpr std::string_view kLength = "{n}";

constexpr const char* kRequests = "Requests";
constexpr const char* kLoad = "Load";
constexpr const char* kResults = "Results";

constexpr tools::OptionForm kForms[] = {
    {"--input", kRequests, "VALUE"},
    {"--lengths", kRequests, "FILE"},
    {"--format", kRequests},
    {"--seed", kRequests, "N"},
    {"--rate", kLoad, "N,N,...|max"},
    {"--fixed", kLoad},
    {"--duration", kLoad, "SECONDS"},
    {"--connections", kLoad, "N"},
    {"--bound", kLoad, "p99=20ms|p99=3x"},
    {"--svg", kResults, "FILE"},
    {"--csv", kResults, "FILE"},
    {"--latencies", kResults, "FILE"},
};

struct Bound : LatencyBound {
  double times = 0;  // of the latency of one request alone, where `ms` says nothing
};

struct Flags {
  ServerFlags server;
  std::string model, lengths, rate = "100", bound_text, format = "binary", svg, csv, latencies;
  std::vector<std::string> inputs;
  LoadOptions load;
  bool is_fixed = false;

  std::vector<double> rates;
  std::optional<Bound> bound;

  void AddTo(CLI::App& app);
  Status Finish(const CLI::App& app);
};

Status Invalid(std::string text) { return {StatusCode::kInvalidArgument, std::move(text)}; }

void Flags::AddTo(CLI::App& app) {
  app.add_option("MODEL", model, "a model of the server: NAME or NAME/VERSION")->required();
  server.AddTo(app);
  app.add_option("--input", inputs,
                 "as vmrun's: ids=1x128xi64=random, x=@a.npy, ...; {n} is each number of --lengths "
                 "in turn")
      ->allow_extra_args(false);
  app.add_option("--lengths", lengths, "a file of sizes, one a line: those of real requests");
  app.add_option("--rate", rate,
                 "requests a second, several of them: 100,200,400; max: each connection asks when "
                 "it has its answer (default: 100)");
  app.add_flag("--fixed", is_fixed, "at equal distances (default: as Poisson's, at random)");
  app.add_option(
      "--duration", load.seconds,
      "of each rate, in seconds (default: 5); with --bound, of those that hold, at least");
  app.add_option("--connections", load.connections, "at the most (default: 64)");
  app.add_option("--bound", bound_text,
                 "find the highest rate at which p99=20ms holds; p99=3x: of a request alone. Each "
                 "rate goes on until ten requests may be late: 1000 for p99");
  app.add_option("--format", format, "of tensors: binary or json (default: binary)")
      ->check(CLI::IsMember({"binary", "json"}));
  app.add_option("--svg", svg, "a picture of the latencies");
  app.add_option("--csv", csv, "the table for programs");
  app.add_option("--latencies", latencies, "each request's, for programs");
  app.add_option("--seed", load.seed, "of arrivals and of random inputs (default: 1)");
  tools::ShowOptions(app, kForms);
  app.footer(
      "Exit status: 0 done, 1 wrong usage, 2 it could not begin, 3 requests failed.\n\n"
      "Examples:\n"
      "  vmbench --server http://127.0.0.1:8000 resnet --input 1x3x224x224xf32=random --rate "
      "50,100\n"
      "  vmbench --server http://127.0.0.1:8000 resnet --input 1x3x224x224xf32=random --bound "
      "p99=20ms");
}

// NaN where it is no finite number.
double ParseDouble(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number))
    return NAN;
  return number;
}

Result<Bound> ParseBound(std::string_view text) {
  Bound bound;
  const size_t equals = std::min(text.find('='), text.size());
  const std::string_view value = text.substr(std::min(equals + 1, text.size()));
  if (text.starts_with('p')) bound.percent = ParseDouble(text.substr(1, equals - 1));
  if (value.ends_with("ms")) bound.ms = ParseDouble(value.substr(0, value.size() - 2));
  if (value.ends_with('x')) bound.times = ParseDouble(value.substr(0, value.size() - 1));
  if (!text.starts_with('p') || !(bound.percent > 0 && bound.percent <= 100) ||
      !(bound.ms + bound.times > 0))
    return Invalid("--bound: expected p99=20ms or p99=3x");
  return bound;
}

Status Flags::Finish(const CLI::App& app) {
  if (!server.is_given()) return Invalid("expected --server URL");
  RELAYVM_RETURN_IF_ERROR(server.Check(app));
  for (std::string_view rest = rate; !rest.empty();) {
    const size_t end = std::min(rest.find(','), rest.size());
    const std::string_view text = rest.substr(0, end);
    const double number = text == "max" ? 0 : ParseDouble(text);
    if (text != "max" && !(number > 0)) return Invalid("--rate: expected numbers above 0, or max");
    rates.push_back(number);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (rates.empty()) return Invalid("--rate: expected a number");
  if (!bound_text.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(bound, ParseBound(bound_text));
  }
  load.is_poisson = !is_fixed;
  return OkStatus();
}

Result<std::vector<std::string>> ReadLengths(const std::string& path) {
  constexpr size_t kMaxLengths = 100'000;
  std::ifstream file(path);
  if (!file) return Status(StatusCode::kNotFound, path + ": it cannot be read");
  std::vector<std::string> lengths;
  for (std::string line; std::getline(file, line) && lengths.size() < kMaxLengths;) {
    if (line.empty()) continue;
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    if (error != std::errc() || end != line.data() + line.size())
      return Status(StatusCode::kInvalidInput,
                    fmt::format("{}: line {}: expected a number", path, lengths.size() + 1));
    lengths.push_back(line);
  }
  if (lengths.empty()) return Status(StatusCode::kInvalidInput, path + ": it has no numbers");
  return lengths;
}

std::string Replaced(std::string text, const std::string& length) {
  for (size_t at = 0; (at = text.find(kLength, at)) != std::string::npos; at += length.size())
    text.replace(at, kLength.size(), length);
  return text;
}

Result<LoadRequest> MakeRequest(const RemoteModel& model, const Flags& flags,
                                const std::string& length) {
  Program program;
  program.exports.push_back(ExportOf(model, "main"));
  const ExportInfo& function = program.exports.front();
  tools::TypeTable types(program);
  std::vector<std::string> args;
  for (const std::string& input : flags.inputs) args.push_back(Replaced(input, length));
  RELAYVM_ASSIGN_OR_RETURN(std::vector<Value> values, tools::ReadInputs(types, function, args));
  InferRequest infer;
  for (size_t i = 0; i < values.size(); ++i)
    infer.inputs.push_back({function.param_names[i], std::move(values[i])});
  const bool is_binary = flags.format == "binary";
  infer.binary_output = is_binary;
  RELAYVM_ASSIGN_OR_RETURN(InferBody body, WriteInferRequest(infer, is_binary));
  LoadRequest request{ModelPath(flags.model) + "/infer", std::move(body.json), {}};
  if (is_binary) {
    request.headers = {{"Content-Type", "application/octet-stream"},
                       {"Inference-Header-Content-Length", std::to_string(request.body.size())}};
  } else {
    request.headers = {{"Content-Type", "application/json"}};
  }
  for (const HttpPiece& piece : body.pieces)
    request.body.append(reinterpret_cast<const char*>(piece.bytes.data()), piece.bytes.size());
  return request;
}

Result<std::vector<LoadRequest>> MakeRequests(const RemoteModel& model, const Flags& flags) {
  constexpr size_t kMaxBytes = size_t{2} << 30;
  std::vector<std::string> lengths = {""};
  if (!flags.lengths.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(lengths, ReadLengths(flags.lengths));
  }
  std::vector<LoadRequest> requests;
  size_t bytes = 0;
  for (const std::string& length : lengths) {
    RELAYVM_ASSIGN_OR_RETURN(requests.emplace_back(), MakeRequest(model, flags, length));
    bytes += requests.back().body.size();
    if (bytes > kMaxBytes) break;
  }
  return requests;
}

// The highest rate at which the bound holds, to 5 percent: doubled until it does not, then halved.
// Each is asked for as many requests as the percentile needs, and no longer than it may hold.
Status Search(const HttpClientOptions& server, const std::vector<LoadRequest>& requests,
              const Flags& flags, std::vector<LoadResult>* results) {
  LatencyBound bound = *flags.bound;
  if (flags.bound->times > 0) {
    LoadOptions alone = flags.load;
    alone.rate = 0;
    alone.connections = 1;
    alone.seconds = std::min(alone.seconds, 3.0);
    RELAYVM_ASSIGN_OR_RETURN(const LoadResult one, RunLoad(server, requests, alone));
    bound.ms = flags.bound->times * one.percentile_ms(50);
    fmt::print("a request alone: {:.3f} ms, bound: {:.3f} ms\n", one.percentile_ms(50), bound.ms);
  }
  LoadOptions options = flags.load;
  options.bound = bound;
  const auto holds = [&](double rate) -> Result<bool> {
    options.rate = rate;
    options.seconds = std::max(flags.load.seconds, bound.least_requests() / rate);
    if (rate * options.seconds > kMaxArrivals) return false;
    RELAYVM_ASSIGN_OR_RETURN(results->emplace_back(), RunLoad(server, requests, options));
    return results->back().percentile_ms(bound.percent) <= bound.ms;
  };
  double good = 0, bad = 0;
  for (double rate = flags.rates.front() > 0 ? flags.rates.front() : 100;
       bad == 0 || bad > good * 1.05; rate = bad == 0 ? good * 2 : (good + bad) / 2) {
    RELAYVM_ASSIGN_OR_RETURN(const bool is_good, holds(rate));
    (is_good ? good : bad) = rate;
    if (bad > 0 && bad < 0.5) break;
  }
  const auto best = std::ranges::find(*results, good, &LoadResult::rate);
  fmt::print("throughput at p{:g} <= {:.3f} ms: {:.1f} a second\n", bound.percent, bound.ms,
             best == results->end() ? 0 : best->throughput());
  std::ranges::sort(*results, {}, &LoadResult::rate);
  return OkStatus();
}

Status Write(const std::string& path, const std::string& text) {
  if (path.empty()) return OkStatus();
  std::ofstream file(path);
  file << text;
  file.close();
  return file ? OkStatus() : Status(StatusCode::kInvalidInput, path + ": it cannot be written");
}

Exit Measure(const Flags& flags) {
  const auto failed = [](const Status& status) {
    return tools::Report("vmbench", status, Exit::kBadInput);
  };
  const auto server = flags.server.MakeOptions();
  if (!server.ok()) return failed(server.status());
  const auto model = RemoteModel::Connect(*server, flags.model);
  if (!model.ok()) return failed(model.status());
  const auto requests = MakeRequests(**model, flags);
  if (!requests.ok()) return failed(requests.status());
  std::vector<LoadResult> results;
  if (flags.bound) {
    if (Status s = Search(*server, *requests, flags, &results); !s.ok()) return failed(s);
  } else {
    for (const double rate : flags.rates) {
      LoadOptions options = flags.load;
      options.rate = rate;
      auto result = RunLoad(*server, *requests, options);
      if (!result.ok()) return failed(result.status());
      results.push_back(*std::move(result));
    }
  }
  fmt::print("{}", LoadTable(results));
  for (const auto& [path, text] :
       {std::pair(flags.csv, LoadCsv(results)), std::pair(flags.latencies, LoadLatencies(results)),
        std::pair(flags.svg, LoadSvg(flags.model, results))}) {
    if (Status s = Write(path, text); !s.ok()) return failed(s);
  }
  for (const LoadResult& result : results) {
    if (result.failed == 0 || flags.bound) continue;
    return tools::Report("vmbench", {StatusCode::kInternal, result.first_failure},
                         Exit::kRunFailed);
  }
  return Exit::kDone;
}

int Main(int argc, char** argv) {
  CLI::App app("Measures a model on a server of the Open Inference Protocol.", "vmbench");
  Flags flags;
  flags.AddTo(app);
  if (auto done = tools::ParseCommandLine(app, {argv + 1, argv + argc}, tools::HintInput))
    return *done;
  if (Status s = flags.Finish(app); !s.ok())
    return static_cast<int>(tools::Report("vmbench", s, Exit::kUsage));
  return static_cast<int>(Measure(flags));
}

}  // namespace
}  // namespace relayvm::serve

int main(int argc, char** argv) {
  return relayvm::tools::GuardedMain("vmbench", [&] { return relayvm::serve::Main(argc, argv); });
}
