#include "tools/serve/repository.h"

#include <csignal>
#include <fstream>
#include <thread>

#include "tests/temp_folder.h"
#include "tools/serve/testing.h"

namespace relayvm::serve {
namespace {

using relayvm::testing::TempFolder;
using testing::kAddOne;
using testing::kAddTwo;
using testing::Save;
using testing::Wait;

// A repository that looks at its files when it is told.
struct House {
  explicit House(RepositoryOptions options) {
    options.poll = std::chrono::milliseconds(0);
    auto made = Repository::Create(std::move(options), testing::MakeServed(*dispatcher, metrics));
    REQUIRE_MESSAGE(made.ok(), made.status().message());
    repository = *std::move(made);
  }
  void Refresh() {
    CHECK(Wait([&](auto done) { repository->Refresh(std::move(done)); }).ok());
  }
  Status Load(const std::string& name) {
    return Wait([&](auto done) { repository->Load(name, std::move(done)); });
  }
  Status Unload(const std::string& name) {
    return Wait([&](auto done) { repository->Unload(name, std::move(done)); });
  }
  std::string VersionOf(const std::string& name) {
    const auto model = repository->Find(name);
    return model.ok() ? (*model)->version() : model.status().message();
  }

  Metrics metrics;
  std::unique_ptr<Dispatcher> dispatcher = testing::NewDispatcher();
  std::unique_ptr<Repository> repository;
};

TEST_CASE("a folder's models, the highest version of each, and files by themselves") {
  TempFolder folder;
  Save(kAddOne, folder / "repository/a/9/model.vmx");
  Save(kAddOne, folder / "repository/a/10/model.vmx");
  Save(kAddOne, folder / "repository/a/draft/model.vmx");
  Save(kAddOne, folder / "one.vmx");
  std::filesystem::create_directories(folder / "repository/empty");
  House house({.folder = folder / "repository", .files = {{"b", folder / "one.vmx"}}});
  CHECK(house.VersionOf("a") == "10");
  CHECK(house.VersionOf("b") == "1");
  CHECK(house.VersionOf("c") == "there is no model c");
  CHECK(house.VersionOf("../a") == "there is no model ../a");
  CHECK(house.repository->Find("a", "10").ok());
  CHECK(house.repository->Find("a", "9").status().message() ==
        "model a has no version 9: 10 is served");
  const auto index = house.repository->Index();
  REQUIRE(index.size() == 3);
  CHECK(index[2].name == "empty");
  CHECK_FALSE(index[2].is_ready);
  CHECK(index[2].reason == "no folder with a number as its name has a model.vmx or model.onnx");
}

TEST_CASE("there is no repository without a folder") {
  Metrics metrics;
  const auto dispatcher = testing::NewDispatcher();
  CHECK(Repository::Create({.folder = "/no such folder"}, testing::MakeServed(*dispatcher, metrics))
            .status()
            .code() == StatusCode::kNotFound);
}

TEST_CASE("a new version and a changed file are served; the old one goes with its last user") {
  TempFolder folder;
  Save(kAddOne, folder / "m/1/model.vmx");
  House house({.folder = folder / ""});
  auto first = *house.repository->Find("m");
  Save(kAddTwo, folder / "m/2/model.vmx");
  house.Refresh();
  CHECK(house.VersionOf("m") == "2");
  const std::weak_ptr<const ServedModel> old = first;
  const std::weak_ptr<const Executable> memory = first->executable();
  CHECK_FALSE(old.expired());
  first = nullptr;
  CHECK(old.expired());
  CHECK(memory.expired());

  const auto second = *house.repository->Find("m");
  house.Refresh();
  CHECK(*house.repository->Find("m") == second);  // nothing has changed
  Save(kAddOne, folder / "m/2/model.vmx");
  house.Refresh();
  CHECK(*house.repository->Find("m") != second);

  std::filesystem::remove_all(folder / "m");
  house.Refresh();
  CHECK(house.VersionOf("m") == "there is no model m");
}

TEST_CASE("a file that does not load changes nothing, and says why") {
  TempFolder folder;
  Save(kAddOne, folder / "m/1/model.vmx");
  House house({.folder = folder / ""});
  std::filesystem::create_directories(folder / "m/2");
  std::ofstream(folder / "m/2/model.vmx") << "no program";
  house.Refresh();
  CHECK(house.VersionOf("m") == "1");
  CHECK(house.repository->Index()[0].is_ready);
  CHECK(house.repository->Index()[0].reason != "");
  CHECK(house.Load("m").code() == StatusCode::kInvalidInput);
  Save(kAddTwo, folder / "m/2/model.vmx");
  house.Refresh();
  CHECK(house.VersionOf("m") == "2");
  CHECK(house.repository->Index()[0].reason == "");
}

TEST_CASE("a folder that cannot be read changes nothing") {
  TempFolder folder;
  Save(kAddOne, folder / "repository/a/1/model.vmx");
  House house({.folder = folder / "repository"});
  std::filesystem::rename(folder / "repository", folder / "elsewhere");
  house.Refresh();
  CHECK(house.VersionOf("a") == "1");
  CHECK_FALSE(house.Load("a").ok());
  CHECK(house.VersionOf("a") == "1");
}

TEST_CASE("what is unloaded by name stays so, until it is loaded by name") {
  TempFolder folder;
  Save(kAddOne, folder / "m/1/model.vmx");
  House house({.folder = folder / ""});
  CHECK(house.Unload("m").ok());
  CHECK(house.VersionOf("m") == "model m is not loaded: unloaded");
  Save(kAddTwo, folder / "m/2/model.vmx");
  house.Refresh();
  CHECK(house.VersionOf("m") == "model m is not loaded: unloaded");
  CHECK(house.Load("m").ok());
  CHECK(house.VersionOf("m") == "2");
  CHECK(house.Load("n").code() == StatusCode::kNotFound);
  CHECK(house.Unload("n").code() == StatusCode::kNotFound);
  CHECK(house.Load("../m").code() == StatusCode::kNotFound);
}

// A compiler that says what it is given, and fails or makes what it is told to.
std::string FakeCompiler(const TempFolder& folder, const std::string& body) {
  const std::string path = folder / "fake_relayc";
  std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST_CASE("several versions are served, by their numbers, as the policy says") {
  TempFolder folder;
  for (const char* version : {"2", "9", "10"})
    Save(kAddOne, folder / ("m/" + std::string(version) + "/model.vmx"));
  House two({.folder = folder / "", .versions = 2}),
      all({.folder = folder / "", .versions = SIZE_MAX});
  CHECK(two.VersionOf("m") == "10");
  CHECK(two.repository->Find("m", "9").ok());
  CHECK(two.repository->Find("m", "2").status().message() ==
        "model m has no version 2: 10, 9 is served");
  CHECK(all.repository->Find("m", "2").ok());
  CHECK(all.repository->Index().size() == 3);
  Save(kAddTwo, folder / "m/11/model.vmx");
  two.Refresh();
  CHECK(two.VersionOf("m") == "11");
  CHECK(two.repository->Find("m", "10").ok());
  CHECK_FALSE(two.repository->Find("m", "9").ok());
  std::filesystem::remove_all(folder / "m/11");
  std::filesystem::remove_all(folder / "m/10");
  two.Refresh();
  CHECK(two.VersionOf("m") == "9");
  CHECK(two.repository->Index().size() == 2);
  CHECK(two.Unload("m").ok());
  CHECK(two.VersionOf("m") == "model m is not loaded: unloaded");
}

TEST_CASE("what cannot be read is not taken for gone") {
  TempFolder folder;
  Save(kAddOne, folder / "r/m/1/model.vmx");
  House house({.folder = folder / "r"});
  std::filesystem::rename(folder / "r", folder / "elsewhere");
  house.Refresh();
  CHECK(house.VersionOf("m") == "1");
  CHECK(house.Load("m").code() == StatusCode::kResourceExhausted);
  CHECK(house.VersionOf("m") == "1");
  std::filesystem::rename(folder / "elsewhere", folder / "r");
  CHECK(house.Load("m").ok());
}

TEST_CASE("a model that is compiled holds up no other, and no second load of its own") {
  TempFolder folder;
  Save(kAddOne, folder / "made.vmx");
  Save(kAddOne, folder / "models/quick/1/model.vmx");
  std::filesystem::create_directories(folder / "models/slow");
  const std::string compiler =
      FakeCompiler(folder, "while [ ! -e " + (folder / "go") + " ]; do sleep 0.01; done; cp " +
                               (folder / "made.vmx") + " $4");
  House house({.folder = folder / "models",
               .compile = {compiler, folder / "cache", std::chrono::seconds(60)}});
  std::filesystem::create_directories(folder / "models/slow/1");
  std::ofstream(folder / "models/slow/1/model.onnx") << "content";
  std::promise<Status> slow;
  house.repository->Load("slow", [&](Status status) { slow.set_value(std::move(status)); });
  CHECK(house.Load("slow").code() == StatusCode::kFailedPrecondition);
  CHECK(house.Unload("slow").code() == StatusCode::kFailedPrecondition);
  CHECK(house.Load("quick").ok());
  Save(kAddTwo, folder / "models/quick/2/model.vmx");
  house.Refresh();
  CHECK(house.VersionOf("quick") == "2");
  std::ofstream(folder / "go") << "";
  CHECK(slow.get_future().get().ok());
  CHECK(house.VersionOf("slow") == "1");
  CHECK(house.Unload("slow").ok());
}

TEST_CASE("models are compiled into a folder that no one else may write to") {
  TempFolder folder;
  Save(kAddOne, folder / "made.vmx");
  std::filesystem::create_directories(folder / "m/1");
  std::ofstream(folder / "m/1/model.onnx") << "model";
  CompileOptions compile{.relayc = FakeCompiler(folder, "cp " + (folder / "made.vmx") + " $4"),
                         .cache_folder = folder / "cache"};
  CHECK(CompileModel(folder / "m/1/model.onnx", compile).ok());
  std::filesystem::permissions(folder / "cache", std::filesystem::perms::all);
  CHECK(CompileModel(folder / "m/1/model.onnx", compile).status().code() ==
        StatusCode::kFailedPrecondition);
  compile.cache_folder = "";
  CHECK(CompileModel(folder / "m/1/model.onnx", compile).status().code() ==
        StatusCode::kFailedPrecondition);
}

TEST_CASE("of what was compiled, the oldest goes") {
  TempFolder folder;
  Save(kAddOne, folder / "made.vmx");
  const auto bytes = std::filesystem::file_size(folder / "made.vmx");
  const CompileOptions compile{
      .relayc = FakeCompiler(folder, "cp " + (folder / "made.vmx") + " $4"),
      .cache_folder = folder / "cache",
      .timeout = std::chrono::seconds(60),
      .cache_bytes = bytes * 2};
  std::vector<std::string> made;
  const auto make = [&](const std::string& content) {
    std::filesystem::create_directories(folder / "m/1");
    std::ofstream(folder / "m/1/model.onnx") << content;
    const auto path = CompileModel(folder / "m/1/model.onnx", compile);
    REQUIRE(path.ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // of a later time
    return *path;
  };
  const std::string a = make("a"), b = make("b");
  CHECK(make("a") == a);
  const std::string c = make("c");
  CHECK(std::filesystem::exists(a));
  CHECK_FALSE(std::filesystem::exists(b));
  CHECK(std::filesystem::exists(c));
  CHECK(std::distance(std::filesystem::directory_iterator(folder / "cache"), {}) == 2);
}

TEST_CASE("a model that is not compiled is compiled once for its content") {
  TempFolder folder;
  Save(kAddOne, folder / "made.vmx");
  const std::string compiler = FakeCompiler(
      folder, "echo x >> " + (folder / "calls") + "; cp " + (folder / "made.vmx") + " $4");
  std::filesystem::create_directories(folder / "models/m/1");
  std::ofstream(folder / "models/m/1/model.onnx") << "content";
  const CompileOptions compile{compiler, folder / "cache", std::chrono::seconds(60)};
  const auto calls = [&] { return std::filesystem::file_size(folder / "calls"); };
  {
    House house({.folder = folder / "models", .compile = compile});
    CHECK(house.VersionOf("m") == "1");
    CHECK(calls() == 2);
    CHECK(house.Load("m").ok());
    CHECK(calls() == 2);
  }
  House house({.folder = folder / "models", .compile = compile});
  CHECK(calls() == 2);
  std::ofstream(folder / "models/m/1/weights.bin") << "other";
  house.Refresh();
  CHECK(calls() == 4);
}

TEST_CASE(
    "while models are compiled for the first time, others are served; the end kills compilers") {
  TempFolder folder;
  Save(kAddOne, folder / "models/quick/1/model.vmx");
  for (const char* name : {"a", "b", "c"}) {
    std::filesystem::create_directories(folder / ("models/" + std::string(name) + "/1"));
    std::ofstream(folder / ("models/" + std::string(name) + "/1/model.onnx")) << name;
  }
  const std::string compiler =
      FakeCompiler(folder, "echo $$ >> " + (folder / "pids") + "; exec sleep 1000");
  Metrics metrics;
  const auto dispatcher = testing::NewDispatcher();
  auto repository = *Repository::Open({.folder = folder / "models",
                                       .compile = {compiler, folder / "cache"},
                                       .poll = std::chrono::milliseconds(0)},
                                      testing::MakeServed(*dispatcher, metrics));
  std::atomic<bool> is_loaded{false};
  repository->Start([&] { is_loaded = true; });
  const Status loading = repository->Find("a").status();
  CHECK(loading.code() == StatusCode::kResourceExhausted);
  CHECK(loading.message() == "model a is being loaded");
  CHECK(repository->Find("none").status().code() == StatusCode::kNotFound);
  CHECK(repository->Index()[0].state() == "LOADING");
  CHECK(Wait([&](auto done) { repository->Load("a", std::move(done)); }).code() ==
        StatusCode::kFailedPrecondition);
  const auto compilers = [&] {
    std::vector<pid_t> pids;
    std::ifstream file(folder / "pids");
    for (pid_t pid; file >> pid;) pids.push_back(pid);
    return pids;
  };
  while (compilers().size() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK_FALSE(repository->is_loaded());
  const auto begin = std::chrono::steady_clock::now();
  repository.reset();
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
  CHECK_FALSE(is_loaded);
  for (const pid_t pid : compilers()) CHECK(::kill(pid, 0) != 0);
}

TEST_CASE("a repository that looks by itself is told of changes") {
  TempFolder folder;
  Save(kAddOne, folder / "models/m/1/model.vmx");
  Metrics metrics;
  const auto dispatcher = testing::NewDispatcher();
  const auto repository =
      *Repository::Create({.folder = folder / "models", .poll = std::chrono::hours(1)},
                          testing::MakeServed(*dispatcher, metrics));
  const auto becomes = [&](const std::string& name, const std::string& version) {
    const auto begin = std::chrono::steady_clock::now();
    for (;;) {
      const auto found = repository->Find(name);
      if (found.ok() ? (*found)->version() == version : version.empty()) return true;
      if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(30)) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  };
  Save(kAddTwo, folder / "models/m/2/model.vmx");
  CHECK(becomes("m", "2"));
  Save(kAddOne, folder / "new.vmx");
  std::filesystem::create_directories(folder / "models/n/4");
  std::filesystem::rename(folder / "new.vmx", folder / "models/n/4/model.vmx");
  CHECK(becomes("n", "4"));
  std::filesystem::remove_all(folder / "models/m");
  CHECK(becomes("m", ""));
}

TEST_CASE("states that a configuration names are the compiler's to make") {
  TempFolder folder;
  Save(kAddOne, folder / "made.vmx");
  const std::string compiler = FakeCompiler(
      folder, "echo \"$@\" >> " + (folder / "calls") + "; cp " + (folder / "made.vmx") + " $4");
  std::filesystem::create_directories(folder / "models/m/1");
  std::ofstream(folder / "models/m/1/model.onnx") << "content";
  House house({.folder = folder / "models", .compile = {compiler, folder / "cache"}});
  CHECK(house.VersionOf("m") == "1");
  std::ofstream(folder / "models/m/config.json") << R"({"states": {"h": "h next"}})";
  house.Refresh();
  std::ifstream calls(folder / "calls");
  std::string first, second;
  std::getline(calls, first);
  std::getline(calls, second);
  CHECK(first.find("--state") == std::string::npos);
  CHECK(second.ends_with(" --state=h=h next"));
  std::ofstream(folder / "models/m/config.json") << R"({"states": 1})";
  house.Refresh();
  CHECK(house.repository->Index()[0].reason.find("config.json") != std::string::npos);
}

TEST_CASE("what a compiler says is why there is no model") {
  TempFolder folder;
  std::filesystem::create_directories(folder / "models/m/1");
  std::ofstream(folder / "models/m/1/model.onnx") << "content";
  const auto reason = [&](const std::string& body, int seconds) {
    House house(
        {.folder = folder / "models",
         .compile = {FakeCompiler(folder, body), folder / "cache", std::chrono::seconds(seconds)}});
    return house.repository->Index()[0].reason;
  };
  CHECK(reason("echo model.onnx: no operator X >&2; exit 2", 60) == "model.onnx: no operator X");
  CHECK(reason("exit 1", 60) == "the compiler ended without a word");
  CHECK(reason("exec sleep 1000", 1) == "not compiled in 1 s");
  House house({.folder = folder / "models", .compile = {"", folder / "cache"}});
  CHECK(house.repository->Index()[0].reason.ends_with("there is no relayc to compile it"));
}

}  // namespace
}  // namespace relayvm::serve
