#include "kernels/op/attrs.h"

#include <doctest/doctest.h>

#include "kernels/op/op.h"

namespace relayvm {
namespace {

OpDef Sample() {
  OpDef op;
  op.name = "sample";
  op.attrs = {
      {"flag", AttrKind::kBool, false, false},    {"count", AttrKind::kInt, true, {}},
      {"scale", AttrKind::kFloat, false, 0.5},    {"mode", AttrKind::kString, false, "fast"},
      {"dtype", AttrKind::kDType, false, ""},     {"axes", AttrKind::kInts, false, {}},
      {"pads", AttrKind::kInts2, false, {}},      {"sizes", AttrKind::kFloats, false, {}},
      {"parts", AttrKind::kIntOrInts, false, {}}, {"shape", AttrKind::kDims, false, {}},
      {"extra", AttrKind::kAny, false, {}}};
  return op;
}

Result<Attrs> Complete(std::initializer_list<std::pair<const char*, AttrValue>> values) {
  Attrs given;
  for (const auto& [name, value] : values) given.Set(name, value);
  return CompleteAttrs(Sample(), given);
}

TEST_CASE("defaults fill in and values keep their kind") {
  auto attrs = Complete({{"count", 3}});
  REQUIRE(attrs.ok());
  CHECK_FALSE(attrs->Bool("flag"));
  CHECK(attrs->Int("count") == 3);
  CHECK(attrs->Float("scale") == 0.5);
  CHECK(attrs->String("mode") == "fast");
  CHECK(attrs->OptionalDType("dtype") == std::nullopt);
  CHECK(attrs->OptionalInts("axes") == std::nullopt);
  CHECK(attrs->Ints("axes").empty());
  CHECK_FALSE(attrs->Has("axes"));
  CHECK(attrs->Find("nothing") == nullptr);
}

TEST_CASE("values convert to the kind of the schema") {
  auto attrs = Complete({{"count", true},
                         {"flag", 1},
                         {"scale", 2},
                         {"dtype", "uint1"},
                         {"axes", 4},
                         {"pads", AttrList{AttrList{1, 2}, AttrList{3, 4}}},
                         {"sizes", AttrList{1, 0.5}},
                         {"parts", AttrList{2, 5}},
                         {"shape", AttrList{3, Dim::Any()}},
                         {"extra", "anything"}});
  REQUIRE_MESSAGE(attrs.ok(), attrs.status().ToString());
  CHECK(attrs->Int("count") == 1);
  CHECK(attrs->Bool("flag"));
  CHECK(attrs->Float("scale") == 2.0);
  CHECK(attrs->OptionalDType("dtype") == DType::kBool);
  CHECK(attrs->Ints("axes") == std::vector<int64_t>{4});
  CHECK(attrs->Ints2("pads") == std::vector<std::vector<int64_t>>{{1, 2}, {3, 4}});
  CHECK(attrs->Floats("sizes") == std::vector<double>{1, 0.5});
  CHECK(attrs->Ints("parts") == std::vector<int64_t>{2, 5});
  CHECK(attrs->Dims("shape") == std::vector<Dim>{Dim(3), Dim::Any()});
}

TEST_CASE("numbers as text, as metadata sections write them") {
  auto attrs = Complete({{"count", "-7"}, {"flag", "1"}, {"scale", "0.69999999999999996"}});
  REQUIRE(attrs.ok());
  CHECK(attrs->Int("count") == -7);
  CHECK(attrs->Bool("flag"));
  CHECK(attrs->Float("scale") == 0.7);
}

TEST_CASE("None is as if not given") {
  auto attrs = Complete({{"count", 1}, {"scale", AttrValue()}, {"axes", AttrValue()}});
  REQUIRE(attrs.ok());
  CHECK(attrs->Float("scale") == 0.5);
  CHECK_FALSE(attrs->Has("axes"));
}

TEST_CASE("errors name the operator, the attribute and what is expected") {
  auto message = [](const Result<Attrs>& r) { return r.ok() ? "ok" : r.status().message(); };
  CHECK(message(Complete({})) == "sample: attribute count (an integer) is missing");
  CHECK(message(Complete({{"count", AttrValue()}})) ==
        "sample: attribute count (an integer) is missing");
  CHECK(message(Complete({{"count", 1.5}})) ==
        "sample: attribute count must be an integer, not 1.5");
  CHECK(message(Complete({{"count", 1}, {"axes", AttrList{1, "x"}}})) ==
        "sample: attribute axes must be a list of integers, not [1, \"x\"]");
  CHECK(message(Complete({{"count", 1}, {"axes", AttrList{Dim::Any()}}})) ==
        "sample: attribute axes must be a list of integers, not [?]");
  CHECK(message(Complete({{"count", 1}, {"colour", 1}}))
            .find("no attribute named \"colour\"; it has "
                  "flag, count") != std::string::npos);
}

}  // namespace
}  // namespace relayvm
