// vmserve: serves compiled models by the Open Inference Protocol. The command line is the user's
// contract:
//
//   vmserve --models DIR [--model NAME=FILE.vmx ...] [--host 127.0.0.1] [--http-port 8000]
//           [--grpc-port 8001] [--metrics-port 8002] [--workers N] [--threads N] [--io-threads N]
//           [--spin US]
//           [--max-queue N] [--timeout SECONDS] [--memory-limit SIZE] [--run-memory-limit SIZE]
//           [--max-body SIZE] [--max-connections N] [--max-client-requests N] [--poll SECONDS]
//           [--versions N|all] [--loaders N] [--compiler PATH] [--cache DIR] [--cache-limit SIZE]
//           [--drain SECONDS] [--access-log FILE|-] [--otlp-endpoint URL]
//           [--trace-sample PART] [--profile-interval N] [--tls-cert FILE --tls-key FILE]
//           [--token-file FILE] [--end-with-input]
//           [--max-batch N] [--max-delay MS] [--max-memory SIZE]
//
// It prints the ports that it listens on, loads its models meanwhile, and prints a line "ready"
// once all have been tried; ends on SIGTERM and SIGINT once what it has accepted is answered, and
// looks at its models again on SIGHUP. Exit status: 0 ended so, 1 wrong usage, 2 it could not
// begin. Tested by serve/tests/run_serve.py.
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "bytecode/base/machine_limits.h"
#include "tools/cli/command_line.h"
#include "tools/cli/option_forms.h"
#include "tools/serve/access.h"
#include "tools/serve/dispatcher.h"
#include "tools/serve/grpc/grpc_server.h"
#include "tools/serve/model_memory.h"
#include "tools/serve/model_profile.h"
#include "tools/serve/protocol/token.h"
#include "tools/serve/repository.h"
#include "tools/serve/routes.h"
#include "tools/serve/telemetry.h"
#include "tools/values/run.h"

namespace relayvm::serve {
namespace {

using Clock = std::chrono::steady_clock;
using tools::Exit;

struct Flags {
  std::string models, host = "127.0.0.1", compiler, cache;
  std::vector<std::string> files;
  uint16_t http_port = 8000, metrics_port = 8002;
  std::optional<uint16_t> grpc_port;
  uint32_t io_threads = 0;
  std::optional<uint32_t> spin;
  double timeout = 0, poll = 2, drain = 30, max_delay = 0;
  std::optional<int64_t> max_batch;
  bool end_with_input = false;
  std::string memory_limit, run_memory_limit, max_memory, max_body = "64MiB";
  std::string cache_limit, versions = "1", certificate, key, token_file, token;
  DispatcherOptions dispatcher;
  HttpOptions http;
  GrpcOptions grpc;
  RepositoryOptions repository;
  TelemetryOptions telemetry;
  uint32_t profile_interval = 1000;

  void AddTo(CLI::App& app);
  Status Finish();
};

void Flags::AddTo(CLI::App& app) {
  app.add_option("--models", models,
                 "a folder with DIR/NAME/VERSION/model.vmx or model.onnx, which relayc compiles");
  app.add_option("--model", files, "NAME=FILE.vmx: one more model");
  app.add_option("--host", host,
                 "the address to listen on (default: 127.0.0.1, this machine's own)");
  app.add_option("--http-port", http_port, "of the protocol's REST form (default: 8000; 0: any)");
  app.add_option("--grpc-port", grpc_port,
                 "of its gRPC form (default: 8001, and any where --http-port is 0; 0: any)");
  app.add_option("--metrics-port", metrics_port,
                 "of /metrics for Prometheus (default: 8002; 0: any)");
  app.add_option("--workers", dispatcher.workers,
                 "threads that run models (default: as many as the machine has)");
  app.add_option("--threads", dispatcher.kernel_threads,
                 "threads for the kernels of one run (default: 1; 0: as many as the machine has)");
  app.add_option("--io-threads", io_threads,
                 "threads for connections (default: as many as the machine has, up to 4)");
  app.add_option(
      "--max-queue", dispatcher.max_queued,
      "requests of a model that wait; above that, they are refused with 503 (default: 1000)");
  app.add_option("--max-batch", max_batch,
                 "rows of requests that run together, where a model's config.json says that they "
                 "are independent, and runs that share kernels, of files that relayc --batching "
                 "made, as are then those of .onnx here (default: 32; 1: none)");
  app.add_option("--max-delay", max_delay,
                 "milliseconds that requests wait for others to join (default: 0: those that come "
                 "while others run)");
  app.add_option("--spin", spin,
                 "microseconds that these look for more to do before they sleep (default: 50, on a "
                 "machine of one processor 0)");
  app.add_option("--timeout", timeout,
                 "seconds for a request that says none by X-Request-Timeout-Ms or its parameter "
                 "timeout (microseconds); default: none");
  app.add_option("--memory-limit", memory_limit, "of all runs together: 64MiB, 1GB, ...");
  app.add_option("--run-memory-limit", run_memory_limit, "of one run");
  app.add_option("--max-memory", max_memory,
                 "of all requests that are admitted together: their inputs, and what their model's "
                 "file says that a run of their shapes holds; others are refused");
  app.add_option("--max-body", max_body, "the largest request (default: 64MiB)");
  app.add_option("--max-connections", http.max_connections, "at a time (default: 20000)");
  app.add_option("--max-client-requests", http.max_client_requests,
                 "of one address at a time, by either protocol; more are refused with 429 "
                 "(default: no limit)");
  app.add_option(
      "--poll", poll,
      "how often to look for new and changed models, in seconds (default: 2; 0: on SIGHUP)");
  app.add_option("--compiler", compiler, "relayc, for .onnx (default: the one beside vmserve)");
  app.add_option("--cache", cache,
                 "the folder for what it compiled (default: relayvm/served in ~/.cache or "
                 "XDG_CACHE_HOME)");
  app.add_option("--cache-limit", cache_limit,
                 "bytes of that folder, of which the oldest go (default: 16GiB)");
  app.add_option("--versions", versions,
                 "of a model that are served: the latest N, or all (default: 1)");
  app.add_option("--loaders", repository.loaders,
                 "models that are loaded or compiled at a time (default: 2)");
  app.add_option("--drain", drain, "seconds for requests to end on SIGTERM (default: 30)");
  app.add_option("--access-log", telemetry.access_log,
                 "a file that gets a line of JSON for each request; - for standard output; opened "
                 "again on SIGHUP");
  app.add_option("--otlp-endpoint", telemetry.otlp_endpoint,
                 "http://HOST:PORT/v1/traces of a collector of OpenTelemetry, which gets a span "
                 "for each sampled request");
  app.add_option("--trace-sample", telemetry.sample,
                 "of traces that begin here, the part that is sampled (default: 1)");
  app.add_option("--profile-interval", profile_interval,
                 "times one call of a kernel in so many, for /metrics and /v2/models/M/profile "
                 "(default: 1000; 0: none)");
  app.add_flag("--end-with-input", end_with_input,
               "as by SIGTERM, when standard input ends: for a program that starts it");
  app.add_option("--tls-cert", certificate, "a chain of certificates, PEM: TLS on all ports");
  app.add_option("--tls-key", key, "the key of --tls-cert, PEM");
  app.add_option("--token-file", token_file,
                 "a file with a token that requests must carry (Authorization: Bearer TOKEN)");
}

// --help, in groups.
void ShowFlags(CLI::App& app) {
  constexpr const char* kModels = "Models";
  constexpr const char* kListen = "Where it listens";
  constexpr const char* kRun = "Running";
  constexpr const char* kLimits = "Limits";
  constexpr const char* kAccess = "Access";
  constexpr const char* kObserve = "Observing";
  constexpr tools::OptionForm kForms[] = {
      {"--models", kModels, "FOLDER"},
      {"--model", kModels, "NAME=FILE"},
      {"--versions", kModels, "N|all"},
      {"--poll", kModels, "SECONDS"},
      {"--loaders", kModels, "N"},
      {"--compiler", kModels, "PROGRAM"},
      {"--cache", kModels, "FOLDER"},
      {"--cache-limit", kModels, "SIZE"},
      {"--host", kListen, "ADDRESS"},
      {"--http-port", kListen, "PORT"},
      {"--grpc-port", kListen, "PORT"},
      {"--metrics-port", kListen, "PORT"},
      {"--end-with-input", kListen},
      {"--workers", kRun, "N"},
      {"--threads", kRun, "N"},
      {"--io-threads", kRun, "N"},
      {"--max-batch", kRun, "ROWS"},
      {"--max-delay", kRun, "MILLISECONDS"},
      {"--spin", kRun, "MICROSECONDS"},
      {"--max-queue", kLimits, "N"},
      {"--timeout", kLimits, "SECONDS"},
      {"--memory-limit", kLimits, "SIZE"},
      {"--run-memory-limit", kLimits, "SIZE"},
      {"--max-memory", kLimits, "SIZE"},
      {"--max-body", kLimits, "SIZE"},
      {"--max-connections", kLimits, "N"},
      {"--max-client-requests", kLimits, "N"},
      {"--drain", kLimits, "SECONDS"},
      {"--tls-cert", kAccess, "FILE"},
      {"--tls-key", kAccess, "FILE"},
      {"--token-file", kAccess, "FILE"},
      {"--access-log", kObserve, "FILE"},
      {"--otlp-endpoint", kObserve, "URL"},
      {"--trace-sample", kObserve, "PART"},
      {"--profile-interval", kObserve, "N"},
  };
  tools::ShowOptions(app, kForms);
  app.footer(
      "Exit status: 0 ended by SIGTERM or SIGINT, 1 wrong usage, 2 it could not begin.\n\n"
      "Examples:\n"
      "  vmserve --models /srv/models\n"
      "  vmserve --model resnet=resnet.vmx --workers 2 --max-queue 100\n"
      "  vmserve --models /srv/models --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem "
      "--token-file token");
}

std::string DefaultCache() {
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder != nullptr && *folder != '\0')
    return std::string(folder) + "/relayvm/served";
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? "" : std::string(home) + "/.cache/relayvm/served";
}

std::string CompilerBeside() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto path = self.parent_path() / "relayc";
  return std::filesystem::exists(path, error) ? path.string() : "";
}

Status Flags::Finish() {
  const auto invalid = [](std::string text) {
    return Status(StatusCode::kInvalidArgument, std::move(text));
  };
  if (models.empty() && files.empty()) return invalid("expected --models DIR or --model NAME=FILE");
  for (const std::string& file : files) {
    const size_t equals = file.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == file.size())
      return invalid("--model: expected NAME=FILE.vmx, found " + file);
    repository.files.emplace_back(file.substr(0, equals), file.substr(equals + 1));
  }
  const int64_t batch = max_batch.value_or(ServedModel::kDefaultMaxBatch);
  if (batch < 1 || batch > 1 << 20) return invalid("--max-batch: expected 1 to 1048576");
  if (!(max_delay >= 0 && max_delay <= 1000)) return invalid("--max-delay: expected 0 to 1000");
  dispatcher.batching.max_batch = static_cast<size_t>(batch);
  if (max_delay > 0)
    dispatcher.batching.max_wait = std::chrono::nanoseconds(static_cast<int64_t>(max_delay * 1e6));
  repository.compile.batching = max_batch.value_or(1) > 1;
  constexpr double kDay = 86400;
  for (const double seconds : {timeout, poll, drain}) {
    if (!(seconds >= 0 && seconds <= kDay)) return invalid("expected seconds from 0 to a day");
  }
  if (!memory_limit.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(dispatcher.memory_limit, tools::ParseSize(memory_limit));
  }
  if (!run_memory_limit.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(dispatcher.run_memory, tools::ParseSize(run_memory_limit));
  }
  if (!max_memory.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(dispatcher.max_memory, tools::ParseSize(max_memory));
  }
  if (!cache_limit.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(repository.compile.cache_bytes, tools::ParseSize(cache_limit));
  }
  const auto [end, bad] =
      std::from_chars(versions.data(), versions.data() + versions.size(), repository.versions);
  if (versions == "all") {
    repository.versions = SIZE_MAX;
  } else if (bad != std::errc() || *end != '\0' || repository.versions == 0) {
    return invalid("--versions: expected a number or all, found " + versions);
  }
  constexpr uint32_t kMaxLoaders = 64;
  if (repository.loaders < 1 || repository.loaders > kMaxLoaders)
    return invalid("--loaders: expected 1 to 64");
  RELAYVM_ASSIGN_OR_RETURN(http.max_body_bytes, tools::ParseSize(max_body));
  http.max_all_bodies = std::max(http.max_all_bodies, http.max_body_bytes * 2);
  grpc.max_connections = http.max_connections;
  grpc.max_message_bytes = http.max_body_bytes;
  grpc.max_all_messages = http.max_all_bodies;
  grpc.max_client_calls = http.max_client_requests;
  grpc.certificate_file = certificate;
  grpc.key_file = key;
  http.threads = io_threads > 0 ? io_threads : std::min(ReadMachineLimits().num_processors, 4U);
  grpc.threads = http.threads;
  constexpr uint32_t kMaxSpin = 1'000'000;
  if (spin.value_or(0) > kMaxSpin) return invalid("--spin: expected 1000000 at the most");
  const bool is_alone = ReadMachineLimits().num_processors < 2;
  http.spin = std::chrono::microseconds(spin.value_or(is_alone ? 0 : http.spin.count()));
  dispatcher.timeout =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(timeout));
  if (certificate.empty() != key.empty()) return invalid("--tls-cert and --tls-key go together");
  repository.folder = models;
  repository.poll = std::chrono::milliseconds(static_cast<int64_t>(poll * 1000));
  repository.compile.relayc = compiler.empty() ? CompilerBeside() : compiler;
  repository.compile.cache_folder = cache.empty() ? DefaultCache() : cache;
  if (!(telemetry.sample >= 0 && telemetry.sample <= 1))
    return invalid("--trace-sample: expected a number from 0 to 1");
  return OkStatus();
}

// What is read of files: the certificate, its key, the token.
Status ReadSecrets(Flags& flags) {
  if (!flags.token_file.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(flags.token, ReadToken(flags.token_file));
    flags.grpc.token = flags.token;
  }
  if (!flags.certificate.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(flags.http.tls, TlsContext::ForServer(flags.certificate, flags.key));
  }
  const bool is_loopback =
      flags.host == "localhost" || flags.host == "::1" || flags.host.starts_with("127.");
  if (!is_loopback && (flags.token.empty() || flags.http.tls == nullptr)) {
    fmt::print(stderr, "vmserve: warning: listening on {} without {}\n", flags.host,
               flags.token.empty() && flags.http.tls == nullptr
                   ? "--tls-cert and --token-file: whoever reaches it can use and watch it"
               : flags.token.empty() ? "--token-file: whoever reaches it can use it"
                                     : "--tls-cert: its token and data can be read on the way");
  }
  return OkStatus();
}

// What the model's configuration says, and the command line where that says nothing.
Result<ModelConfig> ConfigOf(const Flags& flags, const std::string& name) {
  RELAYVM_ASSIGN_OR_RETURN(ModelConfig config, LoadModelConfig(ConfigPath(flags.repository, name)));
  config.counts_memory = !flags.max_memory.empty();
  if (!config.max_batch) config.max_batch = flags.max_batch;
  if (!config.max_delay)
    config.max_delay = std::chrono::nanoseconds(static_cast<int64_t>(flags.max_delay * 1e6));
  return config;
}

void AddGauges(Metrics& metrics, const HttpServer& server, const GrpcServer& grpc,
               Dispatcher& dispatcher) {
  const auto add = [&](const char* name, const char* help, auto value) {
    metrics.AddGauge(name, help, {}, [value] { return static_cast<double>(value()); });
  };
  add("vmserve_connections", "Open connections", [&] { return server.stats().connections; });
  add("vmserve_body_bytes", "Bytes of requests that are read or answered",
      [&] { return server.stats().body_bytes; });
  add("vmserve_grpc_calls", "Open calls by gRPC", [&] { return grpc.stats().open_calls; });
  add("vmserve_grpc_message_bytes", "Bytes of requests by gRPC that are read or answered",
      [&] { return grpc.stats().message_bytes; });
  add("vmserve_queued_runs", "Runs that have not begun", [&] { return dispatcher.stats().queued; });
  add("vmserve_active_runs", "Runs that have begun and not ended", [&] {
    const SchedulerStats stats = dispatcher.stats();
    return stats.ready + stats.running + stats.waiting;
  });
  add("vmserve_kernel_batches", "Kernels that have run for several runs at once",
      [&] { return dispatcher.stats().batches; });
  add("vmserve_kernel_batched_calls", "The calls of kernels that ran so",
      [&] { return dispatcher.stats().batched_calls; });
  add("vmserve_sequences", "Sequences that have begun and not ended",
      [&] { return dispatcher.sequences().count(); });
  add("vmserve_sequence_bytes", "Memory of their states",
      [&] { return dispatcher.sequences().bytes(); });
  add("vmserve_admitted_bytes", "What requests that were admitted need, with --max-memory",
      [&] { return dispatcher.reserved_memory(); });
  add("vmserve_resident_bytes", "Memory of runs, with what is kept for the next",
      [&] { return dispatcher.runtime().stats().resident_bytes; });
}

// Gives "grpc HOST:PORT", a line; empty where it is built without gRPC, and none was asked for.
Result<std::string> StartGrpc(const Flags& flags, GrpcServer& grpc) {
  constexpr uint16_t kPort = 8001;
  const uint16_t port = flags.grpc_port.value_or(flags.http_port == 0 ? 0 : kPort);
  const auto chosen = grpc.Start(flags.host, port);
  if (chosen.ok()) return fmt::format("grpc {}:{}\n", flags.host, *chosen);
  if (chosen.status().code() == StatusCode::kUnsupported && !flags.grpc_port) return std::string();
  return chosen.status().WithContext("--grpc-port");
}

// Gives memory back where most of many connections have gone: what each had was small, and lies
// between what others have.
class Trimmer {
 public:
  void Look(size_t connections) {
    constexpr size_t kMany = 500;
    most_ = std::max(most_, connections);
    if (most_ < kMany || connections > most_ / 2) return;
    ::malloc_trim(0);
    most_ = connections;
  }

 private:
  size_t most_ = 0;  // since it was given back
};

// Of a version, which keeps them.
void AddModelGauges(Metrics& metrics, Dispatcher& dispatcher, ServedModel& model) {
  const Labels labels = {{"model", model.name()}, {"version", model.version()}};
  const auto add = [&](const char* name, const char* help, auto value) {
    model.Attach(metrics.AddEndingGauge(name, help, labels,
                                        [value] { return static_cast<double>(value()); }));
  };
  add("vmserve_model_queued_runs", "Runs of a model that have not begun",
      [&dispatcher, group = model.group()] { return dispatcher.stats(group).queued; });
  add("vmserve_model_active_runs", "Runs of a model that have begun and not ended",
      [&dispatcher, group = model.group()] { return dispatcher.stats(group).active; });
  const ModelMemory memory = MemoryOf(*model.executable());
  add("vmserve_model_constant_bytes", "Weights of a model, mapped from its file",
      [memory] { return memory.constants; });
  add("vmserve_model_image_bytes", "Kernels of a model", [memory] { return memory.images; });
}

// Ends this process as SIGTERM does when standard input is over: whoever held it has gone.
void EndWithInput() {
  std::thread([] {
    std::array<char, 256> ignored;
    while (::read(STDIN_FILENO, ignored.data(), ignored.size()) > 0) {
    }
    ::kill(::getpid(), SIGTERM);
  }).detach();
}

void SayReady(const Repository& repository) {
  size_t num_ready = 0;
  for (const IndexEntry& entry : repository.Index()) {
    num_ready += entry.is_ready ? 1 : 0;
    if (!entry.reason.empty()) fmt::print(stderr, "vmserve: {}: {}\n", entry.name, entry.reason);
  }
  fmt::print("ready, {} models\n", num_ready);
  std::fflush(stdout);
}

// Until a signal says to end.
void WaitForEnd(const sigset_t& signals, Repository& repository, Telemetry& telemetry,
                const HttpServer& server) {
  constexpr timespec kLook{1, 0};
  Trimmer trimmer;
  for (;;) {
    const int signal = ::sigtimedwait(&signals, nullptr, &kLook);
    if (signal < 0) {
      trimmer.Look(server.stats().connections);
    } else if (signal == SIGHUP) {
      telemetry.Reopen();
      repository.Refresh([](const Status&) {});
    } else {
      return;
    }
  }
}

// Gives the signals that WaitForEnd waits for.
sigset_t PrepareProcess() {
  // Of this thread alone, which those to come inherit.
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  // A file for each connection.
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  return signals;
}

int Serve(Flags& flags) {
  const sigset_t signals = PrepareProcess();
  const auto failed = [](const Status& status) {
    return static_cast<int>(tools::Report("vmserve", status, Exit::kBadInput));
  };
  if (Status s = ReadSecrets(flags); !s.ok()) return failed(s);
  const auto guarded = [&](HttpHandler handler) {
    return flags.token.empty() ? handler : WithToken(flags.token, std::move(handler));
  };
  Metrics metrics;
  auto telemetry = Telemetry::Create(flags.telemetry, metrics);
  if (!telemetry.ok()) return failed(telemetry.status());
  flags.http.observer = flags.grpc.observer = telemetry->get();
  ModelProfiler profiler(flags.profile_interval);
  metrics.AddText([&](std::string* text) { profiler.AppendMetrics(text); });
  flags.dispatcher.trace = &profiler;
  auto dispatcher = Dispatcher::Create(flags.dispatcher);
  if (!dispatcher.ok()) return failed(dispatcher.status());
  auto repository = Repository::Open(
      flags.repository,
      [&](const std::string& name, const std::string& version,
          std::shared_ptr<const Executable> executable)
          -> Result<std::shared_ptr<const ServedModel>> {
        RELAYVM_ASSIGN_OR_RETURN(const ModelConfig config, ConfigOf(flags, name));
        RELAYVM_ASSIGN_OR_RETURN(RunGroup group,
                                 (*dispatcher)->MakeGroup(executable->num_batched_kernels() > 0));
        RELAYVM_ASSIGN_OR_RETURN(
            std::shared_ptr<ServedModel> model,
            ServedModel::Create(name, version, std::move(executable), std::move(group),
                                std::make_shared<ModelMetrics>(metrics, name), config));
        model->Attach(profiler.Watch(name, version, *model->executable()));
        AddModelGauges(metrics, **dispatcher, *model);
        return std::shared_ptr<const ServedModel>(std::move(model));
      });
  if (!repository.ok()) return failed(repository.status());
  Routes routes(**repository, **dispatcher, metrics);
  routes.set_profiler(&profiler);
  HttpServer server(flags.http);
  auto grpc = std::make_unique<GrpcServer>(flags.grpc, **repository, **dispatcher);
  AddGauges(metrics, server, *grpc, **dispatcher);
  const auto http =
      server.Listen(flags.host, flags.http_port,
                    guarded([&](std::shared_ptr<HttpExchange> e) { routes.Handle(std::move(e)); }));
  if (!http.ok()) return failed(http.status());
  const auto scrape = server.Listen(
      flags.host, flags.metrics_port,
      guarded([&](std::shared_ptr<HttpExchange> e) { routes.HandleMetrics(std::move(e)); }));
  if (!scrape.ok()) return failed(scrape.status());
  const auto grpc_line = StartGrpc(flags, *grpc);
  if (!grpc_line.ok()) return failed(grpc_line.status());
  fmt::print("http {}:{}\n{}metrics {}:{}\n", flags.host, *http, *grpc_line, flags.host, *scrape);
  std::fflush(stdout);
  (*repository)->Start([&grpc, models = repository->get()] {
    grpc->SetReady();
    SayReady(*models);
  });
  server.Start();
  if (flags.end_with_input) EndWithInput();

  WaitForEnd(signals, **repository, **telemetry, server);
  routes.SetDraining();
  const Clock::time_point deadline =
      Clock::now() + std::chrono::milliseconds(static_cast<int64_t>(flags.drain * 1000));
  grpc->SetDraining();
  std::thread grpc_drain([&] { grpc->Drain(deadline); });
  server.Drain(deadline);
  grpc_drain.join();
  (*dispatcher)->Drain(deadline).ok();
  (*repository).reset();  // its thread answers exchanges
  (*dispatcher).reset();  // cancels what is left: before the server, which answers that
  return 0;
}

int Main(int argc, char** argv) {
  CLI::App app("Serves compiled models by the Open Inference Protocol (REST), until SIGTERM.",
               "vmserve");
  Flags flags;
  flags.AddTo(app);
  ShowFlags(app);
  if (auto done = tools::ParseCommandLine(app, {argv + 1, argv + argc})) return *done;
  if (Status s = flags.Finish(); !s.ok())
    return static_cast<int>(tools::Report("vmserve", s, Exit::kUsage));
  return Serve(flags);
}

}  // namespace
}  // namespace relayvm::serve

int main(int argc, char** argv) {
  return relayvm::tools::GuardedMain("vmserve", [&] { return relayvm::serve::Main(argc, argv); });
}
