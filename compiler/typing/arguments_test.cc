// What is no tensor where an operator takes one, and no tuple where it takes one: the whole table.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/typing/testing.h"

namespace relayvm::typing {
namespace {

constexpr const char* kTensor = "Tensor[(2, 2), float32]";

// Any value of the attribute's kind: the arguments are checked before the relation reads it.
std::string AttrText(const AttrField& field) {
  switch (field.kind) {
    case AttrKind::kBool:
      return "True";
    case AttrKind::kFloat:
      return "1f";
    case AttrKind::kString:
      return "\"x\"";
    case AttrKind::kDType:
      return "\"float32\"";
    case AttrKind::kInts2:
      return "[[1]]";
    default:
      return "1";
  }
}

// A call whose arguments have these types, as a whole program.
std::string Program(const OpDef& op, const std::vector<std::string>& types) {
  std::string params;
  std::string args;
  for (size_t i = 0; i < types.size(); ++i) {
    params += (i > 0 ? ", " : "") + fmt::format("%a{}: {}", i, types[i]);
    args += (i > 0 ? ", " : "") + fmt::format("%a{}", i);
  }
  for (const AttrField& field : op.attrs) {
    if (!field.required) continue;
    args += (args.empty() ? "" : ", ") + fmt::format("{}={}", field.name, AttrText(field));
  }
  return fmt::format("{}def @main({}) {{\n  {}({})\n}}\n", kListType, params, op.name, args);
}

struct Wrong {
  std::string type;
  bool is_wrong_for_tuples;
};

TEST_CASE("each argument of each operator is a tensor, or a tuple where the definition says so") {
  const std::string pair = fmt::format("({}, {})", kTensor, kTensor);
  const Wrong kinds[] = {{pair, false},
                         {fmt::format("({},)", kTensor), false},
                         {"()", true},
                         {fmt::format("({}, {})", kTensor, pair), true},
                         {kTensor, true},
                         {fmt::format("fn ({}) -> {}", kTensor, kTensor), true},
                         {fmt::format("List[{}]", kTensor), true},
                         {fmt::format("ref({})", kTensor), true}};
  for (std::string_view name : OpTable::Get().Names()) {
    const OpDef& op = *OpTable::Get().Find(name);
    if (op.is_identity) continue;
    const size_t count = op.num_args < 0 ? 4 : static_cast<size_t>(op.num_args);
    auto takes_tuple = [&](size_t i) {
      return std::find(op.tuple_args.begin(), op.tuple_args.end(), static_cast<int>(i)) !=
             op.tuple_args.end();
    };
    std::vector<std::string> right(count, kTensor);
    for (size_t i = 0; i < count; ++i) {
      if (takes_tuple(i)) right[i] = pair;
    }
    for (size_t i = 0; i < count; ++i) {
      for (const Wrong& wrong : kinds) {
        bool is_wrong = takes_tuple(i) ? wrong.is_wrong_for_tuples : wrong.type != kTensor;
        if (!is_wrong) continue;
        std::vector<std::string> types = right;
        types[i] = wrong.type;
        std::string source = Program(op, types);
        auto module = Typed(source);
        CAPTURE(source);
        REQUIRE_FALSE(module.ok());
        const std::string& message = module.status().message();
        std::string expected =
            fmt::format("{}: argument {}: expected {}, found {}\n", name, i,
                        takes_tuple(i) ? "a tuple of tensors" : "a tensor", wrong.type);
        CHECK_MESSAGE(message.find(expected) != std::string::npos, message);
        CHECK_MESSAGE(message.find("^~~") != std::string::npos, message);
      }
    }
  }
}

TEST_CASE("a marker takes a value of any type") {
  const std::string types[] = {kTensor, fmt::format("({}, ({},), ())", kTensor, kTensor),
                               fmt::format("fn ({}) -> {}", kTensor, kTensor),
                               fmt::format("List[{}]", kTensor), fmt::format("ref({})", kTensor)};
  for (std::string_view name : OpTable::Get().Names()) {
    const OpDef& op = *OpTable::Get().Find(name);
    if (!op.is_identity) continue;
    for (const std::string& type : types) {
      ir::Module m = MustType(Program(op, {type}));
      CHECK(ir::TypeToString(m.functions.at("main")->result_type) == type);
    }
  }
}

TEST_CASE("a result larger than memory is an error") {
  const std::string_view programs[] = {
      "def @main() { full(1f, shape=[4611686018427387904, 4], dtype=\"float32\") }",
      "def @main() { zeros(shape=[9223372036854775807], dtype=\"int8\") }",
      "def @main() { ones(shape=[2147483648, 2147483648, 4], dtype=\"float32\") }",
      "def @main(%x: Tensor[(1), float32]) { broadcast_to(%x, shape=[4611686018427387904]) }",
      "def @main(%x: Tensor[(65536), float32]) { tile(%x, reps=[2147483647, 2147483647]) }",
      "def @main(%x: Tensor[(65536, 65536), float32]) { repeat(%x, repeats=2147483647) }",
      "def @main() { arange(0i64, 9223372036854775807i64, 1i64, start=0, stop=0, step=0, "
      "dtype=\"int64\") }",
      "def @main(%x: Tensor[(?), float32]) { broadcast_to(%x, shape=[4611686018427387904, 4]) }",
  };
  for (std::string_view program : programs) {
    CAPTURE(program);
    auto module = Typed(std::string(program));
    REQUIRE_FALSE(module.ok());
    CHECK_MESSAGE(module.status().message().find("too large") != std::string::npos,
                  module.status().message());
  }
  // No elements take no memory.
  MustType("def @main() { zeros(shape=[4611686018427387904, 0], dtype=\"float32\") }");
}

}  // namespace
}  // namespace relayvm::typing
