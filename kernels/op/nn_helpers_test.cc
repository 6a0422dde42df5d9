#include "kernels/op/nn_helpers.h"

#include "kernels/op/testing.h"

namespace relayvm::nn {
namespace {

TEST_CASE("short forms of padding and of spatial attributes") {
  CHECK(ExpandPadding({3}, 2)->after == std::vector<int64_t>{3, 3});
  CHECK(ExpandPadding({1, 2}, 2)->after == std::vector<int64_t>{1, 2});
  CHECK(ExpandPadding({1, 2, 3, 4}, 2)->before == std::vector<int64_t>{1, 2});
  CHECK(ExpandPadding({1, 2}, 1)->after == std::vector<int64_t>{2});
  CHECK(!ExpandPadding({1, 2, 3}, 2).ok());
  CHECK(*ExpandSpatial({4}, 3, 1, "strides") == std::vector<int64_t>{4, 4, 4});
  CHECK(!ExpandSpatial({4, 0}, 2, 1, "strides").ok());
  CHECK((WindowExtent(Dim(7), 2, Dim(3), 2, 2) == Dim(3)));
}

}  // namespace
}  // namespace relayvm::nn
