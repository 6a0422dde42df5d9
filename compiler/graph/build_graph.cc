#include "compiler/graph/build_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/base/arithmetic.h"
#include "bytecode/base/shape_rule.h"
#include "bytecode/instruction.h"
#include "bytecode/opcode.h"
#include "bytecode/semantics.h"
#include "bytecode/symbolic_ops.h"
#include "bytecode/verifier.h"
#include "compiler/graph/plan_storage.h"
#include "compiler/graph/traced_memory.h"
#include "compiler/lowering/value_type.h"
#include "vm/graph/format/verify.h"

namespace relayvm::graph {
namespace {

// A loop that constants decide is unrolled; one that never ends is found out here.
constexpr size_t kMostNodes = 1 << 20;
constexpr size_t kMostInstructions = size_t{1} << 26;
constexpr size_t kMostCalls = 10'000;

struct Object;
using ObjectRef = std::shared_ptr<const Object>;  // null: nothing
struct Object {
  enum class Kind : uint8_t { kTensor, kData, kClosure };
  Kind kind = Kind::kTensor;
  // kTensor
  Region region;
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;
  // kData: tag and fields; kClosure: function and what it captured
  uint32_t index = 0;
  std::vector<ObjectRef> fields;
};

// What a scalar register holds, where constants decide it.
using Scalar = std::optional<int64_t>;

struct Frame {
  const FunctionInfo* function = nullptr;
  size_t pc = 0;
  uint32_t arena = 0;  // its space
  std::vector<Scalar> scalars;
  std::vector<ObjectRef> objects;
  uint16_t result = 0;  // the register of the caller, of the bank that `function` returns
};

class Tracer {
 public:
  explicit Tracer(const Program& program) : program_(program) {}

  Result<GraphProgram> Run() {
    const ExportInfo& entry = program_.exports.at(0);
    RELAYVM_RETURN_IF_ERROR(Start(entry));
    size_t steps = 0;
    while (!result_) {
      if (++steps > kMostInstructions || nodes().size() > kMostNodes)
        return Unsupported("the program does too much for a graph: a loop that does not end?");
      RELAYVM_RETURN_IF_ERROR(Step());
    }
    RELAYVM_RETURN_IF_ERROR(AddHeads(*result_, entry.result));
    memory_.JoinStorages();
    RELAYVM_RETURN_IF_ERROR(TakeKernels(entry));
    PlanStorage(made_.graph, made_.kernels);
    return std::move(made_);
  }

  // --- Rows OP of opcodes.def (bytecode/semantics.h) ---

  void kMoveR(uint16_t to, uint16_t from) { R(to) = R(from); }
  void kConstR(uint16_t to, uint16_t constant) { R(to) = ConstantObject(constant); }
  void kDrop(uint16_t reg) { R(reg) = nullptr; }
  void kJump(int32_t distance) { Go(distance); }
  Status kSwitch(uint16_t index, const Targets& targets) { return Jump(I(index), targets); }
  Status kSwitchTag(uint16_t reg, const Targets& targets) {
    RELAYVM_ASSIGN_OR_RETURN(const ObjectRef data, Expect(reg, Object::Kind::kData));
    return Jump(data->index, targets);
  }
  Status kCallI(uint16_t to, uint16_t function, OperandUnits scalars, OperandUnits objects) {
    return Call(function, nullptr, scalars, objects, to);
  }
  Status kCallR(uint16_t to, uint16_t function, OperandUnits scalars, OperandUnits objects) {
    return Call(function, nullptr, scalars, objects, to);
  }
  Status kTailCall(uint16_t function, OperandUnits scalars, OperandUnits objects) {
    return Call(function, nullptr, scalars, objects, std::nullopt);
  }
  Status kCallClosure(std::optional<uint16_t> to, uint16_t reg, OperandUnits objects) {
    RELAYVM_ASSIGN_OR_RETURN(const ObjectRef closure, Expect(reg, Object::Kind::kClosure));
    return Call(closure->index, closure.get(), {}, objects, to);
  }
  Status kTailClosure(uint16_t reg, OperandUnits objects) {
    return kCallClosure(std::nullopt, reg, objects);
  }
  void kReturnI(uint16_t reg) { Return(I(reg), nullptr); }
  void kReturnR(uint16_t reg) { Return(std::nullopt, R(reg)); }
  void kAdtNew(uint16_t to, uint16_t tag, OperandUnits fields) {
    R(to) = DataObject(Object::Kind::kData, tag, fields);
  }
  void kClosureNew(uint16_t to, uint16_t function, OperandUnits captured) {
    R(to) = DataObject(Object::Kind::kClosure, function, captured);
  }
  Status kAdtGet(uint16_t to, uint16_t reg, uint16_t field) {
    RELAYVM_ASSIGN_OR_RETURN(const ObjectRef data, Expect(reg, Object::Kind::kData));
    if (field >= data->fields.size())
      return {StatusCode::kInternal, "a graph's instruction asks for a field that is not there"};
    R(to) = data->fields[field];
    return OkStatus();
  }
  Status kAdtTag(uint16_t to, uint16_t reg) {
    RELAYVM_ASSIGN_OR_RETURN(const ObjectRef data, Expect(reg, Object::Kind::kData));
    I(to) = data->index;
    return OkStatus();
  }
  Status kTensorAlloc(uint16_t to, DType dtype, OperandUnits dims) {
    return Allocate(to, dtype, Numbers(dims));
  }
  Status kTensorReuse(uint16_t to, uint16_t, DType dtype, OperandUnits dims) {
    return Allocate(to, dtype, Numbers(dims));
  }
  Status kTensorStatic(uint16_t to, uint16_t type) {
    return Allocate(to, program_.tensor_types[type].dtype, program_.tensor_types[type].dims);
  }
  Status kTensorView(uint16_t to, uint16_t reg, OperandUnits list) {
    RELAYVM_ASSIGN_OR_RETURN(const ObjectRef from, Expect(reg, Object::Kind::kTensor));
    auto dims = Numbers(list);
    if (!dims) return DependsOnData("the size of a view");
    R(to) = TensorObject(from->region, from->dtype, *std::move(dims));
    return OkStatus();
  }
  Status kTensorDim(uint16_t to, uint16_t reg, uint16_t axis) {
    RELAYVM_ASSIGN_OR_RETURN(const ObjectRef t, Expect(reg, Object::Kind::kTensor));
    if (axis >= t->dims.size())
      return {StatusCode::kInternal, "a graph's instruction asks for a dim that is not there"};
    I(to) = t->dims[axis];
    return OkStatus();
  }
  // An element of a constant is known.
  Status kTensorItem(uint16_t to, uint16_t reg, DType dtype, int64_t position) {
    RELAYVM_ASSIGN_OR_RETURN(const ObjectRef t, Expect(reg, Object::Kind::kTensor));
    I(to) = std::nullopt;
    const int64_t constant = memory_.ConstantIn(t->region);
    if (constant < 0 || IsFloat(t->dtype) || t->dtype != dtype) return OkStatus();
    const SharedBytes data = program_.constants[static_cast<size_t>(constant)].data.Loaded();
    const auto width = static_cast<size_t>(DTypeBytes(dtype));
    const auto at = static_cast<size_t>(position) * width;
    if (position < 0 || at + width > data.size()) return OkStatus();
    int64_t value = 0;
    std::memcpy(&value, data.data() + at, width);
    I(to) = WrapInteger(value, dtype);
    return OkStatus();
  }
  void kSlotItem(uint16_t to, uint16_t, DType) { I(to) = std::nullopt; }
  Status kTensorBox(uint16_t to, uint16_t number, DType dtype) {
    if (!I(number)) return DependsOnData("a number in a register");
    R(to) = NumberObject(dtype, *I(number));
    return OkStatus();
  }
  Status kDimTensor(OperandUnits dims, uint16_t) {
    return Numbers(dims) ? OkStatus() : DependsOnData("a size");
  }
  Status kDimShape(OperandUnits to, ShapeRule rule, int64_t zeros, OperandUnits dims,
                   OperandUnits more, uint16_t message) {
    const auto data = Numbers(dims), numbers = Numbers(more);
    if (!data || !numbers) return DependsOnData("a shape");
    std::vector<int64_t> shape(to.size());
    const Status s = ApplyShapeRule(rule, *data, *numbers, static_cast<uint64_t>(zeros), shape);
    if (!s.ok()) return FailsAlways(program_.messages[message] + ": " + s.message());
    for (size_t i = 0; i < shape.size(); ++i) I(to[i]) = shape[i];
    return OkStatus();
  }
  Status kKernel(uint16_t kernel, uint16_t units, uint16_t grain, uint16_t scratch,
                 OperandUnits scalars, OperandUnits buffers) {
    if (!I(units) || !I(grain) || !I(scratch)) return DependsOnData("the work of a kernel");
    Node node;
    node.units = *I(units);
    node.grain = *I(grain);
    node.scratch_bytes = *I(scratch);
    return Kernel(std::move(node), kernel, scalars, buffers);
  }
  Status kKernel1(uint16_t kernel, OperandUnits scalars, OperandUnits buffers) {
    return Kernel(Node(), kernel, scalars, buffers);
  }
  void kKernels(int64_t) {}  // the next ones may run side by side

 private:
  std::vector<Node>& nodes() { return made_.graph.nodes; }
  Frame& frame() { return frames_.back(); }

  // Where the instruction that runs comes from.
  std::string Place() {
    if (frames_.empty()) return "";
    const std::vector<SourceLocation>& locations = frame().function->locations;
    const size_t at = here_ - frame().function->code_offset;
    auto after = std::upper_bound(locations.begin(), locations.end(), at,
                                  [](size_t pc, const SourceLocation& l) { return pc < l.pc; });
    if (after == locations.begin()) return "";
    // A kernel with one check is told by that: it has the input's name, too.
    const auto first = std::lower_bound(
        locations.begin(), after, at, [](const SourceLocation& l, size_t pc) { return l.pc < pc; });
    const SourceLocation& l = after - first == 2 ? *first : after[-1];
    if (l.file >= program_.source_files.size()) return "";
    if (l.line == 0) return program_.source_files[l.file];
    return fmt::format("{}:{}:{}", program_.source_files[l.file], l.line, l.column);
  }
  Status Unsupported(const std::string& what) {
    const std::string place = Place();
    return {StatusCode::kUnsupported,
            fmt::format("{}{}the graph executor runs static programs without control flow; {}",
                        place, place.empty() ? "" : ": ", what)};
  }
  Status FailsAlways(const std::string& how) {
    return Unsupported("this fails in every run: " + how);
  }
  Status DependsOnData(std::string_view what) {
    return Unsupported(fmt::format("{} depends on data", what));
  }

  // --- The border ---

  Status Start(const ExportInfo& entry) {
    frames_.push_back(NewFrame(entry.function));
    for (size_t i = 0; i < entry.params.size(); ++i) {
      const ValueType& type = entry.params[i];
      const bool is_static = std::ranges::none_of(type.dims, [](int64_t d) { return d < 0; });
      if (type.kind != ValueType::Kind::kTensor || !is_static)
        return Unsupported(
            fmt::format("parameter {} is no tensor of a static shape", entry.param_names[i]));
      const uint32_t space = memory_.NewSpace();
      memory_.AddInput(entry.param_names[i], type.dtype, type.dims, space);
      frame().objects[i] = TensorObject({space, 0}, type.dtype, type.dims);
    }
    return OkStatus();
  }

  // The results of a value of `type`, depth first.
  Status AddHeads(const ObjectRef& value, const ValueType& type) {
    if (type.kind == ValueType::Kind::kTuple && value != nullptr &&
        value->kind == Object::Kind::kData && value->fields.size() == type.args.size()) {
      for (size_t i = 0; i < type.args.size(); ++i)
        RELAYVM_RETURN_IF_ERROR(AddHeads(value->fields[i], type.args[i]));
      return OkStatus();
    }
    if (type.kind != ValueType::Kind::kTensor || value == nullptr ||
        value->kind != Object::Kind::kTensor)
      return Unsupported("the result is made of more than tensors and tuples");
    RELAYVM_ASSIGN_OR_RETURN(EntryRef head,
                             memory_.Read(value->region, value->dtype, value->dims, Place()));
    made_.graph.heads.push_back(head);
    return OkStatus();
  }

  // The kernels that are used, and the signature.
  Status TakeKernels(const ExportInfo& entry) {
    Program& kernels = made_.kernels;
    RELAYVM_RETURN_IF_ERROR(lower::AddStub(entry.name, entry.params.size(),
                                           "the graph executor runs this program (vmrun FOLDER)",
                                           kernels));
    kernels.exports.push_back(entry);
    kernels.exports[0].function = 0;
    // Shapes are known better than the program says.
    size_t head = 0;
    SetResultShapes(kernels.exports[0].result, head);
    std::map<uint32_t, uint32_t> number;
    for (Node& node : nodes()) {
      if (node.kind != Node::Kind::kKernel) continue;
      const auto [at, fresh] =
          number.emplace(node.kernel, static_cast<uint32_t>(kernels.kernels.size()));
      if (fresh) {
        kernels.kernels.push_back(program_.kernels[node.kernel]);
        if (kernels.kernels.back().region) TakeRegion(&kernels.kernels.back());
      }
      node.kernel = at->second;
      if (const auto region = kernels.kernels[node.kernel].region) node.scalars[0] = *region;
    }
    bool is_compiled = false;
    for (KernelInfo& kernel : kernels.kernels) {
      kernel.batched.reset();
      is_compiled |= !kernel.builtin;
    }
    if (is_compiled) {
      kernels.images = program_.images;
    } else {
      for (KernelInfo& kernel : kernels.kernels) kernel.entries.clear();
    }
    kernels.owners.insert(kernels.owners.end(), program_.owners.begin(), program_.owners.end());
    return OkStatus();
  }

  // The region of a kernel, with constants of its own.
  void TakeRegion(KernelInfo* kernel) {
    Program& kernels = made_.kernels;
    RegionInfo& region = kernels.regions.emplace_back(program_.regions[*kernel->region]);
    for (uint32_t& constant : region.constants) {
      kernels.constants.push_back(program_.constants[constant]);
      constant = static_cast<uint32_t>(kernels.constants.size() - 1);
    }
    kernel->region = static_cast<uint32_t>(kernels.regions.size() - 1);
    kernel->fixed[0].value = *kernel->region;
  }

  void SetResultShapes(ValueType& type, size_t& head) {
    if (type.kind == ValueType::Kind::kTensor) {
      type.dims = memory_.At(made_.graph.heads[head++]).dims;
      type.dim_names.clear();
      type.dim_formulas.clear();
    }
    for (ValueType& field : type.args) SetResultShapes(field, head);
  }

  // --- Memory ---

  static ObjectRef TensorObject(Region region, DType dtype, std::vector<int64_t> dims) {
    auto object = std::make_shared<Object>();
    object->region = region;
    object->dtype = dtype;
    object->dims = std::move(dims);
    return object;
  }
  ObjectRef DataObject(Object::Kind kind, uint32_t index, OperandUnits fields) {
    auto object = std::make_shared<Object>();
    object->kind = kind;
    object->index = index;
    for (const uint16_t reg : fields) object->fields.push_back(R(reg));
    return object;
  }

  ObjectRef ConstantObject(uint32_t k) {
    const ConstantInfo& constant = program_.constants[k];
    return TensorObject(memory_.OfConstant(k), constant.dtype, constant.dims);
  }
  // A number as a weight of its own.
  ObjectRef NumberObject(DType dtype, int64_t value) {
    return TensorObject(memory_.OfNumber(dtype, value), dtype, {});
  }

  // --- Instructions ---

  Frame NewFrame(uint32_t function) {
    Frame f;
    f.function = &program_.functions[function];
    f.pc = f.function->code_offset;
    f.arena = memory_.NewSpace();
    f.scalars.resize(f.function->num_scalar_registers, 0);  // as a run begins
    f.objects.resize(f.function->num_object_registers);
    return f;
  }

  Scalar& I(uint16_t unit) { return frame().scalars[unit]; }
  ObjectRef& R(uint16_t unit) { return frame().objects[unit & kRegisterMask]; }

  // The numbers of a list, or none where one depends on data.
  std::optional<std::vector<int64_t>> Numbers(std::span<const uint16_t> list) {
    std::vector<int64_t> numbers;
    for (const uint16_t unit : list) {
      if (!I(unit)) return std::nullopt;
      numbers.push_back(*I(unit));
    }
    return numbers;
  }

  Result<ObjectRef> Expect(uint16_t unit, Object::Kind kind) {
    ObjectRef object = R(unit);
    if (object != nullptr && object->kind == kind) return object;
    return Status(StatusCode::kInternal, "a graph's instruction finds another kind of value");
  }

  Status Step() {
    Instruction inst{};
    here_ = frame().pc;
    RELAYVM_RETURN_IF_ERROR(DecodeInstruction(program_.code, here_, &inst));
    frame().pc += inst.size();
    ScalarMachine machine(frame());
    if (RunScalar(machine, inst)) return EndScalar(machine, inst.opcode);
    if (const auto run = ObjectRowOf<Tracer>(inst.opcode)) return run(*this, inst);
    return Unsupported(inst.opcode == Opcode::kCallHost       ? "this calls a function of the host"
                       : inst.opcode == Opcode::kTensorAppend ? "this tensor grows"
                                                              : "this uses a reference");
  }

  struct ScalarMachine : SymbolicOps {
    Frame& frame;
    // What fails, or may fail: what decides that is not known.
    std::optional<ScalarFailure<Int>> failure;
    bool may_hold = false;
    Bool jumps = false;
    int32_t distance = 0;

    explicit ScalarMachine(Frame& f) : frame(f) {}
    Int Scalar(uint16_t reg) const { return frame.scalars[reg]; }
    void SetScalar(uint16_t reg, const Int& value) {
      frame.scalars[reg] = value ? std::optional(value->value()) : std::nullopt;
    }
    template <typename Fn>
    void Require(Bool ok, const Fn& fails) {
      if (ok && *ok) return;
      failure = fails();
      may_hold = !ok;
    }
    template <typename Fn>
    void Fail(const Fn& fails) {
      failure = fails();
    }
    void Branch(Bool condition, int32_t by) {
      jumps = condition;
      distance = by;
    }
  };

  Status EndScalar(const ScalarMachine& machine, Opcode opcode) {
    if (machine.failure) return Failed(*machine.failure, opcode, machine.may_hold);
    if (!machine.jumps) return DependsOnData("an if");
    if (*machine.jumps) Go(machine.distance);
    return OkStatus();
  }

  Status Failed(const ScalarFailure<SymbolicOps::Int>& failure, Opcode opcode, bool may_hold) {
    if (may_hold) return failure.kind == FailureKind::kDim ? OkStatus() : DependsOnData("a check");
    std::vector<int64_t> numbers;
    for (const auto& number : failure.shown) numbers.push_back(number ? number->value() : 0);
    return FailsAlways(
        FailureText(failure.kind, opcode, program_.messages[failure.message], numbers));
  }

  void Go(int64_t distance) {
    frame().pc = static_cast<size_t>(static_cast<int64_t>(here_) + distance);
  }

  Status Jump(Scalar which, const Targets& targets) {
    if (!which) return DependsOnData("a match");
    if (*which >= 0 && *which < targets.count()) Go(targets[static_cast<int>(*which)]);
    return OkStatus();
  }

  // `result`: none in a tail call.
  Status Call(uint32_t function, const Object* closure, std::span<const uint16_t> scalars,
              std::span<const uint16_t> objects, std::optional<uint16_t> result) {
    if (frames_.size() >= kMostCalls) return Unsupported("calls nest too deeply");
    Frame callee = NewFrame(function);
    size_t i = 0;
    for (const uint16_t unit : scalars) callee.scalars[i++] = I(unit);
    i = 0;
    if (closure != nullptr) {
      if (closure->fields.size() + objects.size() != callee.function->num_object_args)
        return {StatusCode::kInternal, "a graph's closure is called with a wrong number of values"};
      for (const ObjectRef& captured : closure->fields) callee.objects[i++] = captured;
    }
    for (const uint16_t unit : objects) callee.objects[i++] = R(unit);
    callee.result = result.value_or(frame().result);
    if (!result) frames_.pop_back();
    frames_.push_back(std::move(callee));
    return OkStatus();
  }

  void Return(const Scalar& scalar, ObjectRef object) {
    const Frame done = std::move(frames_.back());
    if (frames_.size() == 1) {
      result_ = std::move(object);
      return;
    }
    frames_.pop_back();
    if (done.function->returns_scalar) {
      I(done.result) = scalar;
    } else {
      R(done.result) = std::move(object);
    }
  }

  Status Allocate(uint16_t reg, DType dtype, std::optional<std::vector<int64_t>> dims) {
    if (!dims) return DependsOnData("the size of a tensor");
    const auto bytes = StaticTensorBytes(dtype, *dims);
    if (!bytes.ok()) return FailsAlways(bytes.status().message());
    R(reg) = TensorObject({memory_.NewSpace(), 0}, dtype, *std::move(dims));
    return OkStatus();
  }

  Status Kernel(Node node, uint16_t number, OperandUnits scalar_args, OperandUnits buffers) {
    const KernelInfo& kernel = program_.kernels[number];
    node.kind = Node::Kind::kKernel;
    node.name = kernel.name;
    node.source = Place();
    node.kernel = number;
    const auto scalars = Numbers(scalar_args);
    if (!scalars) return DependsOnData(fmt::format("a number that kernel {} takes", kernel.name));
    node.scalars = *scalars;
    const std::vector<Dim> dims_of_scalars(scalars->begin(), scalars->end());
    std::vector<Region> written;
    for (size_t b = 0; b < kernel.buffers.size(); ++b) {
      const KernelBuffer& buffer = kernel.buffers[b];
      const auto shape = EvaluateDims(buffer.shape, dims_of_scalars);
      std::vector<int64_t> dims;
      for (const Dim& d : shape.value_or(std::vector<Dim>())) {
        if (!d.is_const()) return DependsOnData("the size of a kernel's tensor");
        dims.push_back(d.value());
      }
      if (!shape || !StaticTensorBytes(buffer.dtype, dims).ok())
        return FailsAlways("a size of kernel " + kernel.name);
      RELAYVM_ASSIGN_OR_RETURN(const Region region, RegionOf(buffers[2 * b], buffers[2 * b + 1]));
      if (buffer.written) {
        written.push_back(region);
        node.outputs.push_back(memory_.NewEntry(buffer.dtype, std::move(dims), region.offset));
      } else {
        RELAYVM_ASSIGN_OR_RETURN(node.inputs.emplace_back(),
                                 memory_.Read(region, buffer.dtype, dims, node.source));
      }
    }
    const auto n = static_cast<uint32_t>(nodes().size());
    nodes().push_back(std::move(node));
    for (uint32_t o = 0; o < written.size(); ++o) memory_.Write(written[o], {n, o});
    return OkStatus();
  }

  Result<Region> RegionOf(uint16_t kind, uint16_t index) {
    switch (static_cast<BufferKind>(kind & 0xFF)) {
      case BufferKind::kSlot:
        return Region{frame().arena, frame().function->slots[index].offset};
      case BufferKind::kConstant:
        return ConstantObject(index)->region;
      default:
        break;
    }
    RELAYVM_ASSIGN_OR_RETURN(const ObjectRef tensor, Expect(index, Object::Kind::kTensor));
    return tensor->region;
  }

  const Program& program_;
  GraphProgram made_;
  std::vector<Frame> frames_;
  std::optional<ObjectRef> result_;
  size_t here_ = 0;  // where the instruction that runs stands
  TracedMemory memory_{program_, made_};
};

}  // namespace

Result<GraphProgram> BuildGraph(const Program& program) {
  if (!program.strings.empty()) {
    return Status(
        StatusCode::kUnsupported,
        "the graph executor has no tensors of strings; the executor vm runs this program");
  }
  if (!program.devices.empty()) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("the graph executor has no device '{}'; the executor vm runs this "
                              "program",
                              program.devices[0]));
  }
  return Tracer(program).Run();
}

}  // namespace relayvm::graph
