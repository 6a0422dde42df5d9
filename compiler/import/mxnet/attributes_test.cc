#include "compiler/import/mxnet/attributes.h"

#include <doctest/doctest.h>

namespace relayvm::import::mxnet {

TEST_CASE("MXNet's texts of attributes") {
  CHECK(ParseInt("2L") == 2);
  CHECK(ParseInt("-3") == -3);
  CHECK(ParseInt("2.0") == 2);
  CHECK(!ParseInt("2.5"));
  CHECK(!ParseInt(""));
  CHECK(ParseFloat("1e-05") == 1e-05);
  CHECK(ParseFloat("-inf") < -1e300);
  CHECK(!ParseFloat("1e-05x"));
  CHECK(ParseBool("True") == true);
  CHECK(ParseBool("0") == false);
  CHECK(!ParseBool("yes"));
  CHECK(ParseType("float16") == DType::kFloat16);
  CHECK(ParseType("0") == DType::kFloat32);
  CHECK(!ParseType("float8"));
  CHECK(TypeOfFlag(6) == DType::kInt64);
  CHECK(!TypeOfFlag(8));
  using Parts = std::vector<std::string_view>;
  CHECK(ParseTuple("(3, 3)") == Parts{"3", "3"});
  CHECK(ParseTuple("[None, 1, ]") == Parts{"None", "1"});
  CHECK(ParseTuple("((1, 1), (0, 2))") == Parts{"1", "1", "0", "2"});
  CHECK(ParseTuple("(3,)") == Parts{"3"});
  CHECK(ParseTuple("3") == Parts{"3"});
  CHECK(ParseTuple("()") == Parts{});
  for (const char* wrong : {"(3, 3", "3, 3", "(3, 3]", "(,)", "", "(3))", "(3) 4"}) {
    CAPTURE(wrong);
    CHECK(!ParseTuple(wrong));
  }
}

}  // namespace relayvm::import::mxnet
