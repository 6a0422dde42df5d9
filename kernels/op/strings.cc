// Texts: conversions, parts, comparisons beyond equality; and n-grams, of texts by their ids too.
// Stateless. Tested by strings_test.cc.
#include <utility>

#include "kernels/op/define.h"
#include "kernels/op/op_helpers.h"

namespace relayvm {
namespace {

Status RequireStrings(const TensorType& t, std::string_view what = "data") {
  if (t.dtype == DType::kString) return OkStatus();
  return Invalid("{} is {}, expected string", what, DTypeName(t.dtype));
}
Status RequireNumbers(const TensorType& t, std::string_view what = "data") {
  if (t.dtype != DType::kString) return OkStatus();
  return Invalid("{} is string, expected numbers", what);
}
Status RequireInt64(const TensorType& t, std::string_view what) {
  if (t.dtype == DType::kInt64) return OkStatus();
  return Invalid("{} is {}, expected int64", what, DTypeName(t.dtype));
}

// An elementwise builtin of one argument.
OpDef Each(std::string name, std::string builtin, bool of_strings,
           std::function<DType(const Attrs&)> result) {
  OpDef op;
  op.name = std::move(name);
  op.takes_strings = true;
  op.infer = [of_strings, result](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(of_strings ? RequireStrings(tc.tensor(0))
                                       : RequireNumbers(tc.tensor(0)));
    const TensorType to{tc.tensor(0).shape, result(tc.attrs())};
    if (of_strings) RELAYVM_RETURN_IF_ERROR(RequireNumbers(to, "the result"));
    return OpResult(to);
  };
  op.builtin = [builtin](const ComputeContext&) -> BuiltinCall { return {builtin, {}}; };
  return op;
}

OpDef ToNumberOp() {
  OpDef op = Each("string.to_number", "string_to_number", true,
                  [](const Attrs& attrs) { return DTypeOr(attrs, "dtype", DType::kFloat32); });
  op.attrs = {Required("dtype", AttrKind::kDType)};
  return op;
}

// The number of a text, the same for the same text in a run: that of a constant is its own.
OpDef IdOp() {
  OpDef op;
  op.name = "string.id";
  op.takes_strings = true;
  op.fusion = FusionClass::kElementwise;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(RequireStrings(tc.tensor(0)));
    return OpResult(TensorType{tc.tensor(0).shape, DType::kInt64});
  };
  op.compute = [](const ComputeContext& c) -> std::vector<te::Tensor> {
    return {Elementwise("id", c,
                        [](const ExprList& v) { return te::Reinterpret(v[0], DType::kInt64); })};
  };
  return op;
}

// Places in the order of the texts' characters, the same for the same text.
OpDef RankOp() {
  OpDef op = Each("string.rank", "string_rank", true, [](const Attrs&) { return DType::kInt64; });
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(RequireStrings(tc.tensor(0)));
    RELAYVM_RETURN_IF_ERROR(RequireRank(tc.tensor(0), 1));
    return OpResult(TensorType{tc.tensor(0).shape, DType::kInt64});
  };
  return op;
}

OpDef ConcatOp() {
  OpDef op;
  op.name = "string.concat";
  op.takes_strings = true;
  op.num_args = 2;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(RequireStrings(tc.tensor(0)));
    RELAYVM_RETURN_IF_ERROR(RequireStrings(tc.tensor(1), "the second argument"));
    RELAYVM_ASSIGN_OR_RETURN(
        std::vector<Dim> shape,
        BroadcastShapes(tc, tc.tensor(0).shape, tc.tensor(1).shape, "the arguments"));
    return OpResult(TensorType{std::move(shape), DType::kString});
  };
  op.builtin = [](const ComputeContext&) -> BuiltinCall { return {"string_concat", {}}; };
  return op;
}

// Arguments: data, delimiter (1). Of each text the number of its parts.
Status InferSplit(TypeContext& tc) {
  RELAYVM_RETURN_IF_ERROR(RequireStrings(tc.tensor(0)));
  RELAYVM_RETURN_IF_ERROR(RequireStrings(tc.tensor(1), "delimiter"));
  if (tc.tensor(1).rank() != 1 || !tc.tensor(1).shape[0].is_const(1))
    return Invalid("expected one delimiter");
  return OkStatus();
}
OpDef SplitCountOp() {
  OpDef op;
  op.name = "string.split_count";
  op.takes_strings = true;
  op.num_args = 2;
  op.attrs = {Optional("maxsplit", AttrKind::kInt, -1)};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(InferSplit(tc));
    return OpResult(TensorType{tc.tensor(0).shape, DType::kInt64});
  };
  op.builtin = [](const ComputeContext& c) -> BuiltinCall {
    return {"string_split_count", {c.attrs.Int("maxsplit")}};
  };
  return op;
}
// Texts of data's shape and one dim more, which argument `i`, int64 (1), says.
Result<OpResult> WithRoom(TypeContext& tc, size_t i, std::string_view what) {
  RELAYVM_RETURN_IF_ERROR(RequireRank(tc.tensor(i), 1, what));
  RELAYVM_RETURN_IF_ERROR(RequireInt64(tc.tensor(i), what));
  RELAYVM_ASSIGN_OR_RETURN(const Dim room, tc.Element(i, 0));
  RELAYVM_RETURN_IF_ERROR(tc.RequireAtLeast(room, 0, what));
  std::vector<Dim> shape = tc.tensor(0).shape;
  shape.push_back(room);
  return OpResult(TensorType{std::move(shape), DType::kString});
}

// A third argument, int64 (1): how many parts there is room for. Texts with fewer end in empty
// ones.
OpDef SplitOp() {
  OpDef op = SplitCountOp();
  op.name = "string.split";
  op.num_args = 3;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(InferSplit(tc));
    return WithRoom(tc, 2, "the number of parts");
  };
  op.builtin = [](const ComputeContext& c) -> BuiltinCall {
    return {"string_split", {c.attrs.Int("maxsplit")}};
  };
  return op;
}

// Arguments: data (n), words to leave out (k). One empty text where nothing is left.
OpDef NormalizeOp() {
  OpDef op;
  op.name = "string.normalize";
  op.takes_strings = true;
  op.num_args = 2;
  op.num_counts = 1;
  // To lower case (1), upper case (2), or as it is (0).
  op.attrs = {
      Optional("change_case", AttrKind::kInt, 0),
      Optional("case_sensitive", AttrKind::kBool, false),
      Optional("ascii", AttrKind::kBool, false)};  // letters of other alphabets have no case
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    for (size_t i = 0; i < 2; ++i) {
      RELAYVM_RETURN_IF_ERROR(RequireStrings(tc.tensor(i)));
      RELAYVM_RETURN_IF_ERROR(RequireRank(tc.tensor(i), 1));
    }
    const int64_t change = tc.attrs().Int("change_case");
    if (change < 0 || change > 2) return Invalid("change_case is {}, expected 0 to 2", change);
    return OpResult(TensorType{{tc.FreshSymbol("words")}, DType::kString});
  };
  op.upper_bound = [](const ComputeContext& c) -> std::vector<TensorType> {
    return {TensorType{{c.inputs[0]->shape[0] + 1}, DType::kString}};
  };
  op.builtin = [](const ComputeContext& c) -> BuiltinCall {
    return {"string_normalize",
            {c.attrs.Int("change_case") + (c.attrs.Bool("ascii") ? 3 : 0),
             c.attrs.Bool("case_sensitive") ? 1 : 0}};
  };
  return op;
}

// Arguments: data, a program (kernels/runtime/regex_program.h).
OpDef FullMatchOp() {
  OpDef op;
  op.name = "string.full_match";
  op.takes_strings = true;
  op.num_args = 2;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(RequireStrings(tc.tensor(0)));
    RELAYVM_RETURN_IF_ERROR(RequireInt64(tc.tensor(1), "the program"));
    if (tc.tensor(1).rank() != 2 || !tc.tensor(1).shape[1].is_const(3))
      return Invalid("expected a program of rows of 3");
    return OpResult(TensorType{tc.tensor(0).shape, DType::kBool});
  };
  op.builtin = [](const ComputeContext&) -> BuiltinCall { return {"string_full_match", {}}; };
  return op;
}

// Arguments: data, programs in one table, the row at which each begins. Of each text the number of
// its tokens: what matches the program, or what is left between the matches of each in turn.
Status InferTokens(TypeContext& tc) {
  RELAYVM_RETURN_IF_ERROR(RequireStrings(tc.tensor(0)));
  RELAYVM_RETURN_IF_ERROR(RequireInt64(tc.tensor(1), "the programs"));
  if (tc.tensor(1).rank() != 2 || !tc.tensor(1).shape[1].is_const(3))
    return Invalid("expected programs of rows of 3");
  RELAYVM_RETURN_IF_ERROR(RequireInt64(tc.tensor(2), "the programs' starts"));
  RELAYVM_RETURN_IF_ERROR(RequireRank(tc.tensor(2), 1, "the programs' starts"));
  const int64_t least = tc.attrs().Int("least");
  if (least < 1) return Invalid("least is {}, expected 1 or more characters", least);
  return OkStatus();
}
OpDef CountTokensOp() {
  OpDef op;
  op.name = "string.count_tokens";
  op.takes_strings = true;
  op.num_args = 3;
  op.attrs = {Optional("are_matches", AttrKind::kBool, false),
              Optional("least", AttrKind::kInt, 1)};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(InferTokens(tc));
    return OpResult(TensorType{tc.tensor(0).shape, DType::kInt64});
  };
  op.builtin = [](const ComputeContext& c) -> BuiltinCall {
    return {"string_count_tokens", {c.attrs.Bool("are_matches") ? 1 : 0, c.attrs.Int("least")}};
  };
  return op;
}
// Two more arguments: texts (3) before, after and in the places of none; int64 (1): how many tokens
// there is room for, with those before and after where `mark` says that they are written.
OpDef TokensOp() {
  OpDef op = CountTokensOp();
  op.name = "string.tokens";
  op.num_args = 5;
  op.attrs.push_back(Optional("mark", AttrKind::kBool, false));
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(InferTokens(tc));
    RELAYVM_RETURN_IF_ERROR(RequireStrings(tc.tensor(3), "around"));
    if (tc.tensor(3).rank() != 1 || !tc.tensor(3).shape[0].is_const(3))
      return Invalid("around: expected 3 texts: before, after and in the places of none");
    return WithRoom(tc, 4, "the number of tokens");
  };
  op.builtin = [](const ComputeContext& c) -> BuiltinCall {
    return {
        "string_tokens",
        {c.attrs.Bool("are_matches") ? 1 : 0, c.attrs.Int("least"), c.attrs.Bool("mark") ? 1 : 0}};
  };
  return op;
}

// The hash of 32 bits of each element's bytes, or of each text's.
OpDef Murmur3Op() {
  OpDef op;
  op.name = "murmur3";
  op.takes_strings = true;
  op.attrs = {Optional("seed", AttrKind::kInt, 0), Required("dtype", AttrKind::kDType)};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const DType dtype = DTypeOr(tc.attrs(), "dtype", DType::kUInt32);
    if (dtype != DType::kUInt32 && dtype != DType::kInt32)
      return Invalid("dtype is {}, expected uint32 or int32", DTypeName(dtype));
    return OpResult(TensorType{tc.tensor(0).shape, dtype});
  };
  op.builtin = [](const ComputeContext& c) -> BuiltinCall {
    return {"murmur3", {c.attrs.Int("seed")}};
  };
  return op;
}

// Arguments: data (rows, n), n-grams (k, length) in order, the column of each (k); all int64. How
// often each stands in a row, with up to `skips` numbers left out between two of its numbers.
OpDef CountGramsOp() {
  OpDef op;
  op.name = "count_grams";
  op.num_args = 3;
  op.attrs = {Required("width", AttrKind::kInt), Optional("skips", AttrKind::kInt, 0)};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType &data = tc.tensor(0), &grams = tc.tensor(1), &columns = tc.tensor(2);
    RELAYVM_RETURN_IF_ERROR(RequireInt64(data, "data"));
    RELAYVM_RETURN_IF_ERROR(RequireInt64(grams, "the n-grams"));
    RELAYVM_RETURN_IF_ERROR(RequireInt64(columns, "the columns"));
    RELAYVM_RETURN_IF_ERROR(RequireRank(data, 2));
    RELAYVM_RETURN_IF_ERROR(RequireRank(grams, 2, "the n-grams"));
    RELAYVM_RETURN_IF_ERROR(RequireRank(columns, 1, "the columns"));
    RELAYVM_RETURN_IF_ERROR(
        tc.RequireEqual(grams.shape[0], columns.shape[0], "the number of n-grams and columns"));
    RELAYVM_RETURN_IF_ERROR(tc.RequireAtLeast(grams.shape[1], 1, "the length of n-grams"));
    const int64_t width = tc.attrs().Int("width"), skips = tc.attrs().Int("skips");
    if (width < 0 || skips < 0)
      return Invalid("width {} and skips {} must not be negative", width, skips);
    return OpResult(TensorType{{data.shape[0], width}, DType::kInt64});
  };
  op.builtin = [](const ComputeContext& c) -> BuiltinCall {
    return {"count_grams", {c.attrs.Int("skips")}};
  };
  return op;
}

}  // namespace

void DefineStrings(OpTable& table) {
  table.Add(Each("string.from_number", "string_from_number", false,
                 [](const Attrs&) { return DType::kString; }));
  table.Add(ToNumberOp());
  table.Add(IdOp());
  table.Add(RankOp());
  table.Add(ConcatOp());
  table.Add(SplitCountOp());
  table.Add(SplitOp());
  table.Add(NormalizeOp());
  table.Add(FullMatchOp());
  table.Add(CountTokensOp());
  table.Add(Murmur3Op());
  table.Add(TokensOp());
  table.Add(CountGramsOp());
}

}  // namespace relayvm
