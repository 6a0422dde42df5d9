// Cells of recurrent networks: lstm_cell, gru_cell and lbr_gru_cell (reset before and after the
// product with the state), rnn_tanh_cell and rnn_relu_cell. oneDNN's layers of one turn, float32.
//
// Operands have the names of the parameters in dnnl.relay: x, h and c; the weights w and r, whose
// rows are the gates in the order that the node's numbers say; biases, which start with b. Weights
// and biases are constants. Their rows are put in oneDNN's order when they are packed. Where the
// update gate is the new value's part ("_negated"), which is the old one's part for oneDNN, its
// weights change their sign: 1 - sigmoid(x) is sigmoid(-x).
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "vm/engines/dnnl/operators.h"

namespace relayvm::onednn {
namespace {

// Hidden rows of a constant matrix, from `row` and `column` on.
struct GateRows {
  const float* data = nullptr;
  int64_t columns = 0, row = 0, column = 0;
};

struct CellForm {
  Recurrent::Kind kind = Recurrent::Kind::kPlain;
  dnnl_alg_kind_t activation = dnnl_eltwise_tanh;
  bool negates_update = false;
  ValueRef x, h, c;  // c of an LSTM
  int64_t features = 0, hidden = 0;
  std::vector<GateRows> w, r;                     // of each gate
  std::vector<std::vector<const float*>> biases;  // of each gate, that are added

  float SignOf(size_t gate) const { return negates_update && gate == 0 ? -1.0F : 1.0F; }
};

// --- Operands ---

class CellReader {
 public:
  CellReader(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  Result<std::shared_ptr<const CellForm>> Read() {
    RELAYVM_RETURN_IF_ERROR(ReadNames());
    RELAYVM_RETURN_IF_ERROR(ReadTypes());
    switch (form_.kind) {
      case Recurrent::Kind::kPlain:
        RELAYVM_RETURN_IF_ERROR(ReadAll({}));
        break;
      case Recurrent::Kind::kLstm:
        RELAYVM_RETURN_IF_ERROR(ReadAll({"input", "forget", "new", "output"}));
        break;
      case Recurrent::Kind::kGru:
        RELAYVM_RETURN_IF_ERROR(ReadGru());
        break;
      case Recurrent::Kind::kResetAfter:
        RELAYVM_RETURN_IF_ERROR(ReadResetAfter());
        break;
    }
    if (!names_.empty()) {
      return InvalidInput(
          fmt::format("{} has no operand {}", node_.op, names_[0].first.substr(0, 40)));
    }
    return std::make_shared<const CellForm>(std::move(form_));
  }

 private:
  Status ReadNames() {
    std::string_view op = node_.op;
    constexpr std::string_view kNegated = "_negated";
    form_.negates_update = op.ends_with(kNegated);
    if (form_.negates_update) op.remove_suffix(kNegated.size());
    form_.kind = op == "lstm_cell"      ? Recurrent::Kind::kLstm
                 : op == "gru_cell"     ? Recurrent::Kind::kGru
                 : op == "lbr_gru_cell" ? Recurrent::Kind::kResetAfter
                                        : Recurrent::Kind::kPlain;
    form_.activation = op == "rnn_relu_cell" ? dnnl_eltwise_relu : dnnl_eltwise_tanh;
    const std::vector<std::string>* names = node_.Find("operands");
    if (names == nullptr || names->size() != node_.inputs.size()) {
      return InvalidInput(fmt::format("operands are {} names for {} inputs",
                                      names == nullptr ? 0 : names->size(), node_.inputs.size()));
    }
    for (size_t i = 0; i < names->size(); ++i) names_.emplace_back((*names)[i], node_.inputs[i]);
    if (!node_.steps.empty()) return InvalidInput(fmt::format("{} takes no steps", node_.op));
    return OkStatus();
  }

  // Takes the operand of that name.
  std::optional<ValueRef> Find(std::string_view name) {
    const auto at = std::find_if(names_.begin(), names_.end(),
                                 [&](const auto& named) { return named.first == name; });
    if (at == names_.end()) return std::nullopt;
    const ValueRef found = at->second;
    names_.erase(at);
    return found;
  }
  Result<ValueRef> Take(std::string_view name, int least_rank, int most_rank) {
    const std::optional<ValueRef> found = Find(name);
    if (!found) return InvalidInput(fmt::format("there is no operand {}", name));
    const TensorType& type = graph_.TypeOf(*found);
    if (type.dtype != DType::kFloat32) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("operand {} of {}, expected float32", name, DTypeName(type.dtype)));
    }
    if (type.rank() < least_rank || type.rank() > most_rank) {
      return InvalidInput(fmt::format("operand {} of rank {}", name, type.rank()));
    }
    return *found;
  }

  Status ReadTypes() {
    const bool is_lstm = form_.kind == Recurrent::Kind::kLstm;
    if (node_.outputs.size() != (is_lstm ? 2 : 1)) {
      return InvalidInput(fmt::format("{} results of {}", node_.outputs.size(), node_.op));
    }
    for (const TensorType& t : node_.outputs) {
      if (t.dtype != DType::kFloat32 || t.rank() != 2 || !t.shape[1].is_known()) {
        return Status(StatusCode::kUnsupported,
                      "a result that is no matrix of float32 of as many columns as are known");
      }
    }
    form_.hidden = node_.outputs[0].shape[1].value;
    constexpr int64_t kMostHidden = int64_t{1} << 40;
    if (form_.hidden > kMostHidden) return InvalidInput(fmt::format("a state of {}", form_.hidden));
    RELAYVM_ASSIGN_OR_RETURN(form_.x, Take("x", 2, 3));
    RELAYVM_ASSIGN_OR_RETURN(form_.h, Take("h", 2, 2));
    if (is_lstm) {
      RELAYVM_ASSIGN_OR_RETURN(form_.c, Take("c", 2, 2));
    }
    return OkStatus();
  }

  Result<const float*> Constant(ValueRef v, std::string_view name, Dims* dims) const {
    const Node& n = graph_.nodes[v.node];
    if (n.kind != Node::Kind::kConst) {
      return Status(StatusCode::kUnsupported, fmt::format("operand {} is no constant", name));
    }
    RELAYVM_ASSIGN_OR_RETURN(*dims, ResolveDims(n.outputs[0], {}));
    return static_cast<const float*>(graph_.constant_data[n.position]);
  }

  // A matrix with rows of so many gates.
  Result<GateRows> Matrix(std::string_view name, int64_t gates) {
    RELAYVM_ASSIGN_OR_RETURN(const ValueRef v, Take(name, 2, 2));
    Dims dims;
    GateRows block;
    RELAYVM_ASSIGN_OR_RETURN(block.data, Constant(v, name, &dims));
    if (dims[0] != gates * form_.hidden) {
      return InvalidInput(fmt::format("operand {} has {} rows, expected those of {} gates of {}",
                                      name, dims[0], gates, form_.hidden));
    }
    block.columns = dims[1];
    return block;
  }
  Result<GateRows> StateMatrix(std::string_view name, int64_t gates) {
    RELAYVM_ASSIGN_OR_RETURN(const GateRows block, Matrix(name, gates));
    if (block.columns == form_.hidden) return block;
    return InvalidInput(fmt::format("operand {} has {} columns for a state of {}", name,
                                    block.columns, form_.hidden));
  }
  // The data's matrix, of which the last columns may be the state's.
  Result<GateRows> DataMatrix(int64_t gates, int64_t of_state) {
    RELAYVM_ASSIGN_OR_RETURN(const GateRows block, Matrix("w", gates));
    form_.features = block.columns - of_state;
    if (form_.features >= 1) return block;
    return Status(StatusCode::kUnsupported, "data without features");
  }
  GateRows Gate(GateRows matrix, int64_t field, int64_t column = 0) const {
    matrix.row = field * form_.hidden;
    matrix.column = column;
    return matrix;
  }

  // Which part of a bias belongs to which gate.
  using Parts = std::vector<std::pair<size_t, int64_t>>;
  // Where there is one of that name: of so many gates.
  Status Bias(std::string_view name, int64_t gates, const Parts& parts) {
    const std::optional<ValueRef> v = Find(name);
    if (!v) return OkStatus();
    if (graph_.TypeOf(*v).dtype != DType::kFloat32) {
      return {StatusCode::kUnsupported, fmt::format("operand {} is not of float32", name)};
    }
    Dims dims;
    RELAYVM_ASSIGN_OR_RETURN(const float* data, Constant(*v, name, &dims));
    const bool is_vector =
        !dims.empty() && dims.back() == gates * form_.hidden &&
        std::all_of(dims.begin(), dims.end() - 1, [](int64_t d) { return d == 1; });
    if (!is_vector) {
      return InvalidInput(
          fmt::format("operand {} is no vector of {} gates of {}", name, gates, form_.hidden));
    }
    for (const auto& [gate, field] : parts)
      form_.biases[gate].push_back(data + field * form_.hidden);
    return OkStatus();
  }

  // The places of gates in a matrix, which are all there once.
  Result<std::vector<int64_t>> Fields(const std::vector<std::string>& names) const {
    std::vector<int64_t> fields;
    for (const std::string& name : names) {
      RELAYVM_ASSIGN_OR_RETURN(const int64_t field, node_.Integer(name, -1));
      const auto count = static_cast<int64_t>(names.size());
      const bool is_there = std::find(fields.begin(), fields.end(), field) != fields.end();
      if (field < 0 || field >= count || is_there) {
        return InvalidInput(fmt::format("{} is gate {} of {}", name, field, count));
      }
      fields.push_back(field);
    }
    return fields;
  }

  // Gates that the data and the state have parts of alike; no names: one gate.
  Status ReadAll(const std::vector<std::string>& names) {
    std::vector<int64_t> fields = {0};
    if (!names.empty()) {
      RELAYVM_ASSIGN_OR_RETURN(fields, Fields(names));
    }
    const auto gates = static_cast<int64_t>(fields.size());
    const bool is_apart = std::any_of(names_.begin(), names_.end(),
                                      [](const auto& named) { return named.first == "r"; });
    RELAYVM_ASSIGN_OR_RETURN(const GateRows w, DataMatrix(gates, is_apart ? 0 : form_.hidden));
    GateRows r = w;
    if (is_apart) {
      RELAYVM_ASSIGN_OR_RETURN(r, StateMatrix("r", gates));
    }
    Parts parts;
    form_.biases.resize(fields.size());
    for (size_t i = 0; i < fields.size(); ++i) {
      form_.w.push_back(Gate(w, fields[i]));
      form_.r.push_back(Gate(r, fields[i], is_apart ? 0 : form_.features));
      parts.emplace_back(i, fields[i]);
    }
    for (const char* bias : {"b", "bh", "bs", "bt"})
      RELAYVM_RETURN_IF_ERROR(Bias(bias, gates, parts));
    return OkStatus();
  }

  Result<std::vector<int64_t>> ReadData() {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<int64_t> fields, Fields({"update", "reset", "new"}));
    RELAYVM_ASSIGN_OR_RETURN(const GateRows w, DataMatrix(3, 0));
    for (const int64_t field : fields) form_.w.push_back(Gate(w, field));
    form_.biases.resize(form_.kind == Recurrent::Kind::kResetAfter ? 4 : 3);
    RELAYVM_RETURN_IF_ERROR(Bias("b", 3, {{0, fields[0]}, {1, fields[1]}, {2, fields[2]}}));
    return fields;
  }

  Status ReadResetAfter() {
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<int64_t> fields, ReadData());
    RELAYVM_ASSIGN_OR_RETURN(const GateRows r, StateMatrix("r", 3));
    for (const int64_t field : fields) form_.r.push_back(Gate(r, field));
    return Bias("bh", 3, {{0, fields[0]}, {1, fields[1]}, {3, fields[2]}});
  }

  Status ReadGru() {
    RELAYVM_RETURN_IF_ERROR(ReadData().status());
    const bool is_apart = std::any_of(names_.begin(), names_.end(),
                                      [](const auto& named) { return named.first == "ru"; });
    if (is_apart) {
      for (const char* name : {"ru", "rr"}) {
        RELAYVM_ASSIGN_OR_RETURN(const GateRows r, StateMatrix(name, 1));
        form_.r.push_back(r);
      }
    } else {
      RELAYVM_ASSIGN_OR_RETURN(const std::vector<int64_t> own, Fields({"own_update", "own_reset"}));
      RELAYVM_ASSIGN_OR_RETURN(const GateRows r, StateMatrix("r", 2));
      for (const int64_t field : own) form_.r.push_back(Gate(r, field));
      RELAYVM_RETURN_IF_ERROR(Bias("bh", 2, {{0, own[0]}, {1, own[1]}}));
    }
    RELAYVM_ASSIGN_OR_RETURN(const GateRows rn, StateMatrix("rn", 1));
    form_.r.push_back(rn);
    const std::pair<const char*, size_t> kOfGates[] = {{"bu", 0},  {"but", 0}, {"br", 1},
                                                       {"brt", 1}, {"bn", 2},  {"bnt", 2}};
    for (const auto& [name, gate] : kOfGates) RELAYVM_RETURN_IF_ERROR(Bias(name, 1, {{gate, 0}}));
    return OkStatus();
  }

  const Graph& graph_;
  const Node& node_;
  CellForm form_;
  std::vector<std::pair<std::string, ValueRef>> names_;  // of operands that are not taken yet
};

// --- Constants in oneDNN's order ---

// (gates, hidden, columns)
void WriteWeights(const CellForm& f, const std::vector<GateRows>& gates, int64_t columns,
                  float* to) {
  for (size_t g = 0; g < gates.size(); ++g) {
    const GateRows& block = gates[g];
    const float sign = f.SignOf(g);
    for (int64_t i = 0; i < f.hidden; ++i, to += columns) {
      const float* from = block.data + (block.row + i) * block.columns + block.column;
      std::transform(from, from + columns, to, [sign](float v) { return sign * v; });
    }
  }
}

// (gates, hidden)
void WriteBias(const CellForm& f, float* to) {
  for (size_t g = 0; g < f.biases.size(); ++g) {
    for (int64_t i = 0; i < f.hidden; ++i) {
      float sum = 0;
      for (const float* bias : f.biases[g]) sum += bias[i];
      *to++ = f.SignOf(g) * sum;
    }
  }
}

// --- Plans ---

// The weights of `columns` features, as they are written: the features of a row side by side.
Result<MemoryDesc> WrittenWeights(int64_t columns, int64_t gates, int64_t hidden) {
  const int64_t all = gates * hidden * columns;
  return MemoryDesc::Strided({1, 1, columns, gates, hidden}, DType::kFloat32,
                             {all, all, 1, hidden * columns, columns});
}

// In layouts of plans before, where there are some that this one takes.
std::function<Result<PrimitiveDesc>(const Attributes&)> DescribeCell(const Recurrent& cell,
                                                                     const MemoryDesc& weights,
                                                                     const MemoryDesc& state) {
  return [cell, weights, state](const Attributes& a) -> Result<PrimitiveDesc> {
    if (!weights.is_none() && !state.is_none()) {
      Recurrent packed = cell;
      packed.weights = weights;
      packed.state_weights = state;
      Result<PrimitiveDesc> desc = Describe(packed, a);
      if (desc.ok()) return desc;
    }
    return Describe(cell, a);
  };
}

Status BuildCell(PlanBuilder& b, uint32_t node, const std::shared_ptr<const CellForm>& f) {
  RELAYVM_ASSIGN_OR_RETURN(const Dims result, b.DimsOf({node, 0}));
  const int64_t rows = result[0], gates = static_cast<int64_t>(f->w.size());
  RELAYVM_ASSIGN_OR_RETURN(const Value x, b.Plain(f->x));
  RELAYVM_ASSIGN_OR_RETURN(const Value h, b.Plain(f->h));
  const Dims data = x.desc.dims();
  if ((data != Dims{rows, f->features} && data != Dims{1, rows, f->features}) ||
      h.desc.dims() != result) {
    return InvalidInput("the extents of data, state and weights do not fit");
  }
  Recurrent cell{.kind = f->kind, .activation = f->activation};
  RELAYVM_ASSIGN_OR_RETURN(cell.data, x.desc.Reshaped({1, rows, f->features}));
  RELAYVM_ASSIGN_OR_RETURN(cell.state, h.desc.Reshaped({1, 1, rows, f->hidden}));
  RELAYVM_ASSIGN_OR_RETURN(cell.dst, h.desc.Reshaped({1, rows, f->hidden}));
  Root root;
  root.sources = {{DNNL_ARG_SRC_LAYER, cell.data, x.place, cell.data},
                  {DNNL_ARG_SRC_ITER, cell.state, h.place, cell.state}};
  if (f->kind == Recurrent::Kind::kLstm) {
    RELAYVM_ASSIGN_OR_RETURN(const Value c, b.Plain(f->c));
    RELAYVM_ASSIGN_OR_RETURN(const Dims memory, b.DimsOf({node, 1}));
    if (c.desc.dims() != result || memory != result)
      return InvalidInput("the extents of an LSTM's states do not fit");
    cell.memory = cell.state;
    root.sources.push_back({DNNL_ARG_SRC_ITER_C, cell.memory, c.place, cell.memory});
    root.further = {{DNNL_ARG_DST_ITER, std::nullopt}, {DNNL_ARG_DST_ITER_C, 1}};
  }
  const auto written = [&](uint64_t part, std::function<void(float*)> write) {
    return Written{uint64_t{node} * 4 + part,
                   [f, write](void* to) { write(static_cast<float*>(to)); }};
  };
  const Written weights = written(0, [f](float* to) { WriteWeights(*f, f->w, f->features, to); });
  const Written own = written(1, [f](float* to) { WriteWeights(*f, f->r, f->hidden, to); });
  const auto add = [&](int arg, const Written& w, int64_t columns,
                       MemoryDesc* desc) -> Result<MemoryDesc> {
    RELAYVM_ASSIGN_OR_RETURN(const MemoryDesc view, WrittenWeights(columns, gates, f->hidden));
    RELAYVM_ASSIGN_OR_RETURN(*desc, MemoryDesc::Any(view.dims(), DType::kFloat32));
    root.sources.push_back({arg, view, {}, {}, dnnl_query_exec_arg_md, arg, w});
    return b.Preferred(w, view);
  };
  RELAYVM_ASSIGN_OR_RETURN(const MemoryDesc packed,
                           add(DNNL_ARG_WEIGHTS_LAYER, weights, f->features, &cell.weights));
  RELAYVM_ASSIGN_OR_RETURN(const MemoryDesc packed_own,
                           add(DNNL_ARG_WEIGHTS_ITER, own, f->hidden, &cell.state_weights));
  // oneDNN 2.6 has no cells without.
  const auto count = static_cast<int64_t>(f->biases.size());
  RELAYVM_ASSIGN_OR_RETURN(cell.bias, MemoryDesc::Plain({1, 1, count, f->hidden}, DType::kFloat32));
  root.sources.push_back(
      {DNNL_ARG_BIAS, cell.bias, {}, cell.bias, dnnl_query_undef, 0, written(2, [f](float* to) {
         WriteBias(*f, to);
       })});
  root.describe = DescribeCell(cell, packed, packed_own);
  return b.Emit(node, root, {});
}

Result<BuildFn> MakeCell(const Graph& graph, uint32_t node) {
  RELAYVM_ASSIGN_OR_RETURN(const std::shared_ptr<const CellForm> form,
                           CellReader(graph, graph.nodes[node]).Read());
  return BuildFn([node, form](PlanBuilder& b) { return BuildCell(b, node, form); });
}

}  // namespace

MakeFn FindRecurrent(std::string_view op) {
  constexpr std::string_view kCells[] = {"lstm_cell",    "gru_cell",      "gru_cell_negated",
                                         "lbr_gru_cell", "rnn_tanh_cell", "lbr_gru_cell_negated",
                                         "rnn_relu_cell"};
  return std::find(std::begin(kCells), std::end(kCells), op) == std::end(kCells) ? nullptr
                                                                                 : MakeCell;
}

}  // namespace relayvm::onednn
