#include "tools/serve/grpc/grpc_server.h"

#include <doctest/doctest.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <sys/resource.h>

#include <future>
#include <thread>

#include "bytecode/base/status_detail.h"
#include "tests/temp_folder.h"
#include "tools/serve/grpc/inference.grpc.pb.h"
#include "tools/serve/grpc/service.h"
#include "tools/serve/routes.h"
#include "tools/serve/sequences.h"
#include "tools/serve/testing.h"

namespace relayvm::serve {
namespace {

using inference::GRPCInferenceService;
using inference::ModelInferRequest;
using inference::ModelInferResponse;
using relayvm::testing::TempFolder;
using std::chrono::milliseconds;

// Each has a connection of its own.
std::shared_ptr<grpc::Channel> NewChannel(uint16_t port) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port),
                                   grpc::InsecureChannelCredentials(), arguments);
}
std::unique_ptr<GRPCInferenceService::Stub> StubOf(uint16_t port) {
  return GRPCInferenceService::NewStub(NewChannel(port));
}

// A server of the models "one", "two" (add 1, 2) and "count", and a client.
struct Fixture {
  explicit Fixture(const GrpcOptions& options = {}, const DispatcherOptions& runs = {})
      : dispatcher(testing::NewDispatcher(runs)), server(options, *repository, *dispatcher) {
    const auto chosen = server.Start("127.0.0.1", 0);
    REQUIRE_MESSAGE(chosen.ok(), chosen.status().message());
    port = *chosen;
    stub = StubOf(port);
  }
  uint64_t answers(const std::string& model, int code) const {
    return (*repository->Find(model))->metrics().answers(code);
  }

  std::string folder = [] {
    char path[] = "/tmp/grpc_server_test_XXXXXX";
    return std::string(::mkdtemp(path));
  }();
  Metrics metrics;
  std::unique_ptr<Dispatcher> dispatcher;
  std::unique_ptr<Repository> repository = [this] {
    testing::Save(testing::kAddOne, folder + "/one/1/model.vmx");
    testing::Save(testing::kCount, folder + "/count/1/model.vmx");
    auto made = Repository::Create({.folder = folder, .poll = milliseconds(0)},
                                   testing::MakeServed(*dispatcher, metrics));
    REQUIRE(made.ok());
    std::filesystem::remove_all(folder);
    return *std::move(made);
  }();
  GrpcServer server;
  uint16_t port = 0;
  std::unique_ptr<GRPCInferenceService::Stub> stub;
};

ModelInferRequest Floats(const std::vector<float>& values) {
  ModelInferRequest request;
  request.set_model_name("one");
  auto* input = request.add_inputs();
  input->set_name("x");
  input->set_datatype("FP32");
  input->add_shape(static_cast<int64_t>(values.size()));
  request.add_raw_input_contents(values.data(), values.size() * sizeof(float));
  return request;
}
ModelInferRequest Count(int64_t from) {
  ModelInferRequest request;
  request.set_model_name("count");
  auto* input = request.add_inputs();
  input->set_name("n");
  input->set_datatype("INT64");
  input->mutable_contents()->add_int64_contents(from);
  return request;
}
constexpr int64_t kForever = int64_t{1} << 60;

float First(const ModelInferResponse& answer) {
  REQUIRE(answer.raw_output_contents_size() == 1);
  float first = 0;
  std::memcpy(&first, answer.raw_output_contents(0).data(), sizeof first);
  return first;
}
struct Answered {
  grpc::Status status;
  ModelInferResponse answer;
  grpc::StatusCode code() const { return status.error_code(); }
};
Answered Infer(GRPCInferenceService::Stub& stub, const ModelInferRequest& request,
               milliseconds timeout = milliseconds(30'000)) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + timeout);
  Answered answered;
  answered.status = stub.ModelInfer(&context, request, &answered.answer);
  return answered;
}
template <typename Condition>
bool Eventually(const Condition& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

TEST_CASE("inference, small and large, and what is wrong in it") {
  Fixture fixture;
  ModelInferRequest request = Floats({1, 2});
  request.set_id("7");
  const Answered small = Infer(*fixture.stub, request);
  REQUIRE_MESSAGE(small.status.ok(), small.status.error_message());
  CHECK(small.answer.id() == "7");
  CHECK(small.answer.model_version() == "1");
  CHECK(First(small.answer) == 2);
  const Answered large = Infer(*fixture.stub, Floats(std::vector<float>(1 << 20, 5)));
  REQUIRE_MESSAGE(large.status.ok(), large.status.error_message());
  CHECK(large.answer.raw_output_contents(0).size() == size_t{4} << 20);
  CHECK(First(large.answer) == 6);

  const auto failure = [&](const auto& change) {
    ModelInferRequest wrong = Floats({1, 2});
    change(wrong);
    return Infer(*fixture.stub, wrong).status;
  };
  const grpc::Status unknown = failure([](auto& r) { r.set_model_name("none"); });
  CHECK(unknown.error_code() == grpc::StatusCode::NOT_FOUND);
  CHECK(unknown.error_message() == "there is no model none");
  CHECK(failure([](auto& r) { r.set_model_version("2"); }).error_code() ==
        grpc::StatusCode::NOT_FOUND);
  const grpc::Status shape = failure([](auto& r) { r.mutable_inputs(0)->add_shape(1); });
  CHECK(shape.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(shape.error_message().find("expected Tensor[(") != std::string::npos);
  CHECK(failure([](auto& r) { r.mutable_inputs(0)->set_shape(0, 3); }).error_code() ==
        grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(failure([](auto& r) { r.add_outputs()->set_name("z"); }).error_message() ==
        "one has no output z");
  // A message longer than clients take headers arrives cut.
  const grpc::Status longer = failure([](auto& r) { r.set_model_name(std::string(50'000, 'n')); });
  CHECK(longer.error_code() == grpc::StatusCode::NOT_FOUND);
  CHECK(fixture.answers("one", 200) == 2);
  CHECK(fixture.answers("one", 400) == 3);
}

TEST_CASE("health, metadata, statistics and the repository") {
  Fixture fixture;
  grpc::ClientContext contexts[8];
  inference::ServerReadyResponse ready;
  REQUIRE(fixture.stub->ServerReady(&contexts[0], {}, &ready).ok());
  CHECK(ready.ready());
  inference::ModelMetadataRequest named;
  named.set_name("one");
  inference::ModelMetadataResponse metadata;
  REQUIRE(fixture.stub->ModelMetadata(&contexts[1], named, &metadata).ok());
  CHECK(metadata.inputs(0).datatype() == "FP32");
  CHECK(metadata.inputs(0).shape(0) == -1);
  inference::RepositoryIndexResponse index;
  REQUIRE(fixture.stub->RepositoryIndex(&contexts[2], {}, &index).ok());
  CHECK(index.models_size() == 2);
  inference::RepositoryModelUnloadRequest unload;
  unload.set_repository_name("one");  // as KServe's clients send it
  inference::RepositoryModelUnloadResponse unloaded;
  REQUIRE(fixture.stub->RepositoryModelUnload(&contexts[3], unload, &unloaded).ok());
  CHECK(Infer(*fixture.stub, Floats({1})).code() == grpc::StatusCode::NOT_FOUND);
  inference::ModelReadyRequest asked;
  asked.set_name("one");
  inference::ModelReadyResponse model_ready;
  REQUIRE(fixture.stub->ModelReady(&contexts[4], asked, &model_ready).ok());
  CHECK_FALSE(model_ready.ready());
  inference::ModelStatisticsResponse statistics;
  REQUIRE(fixture.stub->ModelStatistics(&contexts[5], {}, &statistics).ok());
  CHECK(statistics.model_stats(0).name() == "count");
}

TEST_CASE("statistics are of each version that is served, and of each size of batch") {
  const TempFolder folder;
  testing::Save(testing::kAddOne, folder / "one/1/model.vmx");
  testing::Save(testing::kAddTwo, folder / "one/2/model.vmx");
  Metrics metrics;
  const auto dispatcher = testing::NewDispatcher();
  const auto repository =
      Repository::Create({.folder = folder / "", .poll = milliseconds(0), .versions = 2},
                         testing::MakeServed(*dispatcher, metrics));
  REQUIRE(repository.ok());
  GrpcServer server({}, **repository, *dispatcher);
  const auto stub = StubOf(*server.Start("127.0.0.1", 0));
  for (int i = 0; i < 3; ++i) CHECK(Infer(*stub, Floats({1})).status.ok());
  const auto ask = [&](const std::string& name, const std::string& version) {
    grpc::ClientContext context;
    inference::ModelStatisticsRequest request;
    request.set_name(name);
    request.set_version(version);
    inference::ModelStatisticsResponse answer;
    REQUIRE(stub->ModelStatistics(&context, request, &answer).ok());
    return answer;
  };
  for (const char* name : {"", "one"}) {
    const auto both = ask(name, "");
    REQUIRE(both.model_stats_size() == 2);
    CHECK(both.model_stats(0).version() == "1");
    CHECK(both.model_stats(0).batch_stats_size() == 0);
    CHECK(both.model_stats(1).version() == "2");
  }
  const auto second = ask("one", "2");
  REQUIRE(second.model_stats_size() == 1);
  REQUIRE(second.model_stats(0).batch_stats_size() == 1);
  const auto& batch = second.model_stats(0).batch_stats(0);
  CHECK(batch.batch_size() == 1);
  CHECK(batch.compute_infer().count() == 3);
  CHECK(batch.compute_infer().ns() > 0);
}

// What grpc.health.v1 tells whoever watches the server: 1 SERVING, 2 NOT_SERVING.
class HealthWatch {
 public:
  explicit HealthWatch(uint16_t port, const std::string& service = "") : stub_(NewChannel(port)) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    call_ = stub_.PrepareCall(&context_, "/grpc.health.v1.Health/Watch", &queue_);
    call_->StartCall(this);
    Wait();
    std::string request;
    if (!service.empty())
      request = "\x0a" + std::string(1, static_cast<char>(service.size())) + service;
    const grpc::Slice bytes(request);
    call_->WriteLast(grpc::ByteBuffer(&bytes, 1), {}, this);
    Wait();
  }
  ~HealthWatch() {
    context_.TryCancel();
    grpc::Status status;
    call_->Finish(&status, this);
    Wait();
  }
  int Next() {
    grpc::ByteBuffer answer;
    call_->Read(&answer, this);
    grpc::Slice bytes;
    if (!Wait() || !answer.DumpToSingleSlice(&bytes).ok() || bytes.size() != 2) return -1;
    return bytes.begin()[1];
  }

 private:
  bool Wait() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  grpc::GenericStub stub_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

TEST_CASE("health is as ready as the repository, and whoever watches it is told") {
  const TempFolder folder;
  testing::Save(testing::kAddOne, folder / "one/1/model.vmx");
  Metrics metrics;
  const auto dispatcher = testing::NewDispatcher();
  const auto repository = Repository::Open({.folder = folder / "", .poll = milliseconds(0)},
                                           testing::MakeServed(*dispatcher, metrics));
  REQUIRE(repository.ok());
  GrpcServer server({}, **repository, *dispatcher);
  const uint16_t port = *server.Start("127.0.0.1", 0);
  HealthWatch watch(port);
  CHECK(watch.Next() == 2);
  (*repository)->Start([&] { server.SetReady(); });
  CHECK(watch.Next() == 1);
  CHECK(HealthWatch(port).Next() == 1);
  CHECK(HealthWatch(port, "inference.GRPCInferenceService").Next() == 1);
  HealthWatch unknown(port, "none");
  CHECK(unknown.Next() == 3);
  server.SetDraining();
  CHECK(watch.Next() == 2);
  server.SetReady();  // of a load that ends while it drains
  CHECK(HealthWatch(port).Next() == 2);
  CHECK(Eventually([&] { return server.stats().open_calls == 2; }));
  server.Drain(std::chrono::steady_clock::now() + std::chrono::seconds(60));
  CHECK(server.stats().open_calls == 0);
  CHECK(watch.Next() == -1);
  CHECK(unknown.Next() == -1);

  GrpcServer later({}, **repository, *dispatcher);  // all is loaded
  CHECK(HealthWatch(*later.Start("127.0.0.1", 0)).Next() == 1);
}

TEST_CASE("a deadline, and a client that goes, end the run") {
  Fixture fixture;
  CHECK(Infer(*fixture.stub, Count(kForever), milliseconds(200)).code() ==
        grpc::StatusCode::DEADLINE_EXCEEDED);
  ModelInferRequest timed = Count(kForever);
  (*timed.mutable_parameters())["timeout"].set_int64_param(100'000);
  const Answered late = Infer(*fixture.stub, timed);
  CHECK(late.code() == grpc::StatusCode::DEADLINE_EXCEEDED);
  grpc::ClientContext context;
  auto asked = std::async(std::launch::async, [&] {
    ModelInferResponse answer;
    return fixture.stub->ModelInfer(&context, Count(kForever), &answer).error_code();
  });
  CHECK(Eventually([&] { return fixture.dispatcher->stats().running > 0; }));
  context.TryCancel();
  CHECK(asked.get() == grpc::StatusCode::CANCELLED);
  CHECK(Eventually([&] {
    return fixture.server.stats().open_calls == 0 && fixture.dispatcher->stats().running == 0;
  }));
  CHECK(Eventually([&] { return fixture.server.stats().message_bytes == 0; }));
}

TEST_CASE("a stream answers in order, and goes on behind a failure") {
  Fixture fixture;
  grpc::ClientContext context;
  auto stream = fixture.stub->ModelStreamInfer(&context);
  for (int i = 0; i < 10; ++i) {
    ModelInferRequest request = Floats({static_cast<float>(i)});
    request.set_id(std::to_string(i));
    if (i == 5) request.set_model_name("none");
    REQUIRE(stream->Write(request));
  }
  stream->WritesDone();
  inference::ModelStreamInferResponse answer;
  for (int i = 0; i < 10; ++i) {
    REQUIRE(stream->Read(&answer));
    CHECK(answer.infer_response().id() == std::to_string(i));
    if (i == 5) {
      CHECK(answer.error_message() == "there is no model none");
    } else {
      CHECK(First(answer.infer_response()) == static_cast<float>(i + 1));
    }
  }
  CHECK_FALSE(stream->Read(&answer));
  CHECK(stream->Finish().ok());
}

TEST_CASE("messages, headers, calls and compression have limits") {
  GrpcOptions options;
  options.max_message_bytes = 1000;
  options.max_metadata_bytes = 2000;
  options.max_calls = 2;
  Fixture fixture(options);
  CHECK(Infer(*fixture.stub, Floats(std::vector<float>(1000))).code() ==
        grpc::StatusCode::RESOURCE_EXHAUSTED);
  grpc::ClientContext fat;
  ModelInferResponse answer;
  fat.AddMetadata("x-fat", std::string(10'000, 'x'));
  CHECK_FALSE(fixture.stub->ModelInfer(&fat, Floats({1}), &answer).ok());
  std::string said;
  const auto packed = [&](size_t floats) {
    grpc::Status status(grpc::StatusCode::UNAVAILABLE, "");
    for (int i = 0; i < 3 && status.error_code() == grpc::StatusCode::UNAVAILABLE; ++i) {
      grpc::ClientContext context;  // the connection may end with the call before
      context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
      status = fixture.stub->ModelInfer(&context, Floats(std::vector<float>(floats)), &answer);
    }
    said = status.error_message();
    return status.error_code();
  };
  CHECK_MESSAGE(packed(200) == grpc::StatusCode::OK, said);
  CHECK(packed(10'000) == grpc::StatusCode::RESOURCE_EXHAUSTED);  // of some 100 bytes
  CHECK(Eventually([&] { return fixture.server.stats().message_bytes == 0; }));
  grpc::ClientContext contexts[2];
  std::vector<std::unique_ptr<
      grpc::ClientReaderWriter<ModelInferRequest, inference::ModelStreamInferResponse>>>
      streams;
  for (auto& context : contexts) {
    streams.push_back(fixture.stub->ModelStreamInfer(&context));
    inference::ModelStreamInferResponse first;
    REQUIRE(streams.back()->Write(Floats({1})));
    REQUIRE(streams.back()->Read(&first));
  }
  CHECK(Infer(*fixture.stub, Floats({1})).code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  streams[0]->WritesDone();
  CHECK(streams[0]->Finish().ok());
  CHECK(Eventually([&] { return Infer(*fixture.stub, Floats({1})).status.ok(); }));
  streams[1]->WritesDone();
  CHECK(streams[1]->Finish().ok());
}

TEST_CASE("each failure has REST's code and its own") {
  auto in_sequence = std::make_shared<StatusDetail>();
  in_sequence->subject = kSequenceConflict;
  const struct {
    Status status;
    int http_code;
    grpc::StatusCode code;
  } table[] = {
      {OkStatus(), 200, grpc::StatusCode::OK},
      {{StatusCode::kInvalidArgument, "m"}, 400, grpc::StatusCode::INVALID_ARGUMENT},
      {{StatusCode::kInvalidInput, "m"}, 400, grpc::StatusCode::INVALID_ARGUMENT},
      {{StatusCode::kUnsupported, "m"}, 400, grpc::StatusCode::INVALID_ARGUMENT},
      {{StatusCode::kOutOfRange, "m"}, 400, grpc::StatusCode::INVALID_ARGUMENT},
      {{StatusCode::kFailedPrecondition, "m"}, 400, grpc::StatusCode::INVALID_ARGUMENT},
      {{StatusCode::kFailedPrecondition, "m", in_sequence}, 409, grpc::StatusCode::ALREADY_EXISTS},
      {{StatusCode::kNotFound, "m"}, 404, grpc::StatusCode::NOT_FOUND},
      {{StatusCode::kResourceExhausted, "m"}, 503, grpc::StatusCode::RESOURCE_EXHAUSTED},
      {{StatusCode::kCancelled, "m"}, 499, grpc::StatusCode::CANCELLED},
      {{StatusCode::kDeadlineExceeded, "m"}, 504, grpc::StatusCode::DEADLINE_EXCEEDED},
      {{StatusCode::kInternal, "m"}, 500, grpc::StatusCode::INTERNAL},
  };
  for (const auto& [status, http_code, code] : table) {
    const GrpcFailure failure = GrpcFailure::Of(status);
    CAPTURE(http_code);
    CHECK(HttpCodeOf(status) == http_code);
    CHECK(failure.http_code == http_code);
    CHECK(failure.status.error_code() == code);
    CHECK(failure.status.error_message() == (status.ok() ? "" : "m"));
  }
  for (const auto& [http_code, code] : {std::pair{401, grpc::StatusCode::UNAUTHENTICATED},
                                        {413, grpc::StatusCode::RESOURCE_EXHAUSTED},
                                        {429, grpc::StatusCode::RESOURCE_EXHAUSTED},
                                        {501, grpc::StatusCode::UNIMPLEMENTED}})
    CHECK(GrpcFailure::Of(http_code, "m").status.error_code() == code);
  CHECK(GrpcFailure::Busy("m").status.error_code() == grpc::StatusCode::ABORTED);
  CHECK(GrpcFailure::Draining().status.error_code() == grpc::StatusCode::UNAVAILABLE);
  // Longer than clients take, and not within a character.
  const GrpcFailure cut = GrpcFailure::Of(400, std::string(1999, 'x') + "\u00e9\u00e9");
  CHECK(cut.status.error_message() == std::string(1999, 'x') + "...");
}

TEST_CASE("what finds a queue full is told when to come again") {
  Fixture fixture({}, {.workers = 1, .max_queued = 1});
  constexpr size_t kAsked = 8;  // more than begin, and one that waits
  grpc::ClientContext contexts[kAsked];
  std::vector<std::future<grpc::StatusCode>> asked;
  std::atomic<int> refused{0};
  for (grpc::ClientContext& context : contexts) {
    asked.push_back(std::async(std::launch::async, [&] {
      ModelInferResponse answer;
      const auto code = fixture.stub->ModelInfer(&context, Count(kForever), &answer).error_code();
      refused += code == grpc::StatusCode::RESOURCE_EXHAUSTED;
      return code;
    }));
  }
  CHECK(Eventually([&] { return refused > 0; }));
  for (grpc::ClientContext& context : contexts) context.TryCancel();
  for (size_t i = 0; i < kAsked; ++i) {
    const grpc::StatusCode code = asked[i].get();
    if (code == grpc::StatusCode::RESOURCE_EXHAUSTED) {
      CHECK(contexts[i].GetServerTrailingMetadata().count("grpc-retry-pushback-ms") == 1);
    } else {
      CHECK(code == grpc::StatusCode::CANCELLED);
    }
  }
}

TEST_CASE("a stream on which nothing comes is ended") {
  GrpcOptions options;
  options.transfer_time = milliseconds(200);
  options.max_message_bytes = 1000;
  options.idle_time = milliseconds(400);
  Fixture fixture(options);
  grpc::ClientContext context;
  auto stream = fixture.stub->ModelStreamInfer(&context);
  inference::ModelStreamInferResponse answer;
  CHECK_FALSE(stream->Read(&answer));
  CHECK_FALSE(stream->Finish().ok());
  CHECK(fixture.server.stats().timeouts == 1);
  CHECK(Eventually([&] { return fixture.server.stats().open_calls == 0; }));
}

TEST_CASE("draining answers what runs, ends idle streams and takes no more") {
  Fixture fixture;
  grpc::ClientContext context;
  auto stream = fixture.stub->ModelStreamInfer(&context);
  inference::ModelStreamInferResponse answer;
  REQUIRE(stream->Write(Floats({1})));
  REQUIRE(stream->Read(&answer));
  auto running = std::async(std::launch::async,
                            [&] { return Infer(*fixture.stub, Count(20'000'000)).code(); });
  CHECK(Eventually([&] { return fixture.dispatcher->stats().running > 0; }));
  fixture.server.Drain(std::chrono::steady_clock::now() + std::chrono::seconds(60));
  CHECK_FALSE(stream->Read(&answer));
  CHECK(stream->Finish().error_code() == grpc::StatusCode::UNAVAILABLE);
  CHECK(running.get() == grpc::StatusCode::OK);
  CHECK(Infer(*StubOf(fixture.port), Floats({1}), milliseconds(2000)).code() ==
        grpc::StatusCode::UNAVAILABLE);
}

TEST_CASE("draining cancels what runs longer than it may") {
  Fixture fixture;
  auto running =
      std::async(std::launch::async, [&] { return Infer(*fixture.stub, Count(kForever)).code(); });
  CHECK(Eventually([&] { return fixture.dispatcher->stats().running > 0; }));
  fixture.server.Drain(std::chrono::steady_clock::now() + milliseconds(100));
  CHECK(running.get() != grpc::StatusCode::OK);
}

TEST_CASE("connections have a limit, and room comes back") {
  GrpcOptions options;
  options.max_connections = 3;
  Fixture fixture(options);
  std::vector<std::unique_ptr<testing::Client>> strangers;
  for (int i = 0; i < 5; ++i) strangers.push_back(std::make_unique<testing::Client>(fixture.port));
  CHECK(Eventually([&] { return fixture.server.stats().refused >= 2; }));
  CHECK(Infer(*fixture.stub, Floats({1}), milliseconds(500)).code() != grpc::StatusCode::OK);
  strangers.clear();
  CHECK(Eventually([&] { return Infer(*StubOf(fixture.port), Floats({1})).status.ok(); }));
}

TEST_CASE("the server accepts again when the process has files again") {
  Fixture fixture;
  std::vector<int> files;
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  rlimit few = before;
  few.rlim_cur = 200;
  ::setrlimit(RLIMIT_NOFILE, &few);
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  for (int file = 0; (file = ::dup(0)) >= 0;) files.push_back(file);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(fixture.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  std::this_thread::sleep_for(milliseconds(100));
  for (const int file : files) ::close(file);
  ::close(socket);
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK(Infer(*fixture.stub, Floats({1})).status.ok());
}

TEST_CASE("a port that is in use is no silent second") {
  Fixture fixture;
  GrpcServer second({}, *fixture.repository, *fixture.dispatcher);
  const auto taken = second.Start("127.0.0.1", fixture.port);
  REQUIRE_FALSE(taken.ok());
  CHECK(taken.status().code() == StatusCode::kFailedPrecondition);
}

TEST_CASE("bytes that are no HTTP/2") {
  Fixture fixture;
  testing::Client client(fixture.port);
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK(client.IsClosed());
  CHECK(Infer(*fixture.stub, Floats({1})).status.ok());
}

}  // namespace
}  // namespace relayvm::serve
