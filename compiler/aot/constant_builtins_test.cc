#include "compiler/aot/constant_builtins.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "bytecode/image_loader.h"
#include "kernels/codegen/link.h"
#include "kernels/runtime/call_builtin.h"
#include "kernels/runtime/half.h"

namespace relayvm::aot {
namespace {

TEST_CASE("each builtin that makes constants is there without a runtime, and gives the same bits") {
  const auto image = LinkConstantBuiltins();
  REQUIRE_MESSAGE(image.ok(), image.status().message());
  const auto mapped = MappedImage::Map(*image, MappedImage::Kind::kSealed);
  REQUIRE_MESSAGE(mapped.ok(), mapped.status().message());
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 1);
  int count = 0;
  for (const Builtin& builtin : Builtins()) {
    if (!builtin.makes_constants) continue;
    ++count;
    CAPTURE(std::string(builtin.name));
    const auto found = codegen::FindFunctions(*image, {std::string(builtin.name)});
    REQUIRE_MESSAGE(found.ok(), found.status().message());
    Builtin alone = builtin;
    alone.fn = (*mapped)->Entry((*found)[0]);
    REQUIRE((alone.fn != nullptr));
    // These have one input: the weights of a convolution, as Winograd takes them.
    REQUIRE(builtin.name.starts_with("winograd_weights_"));
    const int64_t products = builtin.name.ends_with("4") ? 36 : 16;
    for (const DType dtype :
         {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64}) {
      for (const int64_t rows : {1, 5, 8, 13}) {
        const std::vector<int64_t> in = {19, 3, 3, 3},
                                   out = {(19 + 2 * rows - 1) / (2 * rows), products, 2, 3, rows};
        std::vector<double> storage(19 * 27);
        for (size_t i = 0; i < storage.size(); ++i) {
          const float x = i == 7 ? INFINITY : normal(random);
          auto* bytes = reinterpret_cast<char*>(storage.data());
          const auto put = [&](auto value) {
            std::memcpy(bytes + i * sizeof value, &value, sizeof value);
          };
          if (dtype == DType::kFloat32) put(x);
          if (dtype == DType::kFloat64) put(static_cast<double>(x) / 3);
          if (dtype == DType::kFloat16) put(FloatToHalf(x));
          if (dtype == DType::kBFloat16) put(FloatToBFloat(x));
        }
        std::vector<float> results[2];
        for (const bool is_alone : {false, true}) {
          std::vector<float>& result = results[is_alone ? 1 : 0];
          result.assign(static_cast<size_t>(out[0] * products * 2 * 3 * rows), -1);
          const BuiltinTensor tensors[] = {{dtype, in, storage.data()},
                                           {DType::kFloat32, out, result.data()}};
          REQUIRE(CallBuiltin(is_alone ? alone : builtin, tensors, {}) == 0);
        }
        CHECK(std::memcmp(results[0].data(), results[1].data(),
                          results[0].size() * sizeof(float)) == 0);
      }
    }
  }
  CHECK(count == 2);
}

}  // namespace
}  // namespace relayvm::aot
