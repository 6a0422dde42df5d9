#include "compiler/tuner/samples.h"

#include <doctest/doctest.h>

#include "kernels/codegen/contraction/harness.h"

namespace relayvm::tuner {
namespace {

TEST_CASE("sizes are read") {
  SampleSizes sizes;
  REQUIRE(ParseSampleSizes("n=1,16,128", &sizes).ok());
  REQUIRE(ParseSampleSizes("x.0=7", &sizes).ok());
  CHECK(sizes == SampleSizes{{"n", {1, 16, 128}}, {"x.0", {7}}});
  for (const char* text : {"", "n", "=1", "m=", "m=0", "m=-1", "m=1,", "m=,1", "m=1;2", "m=1.5",
                           "m=99999999999999999999", "m=16777217", "m=1,2,3,4,5,6,7,8,9", "n=3"}) {
    CAPTURE(text);
    const Status status = ParseSampleSizes(text, &sizes);
    CHECK(status.code() == StatusCode::kInvalidArgument);
    CHECK(status.message().find("expected") != std::string::npos);
  }
}

TEST_CASE("samples are as many as the longest list, and lists go along with each other") {
  const Dim n = Dim::Symbol(1, "n"), m = Dim::Symbol(2, "m"), h = Dim::Symbol(3, "h");
  const te::Tensor x = Input({n, m}, 0);
  const KernelSpec spec = Spec("relu", {x}, {Relu(x)});
  const std::vector<int64_t> any = {1, 16, 128};
  CHECK(SamplesOf(spec, {}, {}) ==
        std::vector<Sample>{{{1, 1}, {2, 1}}, {{1, 16}, {2, 16}}, {{1, 128}, {2, 128}}});
  CHECK(SamplesOf(spec, {{"n", {5, 6}}}, {{"n", {9}}, {"m", {4}}}) ==
        std::vector<Sample>{{{1, 5}, {2, 4}}, {{1, 6}, {2, 4}}});
  const te::Tensor y = Input({3, 4}, 0);
  CHECK(SamplesOf(Spec("relu", {y}, {Relu(y)}), {}, {}) == std::vector<Sample>{{}});

  CHECK(DefaultSampleSizes({{n, 768}, {3, m * 2}}) == SampleSizes{{"n", any}});
  CHECK(DefaultSampleSizes({{n, m}, {m}}) == SampleSizes{{"n", {1}}, {"m", any}});
  CHECK(DefaultSampleSizes({{n, 3, 8, 8}}) == SampleSizes{{"n", {1, 8}}});
  CHECK(DefaultSampleSizes({{n, 3, h, h}}) == SampleSizes{{"n", {1}}, {"h", {64, 224}}});
}

}  // namespace
}  // namespace relayvm::tuner
