// Operators on tuples of tensors: concatenate, stack, split, meshgrid.
#include <algorithm>
#include <functional>
#include <span>

#include "kernels/op/define.h"
#include "kernels/op/op_helpers.h"

namespace relayvm {
namespace {

using te::Expr;

// Every field has the first one's dtype and rank; returns the fields.
Result<std::vector<TensorType>> UniformFields(const TypeContext& ctx) {
  const std::vector<TensorType>& fields = ctx.arg(0).tensors;
  for (const TensorType& t : fields) {
    RELAYVM_RETURN_IF_ERROR(RequireSameDType(fields[0], t));
    if (t.rank() != fields[0].rank()) {
      return Invalid("shapes {} and {} differ in rank", ShapeToString(fields[0].shape),
                     ShapeToString(t.shape));
    }
  }
  return fields;
}

// An input of a join and the position of its first element along the joined axis.
struct JoinPart {
  te::Tensor tensor;
  Dim begin;
};

// What `load` gives for the part that holds `position`. A few parts are asked in order, many by
// halves, so that thousands nest no deeper than a dozen.
Expr Choose(const Expr& position, std::span<const JoinPart> parts,
            const std::function<Expr(const JoinPart&)>& load) {
  constexpr size_t kFew = 8;
  if (parts.size() == 1) return load(parts[0]);
  const size_t first = parts.size() <= kFew ? 1 : parts.size() / 2;
  return te::Select(position < te::DimValue(parts[first].begin),
                    Choose(position, parts.first(first), load),
                    Choose(position, parts.subspan(first), load));
}

OpDef Concatenate() {
  OpDef def;
  def.name = "concatenate";
  def.layout = LayoutRule::kFollows;
  def.tuple_args = {0};
  def.along_axis = AlongAxis::kJoins;
  def.attrs = {Optional("axis", AttrKind::kInt, 0)};
  def.fusion = FusionClass::kInjective;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<TensorType> fields, UniformFields(ctx));
    RELAYVM_ASSIGN_OR_RETURN(int axis, NormalizeAxis(ctx.attrs().Int("axis"), fields[0].rank()));
    auto at = static_cast<size_t>(axis);
    TensorType out = fields[0];
    for (size_t n = 1; n < fields.size(); ++n) {
      for (size_t i = 0; i < out.shape.size(); ++i) {
        if (i == at) continue;
        RELAYVM_RETURN_IF_ERROR(
            ctx.RequireEqual(out.shape[i], fields[n].shape[i], "dims beside the joined axis"));
        // Prefer the dim that is known.
        if (fields[n].shape[i].is_const()) out.shape[i] = fields[n].shape[i];
      }
      out.shape[at] = out.shape[at] + fields[n].shape[at];
    }
    return OpResult(std::move(out));
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const int axis = CanonicalAxis(ctx.attrs.Int("axis"), ctx.inputs[0]->rank());
    return {JoinTensors(ctx.inputs, static_cast<size_t>(axis), ctx.outputs[0].shape)};
  };
  return def;
}

OpDef Stack() {
  OpDef def;
  def.name = "stack";
  def.tuple_args = {0};
  def.along_axis = AlongAxis::kStacks;
  def.attrs = {Optional("axis", AttrKind::kInt, 0)};
  def.fusion = FusionClass::kInjective;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<TensorType> fields, UniformFields(ctx));
    TensorType out = fields[0];
    RELAYVM_ASSIGN_OR_RETURN(int axis, NormalizeAxis(ctx.attrs().Int("axis"), out.rank() + 1));
    for (const TensorType& t : fields) {
      RELAYVM_RETURN_IF_ERROR(RequireShapeEqual(ctx, fields[0].shape, t.shape, "stacked tensors"));
    }
    out.shape.insert(out.shape.begin() + axis, Dim(static_cast<int64_t>(fields.size())));
    return OpResult(std::move(out));
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    int rank = ctx.inputs[0]->rank();
    auto axis = CanonicalAxis(ctx.attrs.Int("axis"), rank + 1);
    std::vector<JoinPart> parts;
    for (const te::Tensor& t : ctx.inputs) {
      parts.push_back({t, Dim(static_cast<int64_t>(parts.size()))});
    }
    return {te::Compute("stack", ctx.outputs[0].shape, [&](const ExprList& i) {
      ExprList at = i;
      at.erase(at.begin() + axis);
      return Choose(i[static_cast<size_t>(axis)], parts,
                    [&](const JoinPart& p) { return te::Load(p.tensor, at); });
    })};
  };
  return def;
}

// --- split ---

// The first index of each part along the split axis, and its length.
struct Part {
  Dim begin, length;
};

// The parts of `extent`: an integer asks for so many equal ones, a list gives the cut points. Null
// status of the checks that the relation has to make: `equal` parts must divide.
std::vector<Part> SplitParts(const AttrValue& spec, const Dim& extent) {
  std::vector<Part> parts;
  if (const auto* list = std::get_if<AttrList>(&spec.value)) {
    Dim begin(0);
    for (const AttrValue& cut : *list) {
      const Dim& end = std::get<Dim>(cut.value);
      parts.push_back({begin, end - begin});
      begin = end;
    }
    parts.push_back({begin, extent - begin});
    return parts;
  }
  const Dim& count = std::get<Dim>(spec.value);
  Dim length = Dim::FloorDiv(extent, count);
  for (int64_t n = 0; n < count.value(); ++n) parts.push_back({Dim(n) * length, length});
  return parts;
}

Status CheckSplit(TypeContext& ctx, const AttrValue& spec, const Dim& extent) {
  if (const auto* list = std::get_if<AttrList>(&spec.value)) {
    int64_t last = 0;
    for (const AttrValue& cut : *list) {
      int64_t at = std::get<Dim>(cut.value).value();
      if (at < last) return Invalid("indices_or_sections: {} comes after {}", at, last);
      last = at;
    }
    return ctx.RequireAtLeast(extent, Dim(last),
                              "the extent of the axis that indices_or_sections cut");
  }
  int64_t count = std::get<Dim>(spec.value).value();
  if (count < 1 || count > 65536) return Invalid("indices_or_sections is {}", count);
  return ctx.RequireEqual(Dim::FloorDiv(extent, Dim(count)) * Dim(count), extent,
                          "an axis must split into equal parts");
}

OpDef Split() {
  OpDef def;
  def.name = "split";
  def.layout = LayoutRule::kFollows;
  def.along_axis = AlongAxis::kSplits;
  def.attrs = {Required("indices_or_sections", AttrKind::kIntOrInts),
               Optional("axis", AttrKind::kInt, 0)};
  def.fusion = FusionClass::kInjective;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& data = ctx.tensor(0);
    RELAYVM_ASSIGN_OR_RETURN(int axis, NormalizeAxis(ctx.attrs().Int("axis"), data.rank()));
    const AttrValue& spec = *ctx.attrs().Find("indices_or_sections");
    const Dim& extent = data.shape[static_cast<size_t>(axis)];
    RELAYVM_RETURN_IF_ERROR(CheckSplit(ctx, spec, extent));
    std::vector<TensorType> out;
    for (const Part& part : SplitParts(spec, extent)) {
      out.push_back(data);
      out.back().shape[static_cast<size_t>(axis)] = part.length;
    }
    return OpResult::Tuple(std::move(out));
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const te::Tensor& data = ctx.inputs[0];
    auto axis = static_cast<size_t>(CanonicalAxis(ctx.attrs.Int("axis"), data->rank()));
    std::vector<Part> parts = SplitParts(*ctx.attrs.Find("indices_or_sections"), data->shape[axis]);
    std::vector<te::Tensor> out;
    for (size_t n = 0; n < parts.size(); ++n) {
      out.push_back(te::Compute("split", ctx.outputs[n].shape, [&](const ExprList& i) {
        ExprList at = i;
        at[axis] = i[axis] + te::DimValue(parts[n].begin);
        return te::Load(data, std::move(at));
      }));
    }
    return out;
  };
  return def;
}

// --- meshgrid ---

// The output axis along which input n varies: with "xy" indexing the first two change places.
size_t MeshAxis(size_t n, size_t count, const std::string& indexing) {
  return indexing == "xy" && count >= 2 && n < 2 ? 1 - n : n;
}

OpDef Meshgrid() {
  OpDef def;
  def.name = "meshgrid";
  def.tuple_args = {0};
  def.attrs = {Optional("indexing", AttrKind::kString, "ij")};
  def.fusion = FusionClass::kInjective;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const std::string& indexing = ctx.attrs().String("indexing");  // what is not xy is ij
    const std::vector<TensorType>& fields = ctx.arg(0).tensors;
    TensorType out{std::vector<Dim>(fields.size()), fields[0].dtype};
    for (size_t n = 0; n < fields.size(); ++n) {
      RELAYVM_RETURN_IF_ERROR(RequireSameDType(fields[0], fields[n]));
      if (fields[n].rank() > 1) {
        return Invalid("inputs must be vectors or scalars, not {}", ShapeToString(fields[n].shape));
      }
      out.shape[MeshAxis(n, fields.size(), indexing)] =
          fields[n].shape.empty() ? Dim(1) : fields[n].shape[0];
    }
    return OpResult::Tuple(std::vector<TensorType>(fields.size(), out));
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    std::vector<te::Tensor> out;
    for (size_t n = 0; n < ctx.inputs.size(); ++n) {
      size_t axis = MeshAxis(n, ctx.inputs.size(), ctx.attrs.String("indexing"));
      out.push_back(te::Compute("meshgrid", ctx.outputs[n].shape, [&](const ExprList& i) {
        return te::Load(ctx.inputs[n], ctx.inputs[n]->rank() == 0 ? ExprList{} : ExprList{i[axis]});
      }));
    }
    return out;
  };
  return def;
}

}  // namespace

te::Tensor JoinTensors(std::span<const te::Tensor> tensors, size_t axis,
                       const std::vector<Dim>& shape) {
  std::vector<JoinPart> parts;
  Dim begin(0);
  for (const te::Tensor& t : tensors) {
    if (!t->shape[axis].is_const(0)) parts.push_back({t, begin});
    begin = begin + t->shape[axis];
  }
  if (parts.empty()) parts.push_back({tensors[0], Dim(0)});
  return te::Compute("concatenate", shape, [&](const ExprList& i) {
    return Choose(i[axis], parts, [&](const JoinPart& p) {
      ExprList at = i;
      at[axis] = i[axis] - te::DimValue(p.begin);
      return te::Load(p.tensor, std::move(at));
    });
  });
}

void DefineConcatenation(OpTable& table) {
  table.Add(Concatenate());
  table.Add(Stack());
  table.Add(Split());
  table.Add(Meshgrid());
}

}  // namespace relayvm
