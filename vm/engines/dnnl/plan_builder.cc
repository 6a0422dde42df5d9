#include "vm/engines/dnnl/plan_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "vm/engines/dnnl/threads.h"

namespace relayvm::onednn {
namespace {

constexpr uint64_t kAlignment = 64;

std::vector<int> Inverse(const std::vector<int>& order) {
  std::vector<int> inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    inverse[static_cast<size_t>(order[i])] = static_cast<int>(i);
  return inverse;
}

bool IsEmpty(const Dims& dims) { return std::find(dims.begin(), dims.end(), 0) != dims.end(); }

// oneDNN has no rank of 0.
Dims Ranked(const Dims& dims) { return dims.empty() ? Dims{1} : dims; }

NativeStep Fill(float number, DType dtype, uint64_t bytes) {
  uint32_t bits = 0;
  std::memcpy(&bits, &number, sizeof(bits));
  const bool is_half = dtype == DType::kBFloat16;  // of which float32 has the bits first
  if (is_half) bits = (bits & 0xFFFF0000U) | bits >> 16U;
  return [bits, is_half, bytes](std::span<void* const> at) {
    for (uint64_t i = 0; i + 4 <= bytes; i += 4) {
      std::memcpy(static_cast<char*>(at[0]) + i, &bits, 4);
    }
    if (is_half && bytes % 4 != 0) {
      std::memcpy(static_cast<char*>(at[0]) + bytes - 2, &bits, 2);
    }
  };
}

// oneDNN 2.6 makes code for each algorithm once in a primitive: with the numbers of one of those
// that have it.
bool HasOtherNumbers(const Attributes& attributes, const PostOp& op) {
  return op.kind == PostOp::Kind::kEltwise &&
         std::any_of(attributes.post_ops.begin(), attributes.post_ops.end(), [&](const PostOp& o) {
           return o.kind == op.kind && o.algorithm == op.algorithm &&
                  (o.alpha != op.alpha || o.beta != op.beta);
         });
}

// By plain loops, or with functions of two tensors that a product by GEMM has by plain loops.
bool IsSlow(const PrimitiveDesc& desc, const Attributes& attributes) {
  const std::string name = desc.implementation();
  const bool has_binary =
      std::any_of(attributes.post_ops.begin(), attributes.post_ops.end(),
                  [](const PostOp& op) { return op.kind == PostOp::Kind::kBinary; });
  return desc.is_reference() || (has_binary && name.find("gemm:") != std::string::npos &&
                                 name.find("brgemm:") == std::string::npos);
}

bool HasEmptySource(const Root& root) {
  return std::any_of(root.sources.begin(), root.sources.end(),
                     [](const Source& s) { return s.view.is_empty(); });
}

}  // namespace

PlanBuilder::PlanBuilder(const Graph& graph, Constants& constants, std::vector<int64_t> symbols)
    : graph_(graph), constants_(constants), plan_(std::make_unique<Plan>()) {
  plan_->symbols = std::move(symbols);
  plan_->constants = &constants;
  plan_->threads = MaxThreads();
  for (const Node& node : graph.nodes) {
    values_.emplace_back(node.outputs.size());
    uses_.emplace_back(node.outputs.size(), 0);
    for (const ValueRef& v : node.inputs) ++uses_[v.node][v.output];
  }
  for (const ValueRef& v : graph.heads) ++uses_[v.node][v.output];
}

Result<Dims> PlanBuilder::DimsOf(ValueRef v) const {
  return ResolveDims(graph_.TypeOf(v), plan_->symbols);
}

Status PlanBuilder::PlaceFixed(uint32_t node) {
  const Node& n = graph_.nodes[node];
  for (uint32_t output = 0; output < n.outputs.size(); ++output) {
    RELAYVM_ASSIGN_OR_RETURN(const Dims dims, DimsOf({node, output}));
    Value& value = values_[node][output];
    RELAYVM_ASSIGN_OR_RETURN(value.desc, MemoryDesc::Plain(dims, n.outputs[output].dtype));
    if (n.kind == Node::Kind::kKernel || IsEmpty(dims)) continue;
    value.place = {n.kind == Node::Kind::kInput ? Place::Kind::kInput : Place::Kind::kConstant,
                   n.position};
  }
  return OkStatus();
}

Result<Value> PlanBuilder::Plain(ValueRef v) {
  const Value value = Get(v);
  Value plain;
  RELAYVM_ASSIGN_OR_RETURN(plain.desc, MemoryDesc::Plain(value.desc.dims(), DTypeOf(v)));
  RELAYVM_ASSIGN_OR_RETURN(plain.place, Convert(value.desc, value.place, plain.desc));
  return plain;
}

MemoryDesc PlanBuilder::Preferred(ValueRef v, const MemoryDesc& view) const {
  if (!IsConstant(v)) return {};
  return constants_.Preferred(graph_.nodes[v.node].position, view).value_or(MemoryDesc());
}

MemoryDesc PlanBuilder::Preferred(const Written& written, const MemoryDesc& view) const {
  return constants_.Preferred(written, view).value_or(MemoryDesc());
}

// --- Steps ---

Place PlanBuilder::NewBuffer(uint64_t bytes) {
  buffers_.push_back({bytes});
  return {Place::Kind::kScratch, buffers_.size() - 1};
}

uint32_t PlanBuilder::MemoryOf(const MemoryDesc& desc, const Place& place) {
  if (place.kind == Place::Kind::kScratch) {
    Buffer& buffer = buffers_[place.index];
    buffer.last = static_cast<int64_t>(plan_->steps.size());
    if (buffer.first < 0) buffer.first = buffer.last;
  }
  constexpr size_t kLookBack = 64;
  std::vector<Plan::PlanMemory>& memories = plan_->memories;
  for (size_t i = memories.size(); i-- > 0 && i + kLookBack >= memories.size();) {
    if (memories[i].place == place && memories[i].desc.SameLayout(desc)) {
      return static_cast<uint32_t>(i);
    }
  }
  memories.push_back({desc, place});
  return static_cast<uint32_t>(memories.size() - 1);
}

Status PlanBuilder::AddPrimitive(const PrimitiveDesc& desc,
                                 std::vector<std::pair<int, Value>> args) {
  PlanStep step;
  RELAYVM_ASSIGN_OR_RETURN(step.primitive, desc.Create());
  if (const MemoryDesc scratchpad = desc.scratchpad(); scratchpad.bytes() != 0) {
    args.push_back({DNNL_ARG_SCRATCHPAD, {scratchpad, NewBuffer(scratchpad.bytes())}});
  }
  for (const auto& [arg, value] : args) {
    step.args.push_back({arg, MemoryOf(value.desc, value.place)});
  }
  plan_->steps.push_back(std::move(step));
  return OkStatus();
}

void PlanBuilder::AddNative(NativeStep native, const std::vector<Value>& places) {
  PlanStep step;
  step.native = std::move(native);
  for (const Value& v : places) step.args.push_back({0, MemoryOf(v.desc, v.place)});
  plan_->steps.push_back(std::move(step));
}

Result<Place> PlanBuilder::Convert(const MemoryDesc& view, const Place& place,
                                   const MemoryDesc& wanted) {
  if (view.SameLayout(wanted)) return place;
  if (place.kind == Place::Kind::kConstant) {
    const auto index = static_cast<uint32_t>(place.index);
    RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<const Packed> packed,
                             constants_.Pack(index, view, wanted));
    plan_->packed.push_back(std::move(packed));
    return Place{Place::Kind::kPacked, plan_->packed.size() - 1};
  }
  for (const Conversion& c : conversions_) {
    if (c.from == place && c.view.SameLayout(view) && c.wanted.SameLayout(wanted)) return c.to;
  }
  const Place to = NewBuffer(wanted.bytes());
  RELAYVM_ASSIGN_OR_RETURN(const PrimitiveDesc desc, Describe(Reorder{view, wanted}, {}));
  RELAYVM_RETURN_IF_ERROR(
      AddPrimitive(desc, {{DNNL_ARG_FROM, {view, place}}, {DNNL_ARG_TO, {wanted, to}}}));
  conversions_.push_back({view, wanted, place, to});
  return to;
}

Value PlanBuilder::SetResult(uint32_t node, const MemoryDesc& desc, uint32_t output) {
  Value& value = values_[node][output];
  value.desc = desc;
  const auto head = std::find(graph_.heads.begin(), graph_.heads.end(), ValueRef{node, output});
  if (head != graph_.heads.end() && desc.is_plain()) {
    value.place = {Place::Kind::kOutput, static_cast<uint64_t>(head - graph_.heads.begin())};
  } else {
    value.place = NewBuffer(desc.bytes());
  }
  return value;
}

void PlanBuilder::Done(uint32_t node) {
  for (const ValueRef& v : graph_.nodes[node].inputs) --uses_[v.node][v.output];
}

// --- Primitives with operations after them ---

// The operand as the primitive's result is described; kUnsupported where it cannot be.
Result<MemoryDesc> PlanBuilder::OperandView(const Root& root, const Dims& result,
                                            const Post& post) {
  Dims dims = Ranked(post.dims);
  if (root.is_reshaped) return Status(StatusCode::kUnsupported, "an operand of other axes");
  if (root.is_flat) {
    const bool is_row = std::all_of(dims.begin(), dims.end() - 1, [](int64_t d) { return d == 1; });
    if (!is_row && post.dims != result) {
      return Status(StatusCode::kUnsupported, "an operand of other axes than rows and columns");
    }
    const int64_t rows =
        std::accumulate(dims.begin(), dims.end() - 1, int64_t{1}, std::multiplies<>());
    dims = {rows, dims.back()};
  }
  RELAYVM_ASSIGN_OR_RETURN(MemoryDesc view, Get(post.operand).desc.Reshaped(dims));
  if (root.order.empty()) return view;
  return view.Permuted(root.order);
}

// Its last use is the node's, and it is in memory of its own.
bool PlanBuilder::MayOverwrite(ValueRef v, uint32_t node) const {
  const ValueRef self{node, 0};
  return Get(v).place.kind == Place::Kind::kScratch && uses_[v.node][v.output] == 1 &&
         std::find(graph_.heads.begin(), graph_.heads.end(), self) == graph_.heads.end();
}

// A sum is one in place where its operand may be overwritten, else an addition.
Result<Attributes> PlanBuilder::AttributesOf(uint32_t node, const Root& root, const Dims& result,
                                             std::span<const Post> posts, bool in_place) {
  Attributes attributes;
  for (const Post& p : posts) {
    PostOp op{p.kind, p.algorithm, p.alpha, p.beta, {}};
    if (HasOtherNumbers(attributes, op)) {
      return Status(StatusCode::kUnsupported, "a function twice, with other numbers");
    }
    if (p.kind == PostOp::Kind::kSum) {
      if (in_place && p.dims == result && MayOverwrite(p.operand, node)) {
        in_place = false;
        attributes.post_ops.push_back(std::move(op));
        continue;
      }
      op.kind = PostOp::Kind::kBinary;
      op.algorithm = dnnl_binary_add;
    }
    if (op.kind == PostOp::Kind::kBinary) {
      RELAYVM_ASSIGN_OR_RETURN(op.operand, OperandView(root, result, p));
    }
    attributes.post_ops.push_back(std::move(op));
  }
  return attributes;
}

// As many posts as a fast primitive takes.
Result<PlanBuilder::Chosen> PlanBuilder::Choose(uint32_t node, const Root& root, const Dims& result,
                                                std::span<const Post> posts) {
  const bool has_sum = std::any_of(posts.begin(), posts.end(), [&](const Post& p) {
    return p.kind == PostOp::Kind::kSum && p.dims == result && MayOverwrite(p.operand, node) &&
           !root.is_reshaped;
  });
  Chosen slow;
  Status failure;
  for (size_t n = posts.size() + 1; n-- > 0;) {
    for (const bool in_place : {true, false}) {
      if (in_place && !has_sum) continue;
      Result<Attributes> attributes = AttributesOf(node, root, result, posts.first(n), in_place);
      if (!attributes.ok()) {
        failure = attributes.status();
        continue;
      }
      Chosen chosen{.num_posts = n, .attributes = *std::move(attributes)};
      Result<PrimitiveDesc> desc = root.describe(chosen.attributes);
      if (!desc.ok()) {
        if (desc.status().code() == StatusCode::kResourceExhausted) return desc.status();
        failure = desc.status();
        continue;
      }
      chosen.desc = *std::move(desc);
      if (!IsSlow(chosen.desc, chosen.attributes)) return chosen;
      if (!slow.desc) slow = std::move(chosen);
    }
  }
  if (!slow.desc) return failure;
  return slow;
}

// Operands of the result's extents are wanted in its layout.
Status PlanBuilder::FitOperands(const Root& root, std::span<const Post> posts, Chosen* chosen) {
  const MemoryDesc dst = chosen->desc.Query(dnnl_query_dst_md);
  Attributes fitted = chosen->attributes;
  bool changes = false;
  for (size_t i = 0; i < chosen->num_posts; ++i) {
    MemoryDesc& operand = fitted.post_ops[i].operand;
    if (operand.is_none() || operand.dims() != dst.dims() || operand.SameLayout(dst)) continue;
    const MemoryDesc wanted = dst.WithType(DTypeOf(posts[i].operand));
    if (operand.SameLayout(wanted)) continue;
    operand = wanted;
    changes = true;
  }
  if (!changes) return OkStatus();
  Result<PrimitiveDesc> desc = root.describe(fitted);
  if (!desc.ok() || (IsSlow(*desc, fitted) && !IsSlow(chosen->desc, chosen->attributes))) {
    return OkStatus();
  }
  chosen->desc = *std::move(desc);
  chosen->attributes = std::move(fitted);
  return OkStatus();
}

Result<MemoryDesc> PlanBuilder::ResultDesc(const Root& root, const Dims& result,
                                           const MemoryDesc& dst) const {
  MemoryDesc desc = dst;
  if (!root.order.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(desc, dst.Permuted(Inverse(root.order)));
  }
  return desc.Reshaped(Ranked(result));
}

Status PlanBuilder::Emit(uint32_t node, const Root& root, std::span<const Post> posts) {
  RELAYVM_ASSIGN_OR_RETURN(const Dims result, DimsOf({node, 0}));
  if (HasEmptySource(root)) {
    if (!root.of_nothing) {
      return {StatusCode::kUnsupported, "a result of elements of an operand without any"};
    }
    std::vector<Post> all(posts.begin(), posts.end());
    if (root.bias) all.insert(all.begin(), *root.bias);
    Value value;
    RELAYVM_ASSIGN_OR_RETURN(value.desc, MemoryDesc::Plain(result, DTypeOf({node, 0})));
    value.place = all.empty() ? SetResult(node, value.desc).place : NewBuffer(value.desc.bytes());
    AddNative(Fill(*root.of_nothing, DTypeOf({node, 0}), value.desc.bytes()), {value});
    return all.empty() ? OkStatus() : EmitPosts(node, value, all);
  }
  RELAYVM_ASSIGN_OR_RETURN(Chosen chosen, Choose(node, root, result, posts));
  RELAYVM_RETURN_IF_ERROR(FitOperands(root, posts, &chosen));
  return FinishEmit(node, root, chosen, result, posts);
}

Result<std::vector<std::pair<int, Value>>> PlanBuilder::SourcesOf(const Root& root,
                                                                  const PrimitiveDesc& desc) {
  std::vector<std::pair<int, Value>> args;
  for (const Source& s : root.sources) {
    const MemoryDesc wanted = s.wanted.is_none() ? desc.Query(s.query, s.index) : s.wanted;
    if (s.written) {
      RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<const Packed> packed,
                               constants_.Pack(*s.written, s.view, wanted));
      plan_->packed.push_back(std::move(packed));
      args.push_back({s.arg, {wanted, {Place::Kind::kPacked, plan_->packed.size() - 1}}});
      continue;
    }
    RELAYVM_ASSIGN_OR_RETURN(const Place place, Convert(s.view, s.place, wanted));
    args.push_back({s.arg, {wanted, place}});
  }
  return args;
}

Result<Value> PlanBuilder::As(ValueRef v, const MemoryDesc& wanted) {
  const Value value = Get(v);
  RELAYVM_ASSIGN_OR_RETURN(const Place place, Convert(value.desc, value.place, wanted));
  return Value{wanted, place};
}

Result<Value> PlanBuilder::EmitScratch(uint32_t node, const Root& root, DType dtype) {
  RELAYVM_ASSIGN_OR_RETURN(const Dims result, DimsOf({node, 0}));
  Value value;
  if (HasEmptySource(root)) {
    RELAYVM_ASSIGN_OR_RETURN(value.desc, MemoryDesc::Plain(result, dtype));
    value.place = NewBuffer(value.desc.bytes());
    AddNative(Fill(root.of_nothing.value_or(0), dtype, value.desc.bytes()), {value});
    return value;
  }
  RELAYVM_ASSIGN_OR_RETURN(const PrimitiveDesc desc, root.describe({}));
  using Args = std::vector<std::pair<int, Value>>;
  RELAYVM_ASSIGN_OR_RETURN(Args args, SourcesOf(root, desc));
  const MemoryDesc dst = desc.Query(dnnl_query_dst_md);
  RELAYVM_ASSIGN_OR_RETURN(value.desc, ResultDesc(root, result, dst));
  value.place = NewBuffer(value.desc.bytes());
  args.push_back({DNNL_ARG_DST, {dst, value.place}});
  RELAYVM_RETURN_IF_ERROR(AddPrimitive(desc, std::move(args)));
  return value;
}

Status PlanBuilder::AddFurther(uint32_t node, const Root& root, const PrimitiveDesc& desc,
                               std::vector<std::pair<int, Value>>* args) {
  for (const Further& f : root.further) {
    const MemoryDesc own = desc.Query(dnnl_query_exec_arg_md, f.arg);
    if (!f.output) {
      args->push_back({f.arg, {own, NewBuffer(own.bytes())}});
      continue;
    }
    RELAYVM_ASSIGN_OR_RETURN(const Dims dims, DimsOf({node, *f.output}));
    RELAYVM_ASSIGN_OR_RETURN(const MemoryDesc result, own.Reshaped(dims));
    args->push_back({f.arg, {own, SetResult(node, result, *f.output).place}});
  }
  return OkStatus();
}

Status PlanBuilder::FinishEmit(uint32_t node, const Root& root, const Chosen& chosen,
                               const Dims& result, std::span<const Post> posts) {
  using Args = std::vector<std::pair<int, Value>>;
  RELAYVM_ASSIGN_OR_RETURN(Args args, SourcesOf(root, chosen.desc));
  const MemoryDesc dst = chosen.desc.Query(dnnl_query_dst_md);
  Place summed;
  for (size_t i = 0; i < chosen.num_posts; ++i) {
    const PostOp& op = chosen.attributes.post_ops[i];
    if (op.kind == PostOp::Kind::kEltwise) continue;
    RELAYVM_ASSIGN_OR_RETURN(const MemoryDesc view, OperandView(root, result, posts[i]));
    const Place from = Get(posts[i].operand).place;
    const MemoryDesc& wanted = op.kind == PostOp::Kind::kSum ? dst : op.operand;
    RELAYVM_ASSIGN_OR_RETURN(const Place place, Convert(view, from, wanted));
    if (op.kind == PostOp::Kind::kSum) {
      summed = place;  // its own buffer, or one that the last use of it has made
      continue;
    }
    args.push_back(
        {DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1, {wanted, place}});
  }
  Value value;
  RELAYVM_ASSIGN_OR_RETURN(value.desc, ResultDesc(root, result, dst));
  const std::span<const Post> rest = posts.subspan(chosen.num_posts);
  if (summed.kind != Place::Kind::kNone) {
    value.place = summed;
    std::erase_if(conversions_,
                  [&](const Conversion& c) { return c.from == summed || c.to == summed; });
    if (rest.empty()) values_[node][0] = value;
  } else {
    value.place = rest.empty() ? SetResult(node, value.desc).place : NewBuffer(value.desc.bytes());
  }
  args.push_back({DNNL_ARG_DST, {dst, value.place}});
  RELAYVM_RETURN_IF_ERROR(AddFurther(node, root, chosen.desc, &args));
  RELAYVM_RETURN_IF_ERROR(AddPrimitive(chosen.desc, std::move(args)));
  return rest.empty() ? OkStatus() : EmitPosts(node, value, rest);
}

// oneDNN 2.6.3 computes functions of two tensors wrongly, and writes past their end, where blocks
// are narrower than its vectors and more than the function itself is asked for: these are plain.
Result<Value> PlanBuilder::ForSteps(const Value& value, std::span<const Post> posts) {
  const bool is_whole = posts[0].dims == value.desc.dims();
  const bool is_alone = posts.size() == 1 && is_whole;
  if (posts[0].kind == PostOp::Kind::kEltwise || is_alone || !value.desc.has_narrow_blocks())
    return value;
  RELAYVM_ASSIGN_OR_RETURN(const MemoryDesc plain, value.desc.AsPlain());
  RELAYVM_ASSIGN_OR_RETURN(const Place place, Convert(value.desc, value.place, plain));
  return Value{plain, place};
}

Status PlanBuilder::EmitPosts(uint32_t node, const Value& given, std::span<const Post> posts) {
  const Post& first = posts[0];
  RELAYVM_ASSIGN_OR_RETURN(const Value value, ForSteps(given, posts));
  Root root;
  root.sources.push_back({DNNL_ARG_SRC_0, value.desc, value.place, {}, dnnl_query_src_md, 0});
  if (first.kind == PostOp::Kind::kEltwise) {
    const Eltwise eltwise{first.algorithm, first.alpha, first.beta, value.desc};
    root.describe = [eltwise](const Attributes& a) { return Describe(eltwise, a); };
    return Emit(node, root, posts.subspan(1));
  }
  Value operand = Get(first.operand);
  Result<MemoryDesc> view = operand.desc.Reshaped(Ranked(first.dims));
  if (!view.ok()) {
    RELAYVM_ASSIGN_OR_RETURN(operand, Plain(first.operand));
    view = operand.desc.Reshaped(Ranked(first.dims));
    RELAYVM_RETURN_IF_ERROR(view.status());
  }
  const bool is_whole = view->dims() == value.desc.dims();
  const Binary binary{first.kind == PostOp::Kind::kSum ? dnnl_binary_add : first.algorithm,
                      value.desc, is_whole ? value.desc.WithType(DTypeOf(first.operand)) : *view,
                      value.desc};
  root.sources.push_back({DNNL_ARG_SRC_1, *view, operand.place, {}, dnnl_query_src_md, 1});
  Binary liked = binary;  // a broadcast operand blocked as the value is
  RELAYVM_ASSIGN_OR_RETURN(liked.b, MemoryDesc::Any(view->dims(), DTypeOf(first.operand)));
  root.describe = [binary, liked](const Attributes& a) -> Result<PrimitiveDesc> {
    Result<PrimitiveDesc> desc = Describe(binary, a);
    if (desc.ok() && !desc->is_reference()) return desc;
    Result<PrimitiveDesc> other = Describe(liked, a);
    // By plain loops it asks for no layout.
    return other.ok() && !other->is_reference() ? std::move(other) : std::move(desc);
  };
  return Emit(node, root, posts.subspan(1));
}

// --- The end ---

Result<std::unique_ptr<Plan>> PlanBuilder::Finish() {
  for (size_t h = 0; h < graph_.heads.size(); ++h) {
    const Value value = Get(graph_.heads[h]);
    const Place output{Place::Kind::kOutput, h};
    if (value.desc.is_empty() || value.place == output) continue;
    RELAYVM_ASSIGN_OR_RETURN(const MemoryDesc plain,
                             MemoryDesc::Plain(value.desc.dims(), DTypeOf(graph_.heads[h])));
    RELAYVM_ASSIGN_OR_RETURN(const PrimitiveDesc desc, Describe(Reorder{value.desc, plain}, {}));
    RELAYVM_RETURN_IF_ERROR(
        AddPrimitive(desc, {{DNNL_ARG_FROM, value}, {DNNL_ARG_TO, {plain, output}}}));
  }
  RELAYVM_RETURN_IF_ERROR(PlaceScratch());
  return std::move(plan_);
}

// First fit, in the order of steps.
Status PlanBuilder::PlaceScratch() {
  struct Live {
    uint64_t offset, end;
    int64_t last;
  };
  std::vector<Live> live;  // by offset
  std::vector<uint64_t> offsets(buffers_.size());
  std::vector<size_t> order(buffers_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(buffers_[a].first, a) < std::pair(buffers_[b].first, b);
  });
  for (const size_t b : order) {
    const Buffer& buffer = buffers_[b];
    if (buffer.first < 0) continue;
    std::erase_if(live, [&](const Live& l) { return l.last < buffer.first; });
    const uint64_t bytes = (buffer.bytes + kAlignment - 1) / kAlignment * kAlignment;
    uint64_t offset = 0;
    auto at = live.begin();
    for (; at != live.end() && at->offset - offset < bytes; ++at) offset = at->end;
    uint64_t end = 0;
    if (bytes < buffer.bytes || __builtin_add_overflow(offset, bytes, &end)) {
      return Status::OutOfMemory();
    }
    live.insert(at, {offset, end, buffer.last});
    offsets[b] = offset;
    plan_->scratch_bytes = std::max(plan_->scratch_bytes, end);
  }
  for (Plan::PlanMemory& m : plan_->memories) {
    if (m.place.kind == Place::Kind::kScratch) m.place.index = offsets[m.place.index];
  }
  return OkStatus();
}

}  // namespace relayvm::onednn
