#include "tests/fuzz/input_target.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <limits>
#include <set>

#include "compiler/driver.h"
#include "compiler/frontend/parser.h"
#include "kernels/runtime/builtin.h"
#include "tests/fuzz/mutate.h"
#include "vm/relayvm.h"

namespace relayvm::fuzz {
namespace {

// One line each: parameters, then the call.
constexpr const char* kCalls[] = {
    // Indices and sizes from data.
    "%x: Tensor[(?, ?), float32], %i: Tensor[(?), int64] | take(%x, %i, axis=0)",
    "%x: Tensor[(?, ?), int8], %i: Tensor[(?, ?), int32] | take(%x, %i, axis=1, mode=\"wrap\")",
    "%x: Tensor[(?), int64], %i: Tensor[(?), int64] | take(%x, %i, mode=\"fast\")",
    "%x: Tensor[(?, ?), float64], %i: Tensor[(?, ?), int64] | gather(%x, %i, axis=1)",
    "%x: Tensor[(?, ?, ?), int16], %i: Tensor[(2, ?), int64] | gather_nd(%x, %i)",
    "%i: Tensor[(?), int64], %a: float32, %b: float32 | one_hot(%i, %a, %b, depth=5, axis=-1, "
    "dtype=\"float32\")",
    "%x: Tensor[(?, ?, ?), float32], %n: Tensor[(?), int32] | sequence_mask(%x, %n, "
    "mask_value=-1f, axis=1)",
    "%x: Tensor[(?, ?, ?), float32], %n: Tensor[(?), int64] | reverse_sequence(%x, %n, seq_axis=1, "
    "batch_axis=0)",
    "%x: Tensor[(?, ?), float32], %i: Tensor[(?), int64], %j: Tensor[(?), int64] | adv_index((%x, "
    "%i, %j))",
    "%x: Tensor[(?, ?), float32], %i: Tensor[(?, ?), int64], %u: Tensor[(?, ?), float32] | "
    "scatter_elements(%x, %i, %u, axis=0, reduction=\"add\")",
    "%x: Tensor[(?, ?), int32], %i: Tensor[(?, ?), int64], %u: Tensor[(?, ?), int32] | "
    "scatter_elements(%x, %i, %u, axis=1, reduction=\"max\")",
    "%x: Tensor[(?, ?), float32], %i: Tensor[(1, ?), int64], %u: Tensor[(?, ?), float32] | "
    "scatter_nd(%x, %i, %u, mode=\"add\")",
    "%x: Tensor[(?), float16], %i: Tensor[(1, ?), int32], %u: Tensor[(?), float16] | "
    "scatter_nd(%x, %i, %u)",
    "%i: Tensor[(?, ?), int64], %s: Tensor[(2), int64], %v: Tensor[(?), float32], %d: float32 | "
    "sparse_to_dense(%i, %v, %d, output_shape=[4, 5])",
    "%i: Tensor[(?, 2), int64], %v: Tensor[(?), int64], %s: Tensor[(2), int64], %d: int64 | "
    "sparse_fill_empty_rows(%i, %v, %s, %d)",
    "%i: Tensor[(?, 2), int64], %p: Tensor[(2), int64], %n: Tensor[(2), int64] | "
    "sparse_reshape(%i, %p, %n)",
    "%x: Tensor[(?, ?), float32], %d: Tensor[(?), float32], %i: Tensor[(?), int32], %p: "
    "Tensor[(?), int32] | "
    "nn.sparse_dense(%x, %d, %i, %p)",
    "%x: Tensor[(?, ?), float32], %v: Tensor[(?, ?), float32] | "
    "matrix_set_diag(%x, %v, k1=-1, k2=1)",
    "%x: Tensor[(?, ?), float32], %i: Tensor[(?), uint64] | take(%x, %i, axis=0, mode=\"wrap\")",
    "%x: Tensor[(?, ?), float32], %i: Tensor[(?, ?), uint64] | gather(%x, %i, axis=1)",
    "%x: Tensor[(?, ?), float32], %k: uint64 | (trilu(%x, %k, upper=True), trilu(%x, %k, "
    "upper=False))",
    "%a: uint64, %b: uint64, %s: uint64 | arange(%a, %b, %s, dtype=\"uint64\")",
    // Order.
    "%x: Tensor[(?, ?), float32] | argsort(%x, axis=1, is_ascend=0, dtype=\"int64\")",
    "%x: Tensor[(?, ?), int8] | sort(%x, axis=0)",
    "%x: Tensor[(?, ?), float64] | topk(%x, k=3, axis=1, ret_type=\"both\", dtype=\"int64\")",
    "%x: Tensor[(?, ?), float32], %k: int64 | dyn.topk(%x, %k, axis=1, ret_type=\"both\", "
    "dtype=\"int64\")",
    "%s: Tensor[(?), float32], %v: Tensor[(?, ?), float32] | searchsorted(%s, %v)",
    "%x: Tensor[(?), int64] | unique(%x, sorted=True, return_counts=True)",
    "%x: Tensor[(?), float32] | unique(%x, sorted=False, return_counts=False)",
    "%x: Tensor[(?, ?), bool] | argwhere(%x)",
    "%x: Tensor[(?, ?), int32] | cumsum(%x, axis=1, exclusive=1)",
    "%x: Tensor[(?, ?), float32] | cumprod(%x, axis=0)",
    "%x: Tensor[(?, ?), float32] | topk(%x, k=2, axis=0, ret_type=\"values\")",
    "%x: Tensor[(?, ?), int8] | topk(%x, k=2, axis=1, ret_type=\"indices\", dtype=\"int32\")",
    "%x: Tensor[(?, ?), float32], %k: int64 | dyn.topk(%x, %k, axis=0, ret_type=\"values\")",
    "%x: Tensor[(?, ?), int32], %k: int64 | dyn.topk(%x, %k, axis=1, ret_type=\"indices\", "
    "dtype=\"int64\")",
    // Sparse matrices and random numbers.
    "%i: Tensor[(?, 2), int64], %v: Tensor[(?), int32] | sparse_to_dense(%i, %v, output_shape=[4, "
    "5])",
    "%x: Tensor[(?, ?), float32], %d: Tensor[(?), float32], %i: Tensor[(?), int32], %p: "
    "Tensor[(?), int32] | nn.sparse_add(%x, %d, %i, %p)",
    "%d: Tensor[(?), float32], %i: Tensor[(?), int32], %p: Tensor[(?), int32] | "
    "nn.sparse_transpose(%d, %i, %p)",
    "%x: Tensor[(?, ?, ?, 8), float32], %d: Tensor[(?), float32], %i: Tensor[(?), int32], %p: "
    "Tensor[(?), int32] | nn.sparse_conv2d(%x, %d, %i, %p)",
    "%k: Tensor[(10), uint64] | random.threefry_generate(%k, out_shape=[3, 5])",
    "%k: Tensor[(10), uint64] | random.threefry_split(%k)",
    "%k: Tensor[(10), uint64], %a: float32, %b: float32 | random.uniform(%k, %a, %b, "
    "out_shape=[7], "
    "out_dtype=\"float32\")",
    "%k: Tensor[(10), uint64], %a: float64, %b: float64 | random.normal(%k, %a, %b, out_shape=[3, "
    "3], out_dtype=\"float64\")",
    "%k: Tensor[(10), uint64], %x: Tensor[(?, ?), float32] | random.multinomial(%k, %x, "
    "num_samples=3)",
    // Shapes from data.
    "%x: Tensor[(?, ?), float32], %s: Tensor[(3), int64] | dyn.reshape(%x, %s)",
    "%x: Tensor[(?, ?), int8], %s: Tensor[(2), int64] | dyn.broadcast_to(%x, %s)",
    "%x: Tensor[(?, ?), int8], %s: Tensor[(2), int64] | dyn.tile(%x, %s)",
    "%v: int32, %s: Tensor[(2), int64] | dyn.full(%v, %s, dtype=\"int32\")",
    "%s: Tensor[(3), int64] | dyn.zeros(%s, dtype=\"int8\")",
    "%x: Tensor[(?, ?), int16], %p: Tensor[(2, 2), int64], %v: int16 | dyn.nn.pad(%x, %p, %v)",
    "%x: Tensor[(?, ?), float32], %b: Tensor[(2), int64], %e: Tensor[(2), int64], %s: Tensor[(2), "
    "int64] | "
    "dyn.strided_slice(%x, %b, %e, %s)",
    "%x: Tensor[(1, 2, ?, ?), float32], %s: Tensor[(2), int64], %r: Tensor[(0), float32] | "
    "dyn.image.resize2d(%x, %s, %r, layout=\"NCHW\", method=\"linear\")",
    "%x: Tensor[(1, 1, ?, ?), float32], %h: float32, %w: float32 | "
    "dyn.nn.upsampling(%x, %h, %w, layout=\"NCHW\", method=\"bilinear\")",
    "%a: int64, %b: int64, %s: int64 | arange(%a, %b, %s, dtype=\"int64\")",
    "%a: float32, %b: float32, %s: float32 | arange(%a, %b, %s, dtype=\"float32\")",
    "%i: Tensor[(?), int64], %d: int64, %a: int8, %b: int8 | dyn.one_hot(%i, %a, %b, %d, axis=-1, "
    "dtype=\"int8\")",
    "%i: Tensor[(?, 2), int64], %s: Tensor[(2), int64], %v: Tensor[(?), int32], %d: int32 | "
    "dyn.sparse_to_dense(%i, %v, %d, %s)",
    "%x: Tensor[(?), int64], %s: Tensor[(2), int64] | unravel_index(%x, %s)",
    "%x: Tensor[(?, ?), float32], %r: int64 | repeat(%x, repeats=3, axis=1)",
    // Windows, pictures, boxes.
    "%b: Tensor[(?, ?, 6), float32], %n: Tensor[(?), int32], %i: Tensor[(?, ?), int32], %m: int32, "
    "%t: float32 | "
    "vision.non_max_suppression(%b, %n, %i, %m, %t, return_indices=False)",
    "%b: Tensor[(?, ?, 5), float32], %n: Tensor[(?), int32], %i: Tensor[(?, ?), int32], %m: int32, "
    "%t: float32 | "
    "vision.non_max_suppression(%b, %n, %i, %m, %t, return_indices=True, id_index=-1, "
    "score_index=0, coord_start=1)",
    "%b: Tensor[(?, ?, 6), float32] | vision.get_valid_counts(%b, 0.5f)",
    "%b: Tensor[(?, ?, 4), float32], %s: Tensor[(?, ?, ?), float32], %m: int64, %t: float32, %c: "
    "float32 | "
    "vision.all_class_non_max_suppression(%b, %s, %m, %t, %c)",
    "%b: Tensor[(?, ?, 4), float32], %s: Tensor[(?, ?, ?), float32], %m: int64, %t: float32, %c: "
    "float32 | "
    "vision.all_class_non_max_suppression(%b, %s, %m, %t, %c, output_format=\"tensorflow\")",
    "%b: Tensor[(?, ?, 4), float32], %s: Tensor[(?, ?, ?), float32] | "
    "vision.regular_non_max_suppression(%b, %s, max_detections_per_class=7, max_detections=5, "
    "num_classes=2, iou_threshold=0.5f, score_threshold=0.25f)",
    "%x: Tensor[(?, ?, ?, ?), float32], %r: Tensor[(?, 5), float32] | "
    "vision.roi_align(%x, %r, pooled_size=[2, 2], spatial_scale=1f)",
    "%x: Tensor[(?, ?, ?, ?), float32], %r: Tensor[(?, 5), float32] | "
    "vision.roi_pool(%x, %r, pooled_size=[2, 2], spatial_scale=0.5f)",
    "%p: Tensor[(1, 6, ?, ?), float32], %b: Tensor[(1, 12, ?, ?), float32], %i: Tensor[(1, 3), "
    "float32] | "
    "vision.proposal(%p, %b, %i, scales=[8f], ratios=[0.5f, 1f, 2f], rpn_pre_nms_top_n=20, "
    "rpn_post_nms_top_n=6, "
    "threshold=0.7f, rpn_min_size=1, feature_stride=4)",
    "%c: Tensor[(1, ?, ?), float32], %l: Tensor[(1, ?), float32], %a: Tensor[(1, ?, 4), float32] | "
    "vision.multibox_transform_loc(%c, %l, %a)",
    "%x: Tensor[(?, ?, ?, ?), float32], %g: Tensor[(?, 2, ?, ?), float32] | image.grid_sample(%x, "
    "%g)",
    "%x: Tensor[(?, ?, ?, 1), float32], %b: Tensor[(?, 4), float32], %i: Tensor[(?), int32] | "
    "image.crop_and_resize(%x, %b, %i, crop_size=[3, 2], layout=\"NHWC\")",
    "%x: Tensor[(?), float32], %w: Tensor[(4), float32] | stft(%x, %w, n_fft=4, hop_length=2, "
    "win_length=4)",
    // Products and pools of open sizes.
    "%x: Tensor[(?, ?), float32], %w: Tensor[(?, ?), float32] | nn.dense(%x, %w, units=None)",
    "%x: Tensor[(?, ?, ?), float32], %w: Tensor[(?, ?, ?), float32] | nn.batch_matmul(%x, %w)",
    "%x: Tensor[(?, ?), float32], %y: Tensor[(?, ?), float32] | einsum((%x, %y), "
    "equation=\"ij,jk->ik\")",
    "%x: Tensor[(?, ?), float32], %y: Tensor[(?, ?), float32] | (einsum((%x, %y), "
    "equation=\"ij,ij->\"), einsum((%x,), equation=\"ii->\"))",
    "%x: Tensor[(?, ?, ?), float32], %y: Tensor[(?, ?, ?), float32] | einsum((%x, %y), "
    "equation=\"...ij,...jk->...k\")",
    "%x: Tensor[(?, ?), int32], %y: Tensor[(?, ?), int32], %z: Tensor[(?), int32] | einsum((%x, "
    "%y, %z), equation=\"ij,ij,j->i\")",
    "%x: Tensor[(?, 3, ?, ?), float32], %w: Tensor[(2, 3, 3, 3), float32] | nn.conv2d(%x, %w, "
    "padding=[1, 1], "
    "kernel_size=[3, 3], channels=2)",
    "%x: Tensor[(?, ?, ?, ?), float32] | nn.max_pool2d(%x, pool_size=[3, 3], strides=[2, 2], "
    "padding=[1, 1])",
    "%x: Tensor[(?, ?, ?, ?), float32] | nn.adaptive_avg_pool2d(%x, output_size=[3, 2])",
    "%x: Tensor[(?, ?), float32], %y: Tensor[(?, ?), float32] | concatenate((%x, %y), axis=0)",
    "%x: Tensor[(?, ?), float32], %y: Tensor[(?, ?), float32] | add(%x, %y)",
    "%x: Tensor[(?, ?), int32], %y: Tensor[(?, ?), int32] | (floor_divide(%x, %y), floor_mod(%x, "
    "%y))",
    "%x: Tensor[(?), int8], %y: Tensor[(?), int8] | (left_shift(%x, %y), divide(%x, %y))",
    "%x: Tensor[(?, ?), float32] | (max(%x, axis=1), argmax(%x, axis=0), mean(%x))",
    "%x: Tensor[(?, ?), float32] | nn.softmax(%x, axis=1)",
};

constexpr size_t kMostElements = 4096;  // of one input
constexpr size_t kMemoryLimit = size_t{64} << 20;
constexpr auto kTimeout = std::chrono::seconds(2);
constexpr std::array<int64_t, 16> kDims = {1, 2, 3, 4, 5, 0, 7, 8, 9, 16, 17, 31, 33, 64, 65, 200};
constexpr std::array<int64_t, 16> kNumbers = {0,         1,         -1,        2,
                                              3,         5,         INT8_MIN,  INT16_MAX,
                                              INT32_MAX, INT32_MIN, 1LL << 31, 1LL << 32,
                                              1LL << 62, INT64_MIN, INT64_MAX, 6148914691236517216};
constexpr std::array<double, 8> kFloats = {std::numeric_limits<double>::quiet_NaN(),
                                           std::numeric_limits<double>::infinity(),
                                           -std::numeric_limits<double>::infinity(),
                                           -0.0,
                                           1e-40,
                                           3e38,
                                           -1e300,
                                           2147483648.0};

// Takes choices from the front of an input; zeros beyond its end.
class Choices {
 public:
  explicit Choices(std::string_view bytes) : bytes_(bytes) {}
  uint8_t Byte() {
    if (bytes_.empty()) return 0;
    const auto b = static_cast<uint8_t>(bytes_[0]);
    bytes_.remove_prefix(1);
    return b;
  }
  bool empty() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

// Memory whose end is followed by what nobody may read, and that begins at a multiple of 64.
struct Guarded {
  void* mapping = nullptr;
  size_t mapped = 0;
  std::byte* data = nullptr;

  static Guarded* Make(size_t bytes) {
    constexpr size_t kPage = 4096, kAlignment = 64;
    const size_t pages = (bytes + kPage - 1) / kPage * kPage;
    auto g = std::make_unique<Guarded>();
    g->mapped = pages + kPage;
    g->mapping =
        ::mmap(nullptr, g->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g->mapping == MAP_FAILED) return nullptr;
    auto* end = static_cast<std::byte*>(g->mapping) + pages;
    ::mprotect(end, kPage, PROT_NONE);
    g->data = end - (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return g.release();
  }
  static void Free(void* guarded) {
    auto* g = static_cast<Guarded*>(guarded);
    ::munmap(g->mapping, g->mapped);
    delete g;
  }
};

void WriteElement(DType dtype, Choices* choices, std::byte* to) {
  const uint8_t b = choices->Byte();
  const size_t bytes = DTypeBytes(dtype);
  if (b < 32) {  // a special number, as this type has it
    const int64_t number = kNumbers[b % kNumbers.size()];
    const double real = b < 16 ? kFloats[b % kFloats.size()] : static_cast<double>(number);
    if (dtype == DType::kFloat32) {
      const auto narrow = static_cast<float>(real);
      std::memcpy(to, &narrow, bytes);
    } else if (dtype == DType::kFloat64) {
      std::memcpy(to, &real, bytes);
    } else {
      std::memcpy(to, &number, bytes);
    }
  } else if (dtype == DType::kFloat32) {
    const float small = static_cast<float>(b - 128) / 8;
    std::memcpy(to, &small, bytes);
  } else if (dtype == DType::kFloat64) {
    const double small = (b - 128) / 8.0;
    std::memcpy(to, &small, bytes);
  } else {
    const int64_t small = static_cast<int64_t>(b % 16) - 3;
    std::memcpy(to, &small, bytes);
  }
  if (dtype == DType::kBool) *to &= std::byte{1};
}

Result<Value> MakeTensor(const ValueType& type, Choices* choices) {
  std::vector<int64_t> dims;
  size_t elements = 1;
  for (int64_t d : type.dims) {
    if (d < 0) d = kDims[choices->Byte() % kDims.size()];
    while (d > 0 && elements * static_cast<size_t>(d) > kMostElements) d /= 2;
    elements *= static_cast<size_t>(d);
    dims.push_back(d);
  }
  const size_t element = DTypeBytes(type.dtype);
  Guarded* memory = Guarded::Make(elements * element);
  if (memory == nullptr) return Status(StatusCode::kResourceExhausted, "no memory for an input");
  for (size_t i = 0; i < elements; ++i)
    WriteElement(type.dtype, choices, memory->data + i * element);
  return Value::WrapTensor(type.dtype, dims, memory->data, Guarded::Free, memory);
}

std::string ProgramOf(std::string_view call) {
  const size_t bar = call.find(" | ");
  return fmt::format("#[version = \"0.0.5\"]\ndef @main({}) {{ {} }}\n", call.substr(0, bar),
                     call.substr(bar + 3));
}

bool TakesTensors(const ExportInfo& e) {
  for (const ValueType& t : e.params) {
    if (t.kind != ValueType::Kind::kTensor) return false;
  }
  return true;
}

}  // namespace

struct InputTarget::Impl {
  std::shared_ptr<Runtime> runtime;
  std::vector<std::shared_ptr<const Executable>> programs;

  Status Add(const std::string& text, int level) {
    RELAYVM_ASSIGN_OR_RETURN(ir::Module module, frontend::ParseRelay("fuzz.relay", text));
    if (!module.functions.contains("main")) return {StatusCode::kNotFound, "no @main"};
    module.entry = "main";
    CompileOptions options;
    options.pipeline.opt_level = level;
    options.kernels.opt_level = level > 1 ? 2 : 0;
    RELAYVM_ASSIGN_OR_RETURN(Compiled compiled, CompileModule(std::move(module), options));
    if (compiled.program.exports.empty() || !TakesTensors(compiled.program.exports[0]))
      return {StatusCode::kUnsupported, "values that are no tensors"};
    RELAYVM_ASSIGN_OR_RETURN(auto executable, Executable::FromProgram(std::move(compiled.program)));
    programs.push_back(std::move(executable));
    return OkStatus();
  }

  // That each builtin is called by some program.
  Status CheckBuiltins() const {
    std::set<std::string_view> called;
    for (const auto& program : programs) {
      for (const KernelInfo& kernel : program->program().kernels) {
        if (kernel.builtin) called.insert(kernel.name);
      }
    }
    std::vector<std::string_view> missing;
    for (const Builtin& builtin : Builtins()) {
      if (!called.contains(builtin.name)) missing.push_back(builtin.name);
    }
    if (missing.empty()) return OkStatus();
    return {StatusCode::kInternal,
            fmt::format("no program calls the builtins {}", fmt::join(missing, ", "))};
  }
};

Result<std::shared_ptr<InputTarget>> InputTarget::Make(const std::vector<std::string>& programs) {
  auto impl = std::make_unique<Impl>();
  RELAYVM_ASSIGN_OR_RETURN(impl->runtime, Runtime::Create());
  for (const char* call : kCalls) RELAYVM_RETURN_IF_ERROR(impl->Add(ProgramOf(call), 3));
  RELAYVM_RETURN_IF_ERROR(impl->CheckBuiltins());
  for (const std::string& text : programs) (void)impl->Add(text, 2);
  return std::shared_ptr<InputTarget>(new InputTarget(std::move(impl)));
}
InputTarget::InputTarget(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
InputTarget::~InputTarget() = default;

std::vector<std::string> InputTarget::Seeds() const {
  std::vector<std::string> seeds;
  for (size_t i = 0; i < impl_->programs.size(); ++i) {
    std::string seed = {static_cast<char>(i)};
    Mutator mutator(i);
    for (int byte = 0; byte < 40; ++byte) seed += static_cast<char>(mutator.Below(256));
    seeds.push_back(std::move(seed));
  }
  return seeds;
}

Status InputTarget::Run(const std::string& input) {
  Choices choices(input);
  const auto& program = impl_->programs[choices.Byte() % impl_->programs.size()];
  RELAYVM_ASSIGN_OR_RETURN(auto invocation, Invocation::Create(impl_->runtime, program,
                                                               {.memory_limit = kMemoryLimit,
                                                                .stack_limit = size_t{1} << 20,
                                                                .timeout = kTimeout}));
  const ExportInfo& main = program->program().exports[0];
  std::vector<Value> inputs;
  for (const ValueType& type : main.params) {
    RELAYVM_ASSIGN_OR_RETURN(Value value, MakeTensor(type, &choices));
    inputs.push_back(std::move(value));
  }
  return invocation->Run(main.name, std::move(inputs)).status();
}

}  // namespace relayvm::fuzz
