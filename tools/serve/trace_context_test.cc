#include "tools/serve/trace_context.h"

#include <doctest/doctest.h>

#include <set>

namespace relayvm::serve {
namespace {

constexpr std::string_view kGood = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST_CASE("a traceparent goes on in the same trace, with a span of its own") {
  const auto context = ParseTraceparent(kGood);
  REQUIRE(context);
  CHECK(context->trace_high == 0x0af7651916cd43dd);
  CHECK(context->trace_low == 0x8448eb211c80319c);
  CHECK(context->tag() == context->trace_low);
  CHECK(context->parent == 0xb7ad6b7169203331);
  CHECK(context->span != 0);
  CHECK(context->span != context->parent);
  CHECK(context->is_sampled);
  TraceContext back = *context;
  back.span = back.parent;
  const Traceparent text = FormatTraceparent(back);
  CHECK(std::string_view(text.data(), text.size()) == kGood);
}

TEST_CASE("flags that are not known are no matter, later versions may say more") {
  const std::string good(kGood);
  CHECK(!ParseTraceparent(good.substr(0, 53) + "fe")->is_sampled);
  CHECK(ParseTraceparent("01" + good.substr(2) + "-more"));
  CHECK(ParseTraceparent("cc" + good.substr(2)));
}

TEST_CASE("what is malformed is none") {
  const std::string good(kGood);
  const std::string wrong[] = {
      "",
      "00",
      good.substr(0, 54),
      good + "0",
      good + "-",
      good + "-more",
      "ff" + good.substr(2),
      "01" + good.substr(2) + "more",
      "0x" + good.substr(2),
      " " + good,
      "00-00000000000000000000000000000000-b7ad6b7169203331-01",
      "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
      "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
      "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
      "00_0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331_01",
      std::string(55, '-'),
      std::string(55, '\0'),
      std::string(100'000, '0'),
  };
  for (const std::string& header : wrong) CHECK_MESSAGE(!ParseTraceparent(header), header);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string damaged = good;
    damaged[i] = '\xFF';
    CHECK(!ParseTraceparent(damaged));
  }
}

TEST_CASE("new traces differ") {
  std::set<uint64_t> ids;
  for (int i = 0; i < 1000; ++i) {
    const TraceContext trace = NewTrace(true);
    ids.insert({trace.trace_high, trace.trace_low, trace.span});
  }
  CHECK(ids.size() == 3000);
}

}  // namespace
}  // namespace relayvm::serve
