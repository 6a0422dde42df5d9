#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <set>

#include "kernels/op/narrow_indices_testing.h"
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
    CHECK(op->is_identity == !op->infer);
    CHECK((op->compute || op->builtin || op->is_identity));
    CHECK((op->num_counts == 0 || op->upper_bound));
    std::set<std::string_view> fields;
    for (const AttrField& field : op->attrs) {
      CHECK(fields.insert(field.name).second);
      CHECK((!field.required || field.fallback.is_none()));
    }
    for (const std::vector<int>* args : {&op->shape_args, &op->tuple_args}) {
      for (int i : *args) CHECK((i >= 0 && (op->num_args < 0 || i < op->num_args)));
    }
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

TEST_CASE("layout rules fit the attributes that they speak of") {
  for (std::string_view name : OpTable::Get().Names()) {
    CAPTURE(name);
    const OpDef& op = *OpTable::Get().Find(name);
    bool has_axis = false;
    bool has_layout = false;
    for (const AttrField& field : op.attrs) {
      has_axis =
          has_axis || field.name == "axis" || field.name == "axes" || field.name == "pad_width";
      has_layout = has_layout || field.name == "layout" || field.name == "data_layout";
    }
    CHECK((op.layout != LayoutRule::kFollows || has_axis));
    CHECK((op.along_axis == AlongAxis::kNothing || has_axis));
    CHECK((op.along_axis != AlongAxis::kJoins || op.tuple_args == std::vector<int>{0}));
    CHECK((op.layout != LayoutRule::kChooses || has_layout));
    CHECK((op.layout != LayoutRule::kAgnostic || (!has_axis && !has_layout)));
  }
}

// --- Integers at their extremes ---

constexpr int64_t kExtremes[] = {
    0, -1, INT32_MIN, INT32_MAX, int64_t{INT32_MAX} + 1, int64_t{1} << 62, INT64_MIN, INT64_MAX};

bool HoldsIntegers(AttrKind kind) {
  return kind == AttrKind::kInt || kind == AttrKind::kInts || kind == AttrKind::kInts2 ||
         kind == AttrKind::kIntOrInts || kind == AttrKind::kDims || kind == AttrKind::kPositions;
}

// `value` with each integer in it replaced in turn, and once all of them.
void WithExtreme(const AttrValue& value, int64_t extreme,
                 const std::function<void(const AttrValue&)>& fn) {
  const auto* list = std::get_if<AttrList>(&value.value);
  if (list == nullptr) return fn(AttrValue(extreme));
  for (size_t i = 0; i < list->size(); ++i) {
    WithExtreme((*list)[i], extreme, [&](const AttrValue& element) {
      AttrList changed = *list;
      changed[i] = element;
      fn(AttrValue(std::move(changed)));
    });
  }
  if (list->size() < 2 || std::holds_alternative<AttrList>((*list)[0].value)) return;
  fn(AttrValue(AttrList(list->size(), AttrValue(extreme))));
}

// Runs the definition as the compiler does, up to its tensor expressions: it gives an error or
// types, and ends. The sanitizers' builds see what overflows on the way.
void RunDefinition(const OpDef& op, const KnownCall& call, const Attrs& attrs) {
  auto complete = CompleteAttrs(op, attrs);
  if (!complete.ok()) return;
  FakeContext ctx(*complete, call.args);
  ctx.elements = call.elements;
  ctx.floats = call.floats;
  auto result = op.infer(ctx);
  if (!result.ok()) return;
  std::vector<te::Tensor> inputs;
  for (const ArgType& arg : call.args) {
    for (const TensorType& t : arg.tensors) {
      inputs.push_back(te::Placeholder("x", t.shape, t.dtype, static_cast<int>(inputs.size())));
    }
  }
  for (const TensorType& t : result->tensors) {
    // The type checker refuses these.
    Dim size = ProductOf(t.shape);
    if (size.is_const() && (size.value() < 0 || size.value() > int64_t{1} << 46)) return;
    for (const Dim& d : t.shape) {
      if (d.UpperBound().value_or(0) < 0) return;
    }
  }
  ComputeContext compute{*complete, inputs, result->tensors};
  if (op.compute) op.compute(compute);
  if (op.builtin) op.builtin(compute);
}

void RunAtExtremes(const OpDef& op, const KnownCall& call) {
  for (const AttrField& field : op.attrs) {
    if (!HoldsIntegers(field.kind)) continue;
    const AttrValue* known = call.attrs.Find(field.name);
    AttrValue value = known == nullptr || known->is_none() ? AttrValue(1) : *known;
    for (int64_t extreme : kExtremes) {
      WithExtreme(value, extreme, [&](const AttrValue& changed) {
        Attrs attrs = call.attrs;
        attrs.Set(std::string(field.name), changed);
        RunDefinition(op, call, attrs);
      });
    }
  }
}

TEST_CASE("integers beyond 32 bits are refused where they are neither sizes nor positions") {
  HostTensor x = F32({2}, {1, 2});
  CheckFails("repeat", {{"repeats", int64_t{1} << 31}}, {x},
             "attribute repeats: 2147483648 is out of range");
  CheckFails("sum", {{"axis", List({0, INT64_MIN})}}, {x}, "-9223372036854775808 is out of range");
  CheckOp("strided_slice", {{"begin", List({INT64_MIN})}, {"end", List({INT64_MAX})}}, {x}, {x});
}

// --- After all tests ---

// Every operator has been evaluated on data by a test, or, where a builtin is its meaning, been
// given that builtin; each such call runs with integers at their extremes, and with indices of each
// dtype.
class EveryOperatorIsTested final : public doctest::IReporter {
 public:
  explicit EveryOperatorIsTested(const doctest::ContextOptions&) {}

  void test_run_end(const doctest::TestRunStats& stats) override {
    // A run of some tests says nothing.
    if (stats.numTestCasesFailed != 0 || stats.numTestCasesPassingFilters != stats.numTestCases) {
      return;
    }
    bool missing = false;
    std::set<std::string> read;
    for (std::string_view name : OpTable::Get().Names()) {
      const OpDef& op = *OpTable::Get().Find(name);
      if (op.is_identity) continue;
      auto call = KnownCalls().find(name);
      if (call != KnownCalls().end()) {
        RunAtExtremes(op, call->second);
        bool reads_indices = false;
        const std::string wrong = WrongIndex(op, call->second, &reads_indices);
        if (reads_indices) read.insert(op.name);
        if (!wrong.empty()) std::fprintf(stderr, "%s\n", wrong.c_str());
        missing = missing || !wrong.empty();
        continue;
      }
      missing = true;
      std::fprintf(stderr, "no test evaluates %s\n", op.name.c_str());
    }
    for (const std::string name : {"gather", "image.crop_and_resize", "nn.nll_loss", "one_hot",
                                   "range_checked", "reverse_sequence", "take", "unravel_index"}) {
      if (read.contains(name)) continue;
      missing = true;
      std::fprintf(stderr, "no test reads indices of each dtype by %s\n", name.c_str());
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

TEST_CASE("simulated_quantize scales, clips, rounds and scales back") {
  HostTensor x = F32({4}, {0.3, 0.8, -9, 9});
  std::vector<Arg> args = {x, F32({}, {0.5}), F32({}, {-4}), F32({}, {3})};
  CheckOp("relay.op.annotation.simulated_quantize", {{"kind", 1}}, args,
          {F32({4}, {0.5, 1.0, -2, 1.5})});
  CheckOp("relay.op.annotation.simulated_quantize", {{"kind", 0}}, args, {x});
}

}  // namespace
}  // namespace relayvm::op_testing
