#include "kernels/codegen/image_key.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/codegen/build_id.h"

namespace relayvm {
namespace {

namespace fs = std::filesystem;

// A cache in a folder that goes with its scope.
struct Kept {
  Kept() {
    std::string name = (fs::temp_directory_path() / "image_key.XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    folder = name;
    auto opened = ObjectCache::Open(name);
    REQUIRE(opened.ok());
    cache = *opened;
  }
  ~Kept() { fs::remove_all(folder); }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  fs::path folder;
  std::shared_ptr<ObjectCache> cache;
};

KernelSpec Scaled(double by) {
  const te::Tensor x = te::Placeholder("x", {Dim(64)}, DType::kFloat32, 0);
  KernelSpec spec;
  spec.name = "scaled";
  spec.inputs = {x};
  spec.by_value = {false};
  spec.outputs = {te::Compute("y", {Dim(64)}, [&](const std::vector<te::Expr>& i) {
    return te::Binary(te::BinaryOp::kMultiply, te::Load(x, i), te::Const(by, DType::kFloat32));
  })};
  return spec;
}

TEST_CASE("ImageKey: all that an image is made of makes another one") {
  REQUIRE(!codegen::BuildId().empty());
  const Kept kept;
  codegen::SpecKey spec;
  spec.text = "spec";
  std::set<ObjectCache::Key> keys;
  const auto add = [&](const char* name, const codegen::SpecKey& key, const char* immediates,
                       TileSchedule schedule, const KernelOptions& options, int level) {
    codegen::ImageKey image;
    image.Add(name, key, immediates, schedule);
    const auto made = image.Of(options, std::vector<int>{level});
    REQUIRE(made);
    return keys.insert(*made).second;
  };
  KernelOptions options;
  options.machine = MachineNamed("x86-64-v3");
  options.cache = kept.cache;
  CHECK(add("k", spec, "1;", {}, options, 3));
  CHECK(!add("k", spec, "1;", {}, options, 3));
  CHECK(add("l", spec, "1;", {}, options, 3));
  CHECK(add("k", spec, "2;", {}, options, 3));
  CHECK(add("k", spec, "1;", {.rows = 4, .columns = 16}, options, 3));
  CHECK(add("k", spec, "1;", {}, options, 2));
  codegen::SpecKey other = spec;
  other.text = "another";
  CHECK(add("k", other, "1;", {}, options, 3));
  other = spec;
  other.symbols = {Dim::Symbol(7, "n")};
  CHECK(add("k", other, "1;", {}, options, 3));
  for (const auto change : std::vector<void (*)(KernelOptions*)>{
           [](KernelOptions* o) { o->exact = !o->exact; },
           [](KernelOptions* o) { o->opt_level = 2; },
           [](KernelOptions* o) { o->machine = MachineNamed("x86-64-v4"); },
           [](KernelOptions* o) { o->machine.l1_bytes *= 2; },
           [](KernelOptions* o) { o->machine.l2_bytes *= 2; },
           [](KernelOptions* o) { o->machine.vector_registers *= 2; },
           [](KernelOptions* o) { o->machine.byte_tables = "avx512vbmi"; },
           [](KernelOptions* o) { o->machine.half = !o->machine.half; }}) {
    KernelOptions changed = options;
    change(&changed);
    CHECK(add("k", spec, "1;", {}, changed, 3));
  }
  // What is no part of it.
  KernelOptions same = options;
  same.num_threads = 7;
  same.time_kernels = true;
  CHECK(!add("k", spec, "1;", {}, same, 3));
}

TEST_CASE("ImageKey: none where nothing is kept, or text is asked for") {
  const Kept kept;
  codegen::ImageKey image;
  image.Add("k", {}, "", {});
  KernelOptions options;
  CHECK(!image.Of(options, std::vector<int>{3}));
  options.cache = kept.cache;
  CHECK(image.Of(options, std::vector<int>{3}));
  options.keep_assembly = true;
  CHECK(!image.Of(options, std::vector<int>{3}));
  options.keep_assembly = false;
  options.keep_llvm_ir = true;
  CHECK(!image.Of(options, std::vector<int>{3}));
}

TEST_CASE("ImageKey: an image that is kept is not made again; a damaged one is") {
  const Kept kept;
  size_t told = 0;
  const auto compile = [&] {
    KernelOptions options;
    options.machine = MachineNamed("x86-64-v3");
    options.cache = kept.cache;
    options.on_kernels = [&](size_t done, size_t total) {
      CHECK(total == 2);
      told = done;
    };
    KernelCompiler compiler(options);
    REQUIRE(compiler.Add(Scaled(2)).ok());
    REQUIRE(compiler.Add(Scaled(3)).ok());
    auto image = compiler.Finish();
    REQUIRE_MESSAGE(image.ok(), image.status().message());
    CHECK(std::exchange(told, 0) == 2);
    return *std::move(image);
  };
  const KernelImage first = compile();
  CHECK(first.times.emission > 0);
  CHECK(first.times.found == 0);
  const KernelImage second = compile();
  CHECK(second.times.emission == 0);
  CHECK(second.times.found == second.times.objects);
  for (const auto& entry : fs::directory_iterator(kept.folder)) fs::resize_file(entry, 100);
  const KernelImage third = compile();
  CHECK(third.times.emission > 0);
  for (const KernelImage* image : {&second, &third}) {
    CHECK(image->elf == first.elf);
    CHECK(image->entry_offsets == first.entry_offsets);
    CHECK(image->names == first.names);
    CHECK(image->cpu_features == first.cpu_features);
  }
}

}  // namespace
}  // namespace relayvm
