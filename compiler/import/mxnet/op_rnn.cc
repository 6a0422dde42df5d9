// Fused recurrent layers. One vector holds all parameters: of each layer and direction the weights
// (of the input, of the state, of the projection), then of each layer and direction the biases (of
// the input, of the state). See composite/recurrent.h.
#include <fmt/format.h>

#include "compiler/import/composite/recurrent.h"
#include "compiler/import/mxnet/convert.h"
#include "compiler/import/mxnet/shapes.h"

namespace relayvm::import::mxnet {

namespace {

struct LayerKind {
  RecurrentCell cell;
  std::string_view gates;
  std::vector<std::string_view> activations;
};
LayerKind KindOf(const std::string& mode) {
  if (mode == "lstm") return {RecurrentCell::kLstm, "ifco", {"sigmoid", "tanh", "tanh"}};
  if (mode == "gru") return {RecurrentCell::kGru, "rzh", {"sigmoid", "tanh"}};
  return {RecurrentCell::kPlain, "h", {mode == "rnn_relu" ? "relu" : "tanh"}};
}

struct FusedSpec {
  LayerKind kind;
  int64_t layers, directions, hidden, projection;  // projection 0: none
  int64_t width = 0;                               // of the input

  int64_t size() const { return projection > 0 ? projection : hidden; }  // of h
  int64_t rows() const { return static_cast<int64_t>(kind.gates.size()) * hidden; }
  int64_t width_of(int64_t layer) const { return layer == 0 ? width : size() * directions; }
};

// Parameters in their order. Where the vector was made of matrices these are taken as they are.
class Parameters {
 public:
  Parameters(Node& n, const Value& all) : n_(n), all_(all), parts_(n.OriginsOf(all)) {}

  Value Matrix(int64_t rows, int64_t columns) { return Next({rows, columns}, rows * columns); }
  Value Vector(int64_t size) { return Next({size}, size); }
  int64_t taken() const { return at_; }

 private:
  Value Next(const std::vector<int64_t>& shape, int64_t size) {
    const int64_t from = at_;
    at_ += size;
    if (next_ < parts_.size()) {
      const Value& part = parts_[next_++];
      const std::vector<Value> own = n_.OriginsOf(part);
      const Value& whole = own.size() == 1 ? own[0] : part;
      const std::vector<Dim> dims(shape.begin(), shape.end());
      if (whole.is_tensor() && whole.shape() == dims) return whole;
      parts_.clear();  // otherwise divided
    }
    const Term slice = Term(n_.b(), all_).Slice(0, from, at_);
    return shape.size() == 1 ? slice : slice.Reshape(shape);
  }

  Node& n_;
  Value all_;
  std::vector<Value> parts_;
  size_t next_ = 0;
  int64_t at_ = 0;
};

// The input's width where its dim is open: what the number of parameters leaves for it.
std::optional<int64_t> WidthOf(Node& n, const FusedSpec& spec) {
  const Dim width = n.Input(0).dim(2), count = n.Input(1).dim(0);
  if (width.is_const()) return width.value();
  if (!count.is_const())
    return n.Unsupported("the width of the input, or the number of parameters, must be known");
  const int64_t cells = spec.rows() * spec.directions;
  const int64_t own = cells * (spec.size() + 2) + spec.projection * spec.hidden * spec.directions;
  const int64_t later = own + cells * spec.size() * spec.directions;
  const int64_t rest = count.value() - own - (spec.layers - 1) * later;
  if (cells <= 0 || rest <= 0 || rest % cells != 0)
    return n.Fail("{} parameters are not those of {} layers", count.value(), spec.layers);
  return rest / cells;
}

std::optional<FusedSpec> ReadFused(Node& n) {
  FusedSpec spec{KindOf(n.Choice("mode", "lstm", {"rnn_relu", "rnn_tanh", "lstm", "gru"})),
                 n.Count("num_layers", 1), n.Bool("bidirectional", false) ? 2 : 1,
                 n.Count("state_size", 0), n.Counts("projection_size", {0})[0]};
  constexpr int64_t kMostLayers = 1000, kMostUnits = 1 << 20;
  if (spec.layers < 1 || spec.layers > kMostLayers || spec.hidden < 1 || spec.hidden > kMostUnits ||
      spec.projection < 0 || spec.projection > kMostUnits) {
    return n.Fail("expected 1 to {} layers of 1 to {} units", kMostLayers, kMostUnits);
  }
  if (!n.ExpectRank(n.Input(0), 3, "data") || !n.ExpectRank(n.Input(1), 1, "parameters"))
    return std::nullopt;
  const auto width = WidthOf(n, spec);
  if (!width || *width > INT32_MAX) return std::nullopt;
  spec.width = *width;
  // MXNet does neither on processors, and this importer gives what it gives there.
  for (const char* attr : {"lstm_state_clip_min", "lstm_state_clip_max"})
    if (n.HasAttr(attr))
      n.Warn(fmt::format("{} is ignored, as MXNet ignores it on processors", attr));
  if (n.Bool("use_sequence_length", false))
    n.Warn("sequence_length is ignored, as MXNet ignores it on processors");
  return spec;
}

// Part `k` of the first axis of a state, for each sequence of the batch.
Value StateOf(Node& n, size_t input, int64_t k, int64_t size) {
  TypedBuilder& b = n.b();
  if (!n.Has(input)) return {};
  const Term part(b, b.Squeeze(Term(n, input).Slice(0, k, k + 1), {0}));
  if (!part.value().dim(0).is_const(1) || n.Input(0).dim(1).is_const(1)) return part;
  return BroadcastTo(b, part, {b.DimOf(n.Input(0), 1), b.Ints({size})});
}

Outputs Rnn(Node& n) {
  TypedBuilder& b = n.b();
  const auto spec = ReadFused(n);
  if (!spec) return {};
  const bool is_lstm = spec->kind.cell == RecurrentCell::kLstm;
  std::vector<RecurrentDirection> all(static_cast<size_t>(spec->layers * spec->directions));
  Parameters parameters(n, n.Input(1));
  for (size_t k = 0; k < all.size(); ++k) {
    const auto index = static_cast<int64_t>(k);
    RecurrentDirection& d = all[k];
    d.backward = index % spec->directions == 1;
    d.input.w = parameters.Matrix(spec->rows(), spec->width_of(index / spec->directions));
    d.recurrent.w = parameters.Matrix(spec->rows(), spec->size());
    if (is_lstm && spec->projection > 0)
      d.projection = parameters.Matrix(spec->projection, spec->hidden);
    for (const std::string_view name : spec->kind.activations)
      d.activations.push_back({FindActivation(name)});
    d.initial_h = StateOf(n, 2, index, spec->size());
    if (is_lstm) d.initial_c = StateOf(n, 3, index, spec->hidden);
  }
  for (RecurrentDirection& d : all) {
    d.bias = parameters.Vector(spec->rows());
    d.recurrent_bias = parameters.Vector(spec->rows());
  }
  if (!b.status().ok()) return {};
  if (!n.FitsShape(n.Input(1), {Dim(parameters.taken())}, "parameters")) return {};
  Value y = n.Input(0);
  std::vector<Value> hs, cs;
  for (int64_t layer = 0; layer < spec->layers; ++layer) {
    RecurrentSpec recurrent{
        .cell = spec->kind.cell, .gates = spec->kind.gates, .hidden = spec->hidden, .x = y};
    recurrent.reset_after = true;
    const auto first = all.begin() + layer * spec->directions;
    recurrent.directions.assign(first, first + spec->directions);
    std::vector<Value> ys;
    for (const RecurrentResult& r : Recurrent(b, recurrent)) {
      ys.push_back(r.y);
      hs.push_back(b.ExpandDims(r.h, 0));
      if (r.c) cs.push_back(b.ExpandDims(r.c, 0));
    }
    if (ys.empty() || !b.status().ok()) return {};
    y = b.Concat(ys, 2);
  }
  Outputs out = {y};
  if (!n.Bool("state_outputs", false)) return out;
  out.push_back(b.Concat(hs, 0));
  if (!cs.empty()) out.push_back(b.Concat(cs, 0));
  return out;
}

constexpr OperatorDef kRecurrentOperators[] = {
    {"RNN _npx_rnn", 3, 5, Rnn},
};

}  // namespace

std::span<const OperatorDef> RecurrentOperators() { return kRecurrentOperators; }

}  // namespace relayvm::import::mxnet
