#include <cstdio>
#include <cstdlib>
#include <set>

#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

TEST_CASE("every definition is whole") {
  const OpTable& table = OpTable::Get();
  CHECK(table.Find("no.such.operator") == nullptr);
  std::vector<std::string_view> names = table.Names();
  CHECK(std::is_sorted(names.begin(), names.end()));
  for (std::string_view name : names) {
    CAPTURE(name);
    const OpDef* op = table.Find(name);
    REQUIRE(op != nullptr);
    CHECK(op->name == name);
    CHECK(op->infer);
    CHECK((op->compute || op->builtin));
    CHECK((op->num_counts == 0 || op->upper_bound));
    std::set<std::string_view> fields;
    for (const AttrField& field : op->attrs) {
      CHECK(fields.insert(field.name).second);
      CHECK((!field.required || field.fallback.is_none()));
    }
    for (int i : op->shape_args) CHECK((i >= 0 && (op->num_args < 0 || i < op->num_args)));
    // Defaults satisfy their own schema.
    Attrs given;
    for (const AttrField& field : op->attrs) {
      if (!field.required) given.Set(std::string(field.name), field.fallback);
    }
    OpDef optional = *op;
    std::erase_if(optional.attrs, [](const AttrField& f) { return f.required; });
    auto completed = CompleteAttrs(optional, given);
    CHECK_MESSAGE(completed.ok(), completed.status().ToString());
  }
}

// After all tests: every operator has been evaluated on data by one of them, or, where a C++ kernel
// is its meaning, been given that kernel.
class EveryOperatorIsTested final : public doctest::IReporter {
 public:
  explicit EveryOperatorIsTested(const doctest::ContextOptions&) {}

  void test_run_end(const doctest::TestRunStats& stats) override {
    // A run of some tests says nothing.
    if (stats.numTestCasesFailed != 0 || stats.numTestCasesPassingFilters != stats.numTestCases) {
      return;
    }
    bool missing = false;
    for (std::string_view name : OpTable::Get().Names()) {
      if (EvaluatedOps().contains(name)) continue;
      missing = true;
      std::fprintf(stderr, "no test evaluates %s\n", std::string(name).c_str());
    }
    if (missing) std::exit(EXIT_FAILURE);
  }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_LISTENER("every operator is tested", 1, EveryOperatorIsTested);

TEST_CASE("markers give their argument back") {
  HostTensor x = F32({2}, {1, 2});
  for (const char* name :
       {"annotation.bitpack_end", "annotation.bitpack_start", "annotation.cast_hint",
        "annotation.checkpoint", "annotation.compiler_begin", "annotation.compiler_end",
        "annotation.stop_fusion", "annotation.with_funcid", "on_device", "device_copy"}) {
    CheckOp(name, {}, {x}, {x});
    CHECK(OpTable::Get().Find(name)->is_view);
  }
  CheckOp("annotation.checkpoint", {}, {Arg::Tuple({x, x})}, {x, x});
}

TEST_CASE("simulated_quantize scales, clips, rounds and scales back") {
  HostTensor x = F32({4}, {0.3, 0.8, -9, 9});
  std::vector<Arg> args = {x, F32({}, {0.5}), F32({}, {-4}), F32({}, {3})};
  CheckOp("relay.op.annotation.simulated_quantize", {{"kind", 1}}, args,
          {F32({4}, {0.5, 1.0, -2, 1.5})});
  CheckOp("relay.op.annotation.simulated_quantize", {{"kind", 0}}, args, {x});
}

}  // namespace
}  // namespace relayvm::op_testing
