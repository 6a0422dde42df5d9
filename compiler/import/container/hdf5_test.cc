#include "compiler/import/container/hdf5.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "compiler/import/container/hdf5_testing.h"

namespace relayvm::import {
namespace {

using testing::Hdf5Writer;

SharedBytes Bytes(const std::string& text) {
  return SharedBytes::Copy(std::as_bytes(std::span(text.data(), text.size())));
}

std::string Example() {
  Hdf5Writer w;
  const uint64_t kernel = w.Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const uint64_t bias = w.Floats({3}, {7, 8, 9});
  const uint64_t dense =
      w.Group({{"bias", bias}, {"kernel", kernel}}, {{"weight_names", {"kernel", "bias"}}});
  return w.File(w.Group({{"dense", dense}}, {{"backend", {"jax"}}}));
}

TEST_CASE("groups, datasets and texts of an HDF5 file") {
  const std::string bytes = Example();
  const auto file = Hdf5File::Open("m.h5", Bytes(bytes));
  REQUIRE_MESSAGE(file.ok(), file.status().message());
  CHECK(file->Names("") == std::vector<std::string>{"dense"});
  CHECK(file->Names("dense") == std::vector<std::string>{"bias", "kernel"});
  CHECK(!file->Has("dense/gamma"));
  const auto kernel = file->Dataset("dense/kernel");
  REQUIRE(kernel.ok());
  CHECK(kernel->dtype == DType::kFloat32);
  CHECK(kernel->shape == std::vector<int64_t>{2, 3});
  float last = 0;
  std::memcpy(&last, kernel->data.data() + 20, 4);
  CHECK(last == 6);
  const auto names = file->Texts("dense", "weight_names");
  REQUIRE((names.ok() && names->has_value()));
  CHECK(**names == std::vector<std::string>{"kernel", "bias"});
  CHECK(!file->Texts("dense", "backend")->has_value());
}

TEST_CASE("what is missing or no dataset says so") {
  const auto file = Hdf5File::Open("m.h5", Bytes(Example()));
  REQUIRE(file.ok());
  CHECK(file->Dataset("dense/gamma").status().message() ==
        "m.h5: 'dense/gamma': there is no such dataset");
  CHECK(file->Dataset("dense").status().message() == "m.h5: 'dense': it is no dataset");
  CHECK(Hdf5File::Open("m.h5", Bytes("no such file")).status().message() ==
        "m.h5: expected an HDF5 file: it has no such signature");
}

TEST_CASE("a group that holds itself is an error") {
  Hdf5Writer w;
  const uint64_t inner = w.Group({});
  const uint64_t outer = w.Group({{"inner", inner}});
  // The inner group's table becomes the outer's.
  std::string bytes = w.File(outer);
  std::memcpy(bytes.data() + inner + 24, bytes.data() + outer + 24, 16);
  const auto file = Hdf5File::Open("m.h5", Bytes(bytes));
  CHECK(file.status().message().find("runs in a circle") != std::string::npos);
}

TEST_CASE("any bytes are safe") {
  const std::string good = Example();
  const auto read_all = [](const std::string& bytes) {
    const auto file = Hdf5File::Open("m.h5", Bytes(bytes));
    if (!file.ok()) return;
    for (const char* name : {"dense/kernel", "dense/bias", "dense"}) {
      (void)file->Dataset(name);
      (void)file->Texts(name, "weight_names");
    }
  };
  for (size_t size = 0; size < good.size(); ++size) read_all(good.substr(0, size));
  for (size_t i = 0; i < good.size(); ++i) {
    for (const int value : {0, 1, 0x7f, 0xff}) {
      std::string bad = good;
      bad[i] = static_cast<char>(value);
      read_all(bad);
    }
  }
}

}  // namespace
}  // namespace relayvm::import
