#include "kernels/codegen/kernel_compiler.h"

#include <elf.h>

#include <map>
#include <new>
#include <sstream>

#include "kernels/codegen/backend.h"
#include "kernels/codegen/kernel_harness.h"

namespace relayvm {
namespace {

using te::BinaryOp;
using te::Compute;
using te::Expr;
using te::Load;
using te::Placeholder;
using te::ReduceKind;
using te::Tensor;
using te::UnaryOp;

const Dim kN = Dim::Symbol(1, "n");
const Dim kM = Dim::Symbol(2, "m");
const Dim kK = Dim::Symbol(3, "k");
using Indices = std::vector<Expr>;

Tensor Input(std::vector<Dim> shape, int index, DType dtype = DType::kFloat32) {
  return Placeholder("x" + std::to_string(index), std::move(shape), dtype, index);
}

KernelSpec Spec(std::string name, std::vector<Tensor> inputs, std::vector<Tensor> outputs) {
  KernelSpec spec;
  spec.name = std::move(name);
  spec.by_value.assign(inputs.size(), false);
  spec.inputs = std::move(inputs);
  spec.outputs = std::move(outputs);
  return spec;
}

Tensor Reduction(const Tensor& x, ReduceKind kind, std::vector<int> axes, bool keep, DType dtype) {
  std::vector<Dim> shape;
  auto reduced = [&](int d) { return std::find(axes.begin(), axes.end(), d) != axes.end(); };
  for (int d = 0; d < x->rank(); ++d) {
    if (!reduced(d)) {
      shape.push_back(x->shape[static_cast<size_t>(d)]);
    } else if (keep) {
      shape.push_back(1);
    }
  }
  return Compute("reduce", shape, [&](const Indices& out) {
    std::vector<te::Axis> reduce;
    Indices at;
    size_t next = 0;
    for (int d = 0; d < x->rank(); ++d) {
      if (!reduced(d)) {
        at.push_back(out[next++]);
        continue;
      }
      reduce.push_back(te::MakeAxis("k" + std::to_string(d), x->shape[static_cast<size_t>(d)]));
      at.push_back(te::AxisValue(reduce.back()));
      if (keep) ++next;
    }
    return te::Reduce(kind, Load(x, at), reduce, dtype);
  });
}

// Loads x with 0 for the dimensions that are 1.
Expr At(const Tensor& x, Indices at) {
  for (size_t i = 0; i < at.size(); ++i) {
    if (x->shape[i].is_const(1)) at[i] = te::IntImm(0);
  }
  return Load(x, std::move(at));
}

Tensor Softmax(const Tensor& x, int axis) {
  Tensor max = Reduction(x, ReduceKind::kMax, {axis}, true, x->dtype);
  Tensor exp = Compute("exp", x->shape, [&](const Indices& i) {
    return te::Unary(UnaryOp::kExp, Load(x, i) - At(max, i));
  });
  Tensor sum = Reduction(exp, ReduceKind::kSum, {axis}, true, x->dtype);
  return Compute("softmax", x->shape, [&](const Indices& i) {
    return te::Binary(BinaryOp::kDivide, Load(exp, i), At(sum, i));
  });
}

TEST_CASE("elementwise, broadcast and scalars by value") {
  KernelHarness harness;
  Tensor x = Input({kN, kM}, 0);
  Tensor b = Input({kM}, 1);
  Tensor s = Input({}, 2);
  Tensor affine = Compute("affine", {kN, kM}, [&](const Indices& i) {
    return Load(x, i) * Load(s, {}) + Load(b, {i[1]});
  });
  KernelSpec spec = Spec("affine", {x, b, s}, {affine});
  size_t by_buffer = harness.Add(spec);
  spec.by_value[2] = true;
  size_t by_value = harness.Add(spec);
  Tensor relu = Compute("relu", {kN, kM}, [&](const Indices& i) {
    return te::Binary(BinaryOp::kMax, Load(x, i), te::FloatImm(0, DType::kFloat32));
  });
  size_t two = harness.Add(Spec("two", {x, b, s}, {relu, affine}));
  Tensor zero = Compute(
      "scalar", {}, [&](const Indices&) { return Load(s, {}) + te::Const(1, DType::kFloat32); });
  size_t rank0 = harness.Add(Spec("rank0", {x, b, s}, {zero}));
  Tensor iota = Compute("iota", {kN}, [&](const Indices& i) {
    return te::Cast(i[0] * te::IntImm(3), DType::kInt32);
  });
  size_t no_inputs = harness.Add(Spec("iota", {}, {iota}));
  size_t copy = harness.Add(Spec("copy", {x}, {x}));
  harness.Finish();
  for (int64_t n : {0, 1, 3, 64}) {
    for (int64_t m : {0, 1, 7, 16, 33, 200}) {
      SymbolValues symbols = {{1, n}, {2, m}};
      for (size_t k : {by_buffer, by_value, two, rank0, no_inputs, copy}) harness.Check(k, symbols);
    }
  }
  CHECK(harness.interface(two).in_place == std::vector<std::pair<int, int>>{{0, 0}, {0, 1}});
}

TEST_CASE("what kernels of several modules call is compiled once") {
  KernelOptions options;
  options.keep_llvm_ir = true;
  KernelHarness harness(options);
  std::vector<size_t> kernels;
  for (int64_t depth = 33; depth < 53; ++depth) {  // three modules
    const Tensor x = Input({kN, depth}, 0), w = Input({48, depth}, 1);
    const Tensor product = Compute("dense", {kN, 48}, [&](const Indices& i) {
      const te::Axis k = te::MakeAxis("k", depth);
      return te::Reduce(ReduceKind::kSum,
                        Load(x, {i[0], te::AxisValue(k)}) * Load(w, {i[1], te::AxisValue(k)}), {k},
                        DType::kFloat32);
    });
    kernels.push_back(harness.Add(Spec("dense", {x, w}, {product})));
  }
  harness.Finish();
  std::map<std::string, int> definitions;
  size_t declared = 0;
  std::istringstream text(harness.image().llvm_ir);
  for (std::string line; std::getline(text, line);) {
    const size_t name = line.find('@');
    if (line.starts_with("define "))
      ++definitions[line.substr(name, line.find('(', name) - name)];
    else if (line.starts_with("declare hidden "))
      ++declared;
  }
  CHECK(definitions.size() > kernels.size());
  CHECK(declared > 0);
  for (const auto& [name, count] : definitions) {
    CAPTURE(name);
    CHECK(count == 1);
  }
  for (int64_t n : {0, 1, 5, 13, 40}) {
    for (size_t k : kernels) harness.Check(k, {{1, n}}, 1e-4);
  }
}

TEST_CASE("reductions over any axes") {
  KernelHarness harness;
  Tensor x = Input({kN, kM, 5}, 0);
  struct Case {
    ReduceKind kind;
    std::vector<int> axes;
    bool keep;
  };
  std::vector<size_t> kernels;
  for (ReduceKind kind : {ReduceKind::kSum, ReduceKind::kMax, ReduceKind::kMin, ReduceKind::kProd,
                          ReduceKind::kArgMax, ReduceKind::kArgMin}) {
    for (const std::vector<int>& axes :
         {std::vector<int>{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}, {0, 1, 2}}) {
      bool is_arg = kind >= ReduceKind::kArgMax;
      Tensor y =
          Reduction(x, kind, axes, axes.size() == 2, is_arg ? DType::kInt32 : DType::kFloat32);
      kernels.push_back(harness.Add(Spec("reduce", {x}, {y})));
    }
  }
  Tensor flags = Input({kN, kM}, 0, DType::kBool);
  kernels.push_back(harness.Add(
      Spec("all", {flags}, {Reduction(flags, ReduceKind::kAll, {1}, false, DType::kBool)})));
  kernels.push_back(harness.Add(
      Spec("any", {flags}, {Reduction(flags, ReduceKind::kAny, {0}, false, DType::kBool)})));
  harness.Finish();
  for (int64_t n : {0, 1, 4}) {
    for (int64_t m : {0, 1, 3, 37}) {
      for (size_t k : kernels) harness.Check(k, {{1, n}, {2, m}}, 1e-4, -1.3, 1.3);
    }
  }
}

TEST_CASE("softmax runs row by row") {
  KernelHarness harness;
  Tensor x = Input({kN, kM}, 0);
  Tensor image = Input({2, kN, kM, 6}, 0);
  size_t rows = harness.Add(Spec("softmax", {x}, {Softmax(x, 1)}));
  size_t columns = harness.Add(Spec("softmax0", {x}, {Softmax(x, 0)}));
  size_t channels = harness.Add(Spec("softmax_channels", {image}, {Softmax(image, 1)}));
  harness.Finish();
  CHECK(harness.interface(rows).parallel_extent == kN);
  CHECK(harness.interface(rows).in_place == std::vector<std::pair<int, int>>{{0, 0}});
  CHECK(harness.interface(channels).parallel_extent.ToString() != "1");
  for (int64_t n : {1, 2, 17}) {
    for (int64_t m : {1, 3, 16, 50}) {
      for (size_t k : {rows, columns, channels}) harness.Check(k, {{1, n}, {2, m}});
    }
  }
}

TEST_CASE("injective: transpose, reshape, concatenate, pad, take") {
  KernelHarness harness;
  Tensor x = Input({kN, kM}, 0);
  std::vector<size_t> kernels;
  Tensor transposed =
      Compute("t", {kM, kN}, [&](const Indices& i) { return Load(x, {i[1], i[0]}); });
  kernels.push_back(harness.Add(Spec("transpose", {x}, {transposed})));
  Tensor flat = Compute("flat", {kN * kM}, [&](const Indices& i) {
    return Load(x, {te::Binary(BinaryOp::kFloorDivide, i[0], te::DimValue(kM)),
                    te::Binary(BinaryOp::kFloorMod, i[0], te::DimValue(kM))});
  });
  kernels.push_back(harness.Add(Spec("reshape", {x}, {flat})));
  Tensor wide = Input({kN, kM * Dim(8)}, 0);
  Tensor heads = Compute("heads", {8, kN, kM}, [&](const Indices& i) {
    return Load(wide, {i[1], i[0] * te::DimValue(kM) + i[2]});
  });
  kernels.push_back(harness.Add(Spec("heads", {wide}, {heads})));
  Tensor merged = Compute("merged", {kN, kM * Dim(8)}, [&](const Indices& i) {
    return Load(heads, {te::Binary(BinaryOp::kFloorDivide, i[1], te::DimValue(kM)), i[0],
                        te::Binary(BinaryOp::kFloorMod, i[1], te::DimValue(kM))});
  });
  kernels.push_back(harness.Add(Spec("there_and_back", {wide}, {merged})));
  Tensor y = Input({kN, kK}, 1);
  Tensor joined = Compute("joined", {kN, kM + kK}, [&](const Indices& i) {
    return te::Select(i[1] < te::DimValue(kM), Load(x, i),
                      Load(y, {i[0], i[1] - te::DimValue(kM)}));
  });
  kernels.push_back(harness.Add(Spec("concatenate", {x, y}, {joined})));
  Tensor padded = Compute("padded", {kN + Dim(3), kM + Dim(2)}, [&](const Indices& i) {
    Expr inside =
        (i[0] >= te::IntImm(1)) && (i[0] < te::DimValue(kN + Dim(1))) && (i[1] >= te::IntImm(2));
    return te::Select(inside, Load(x, {i[0] - te::IntImm(1), i[1] - te::IntImm(2)}),
                      te::FloatImm(9, DType::kFloat32));
  });
  kernels.push_back(harness.Add(Spec("pad", {x}, {padded})));
  Tensor ids = Input({kK}, 1, DType::kInt32);
  Tensor taken = Compute("taken", {kK, kM}, [&](const Indices& i) {
    Expr id = te::Cast(Load(ids, {i[0]}), DType::kInt64);
    Expr clipped = te::Binary(BinaryOp::kMin, te::Binary(BinaryOp::kMax, id, te::IntImm(0)),
                              te::DimValue(kN) - te::IntImm(1));
    return Load(x, {clipped, i[1]});
  });
  kernels.push_back(harness.Add(Spec("take", {x, ids}, {taken})));
  Tensor reversed = Compute("reversed", {kN, kM}, [&](const Indices& i) {
    return Load(x, {i[0], te::DimValue(kM) - te::IntImm(1) - i[1]});
  });
  kernels.push_back(harness.Add(Spec("reverse", {x}, {reversed})));
  Tensor strided = Compute("strided", {kN, Dim::CeilDiv(kM, 3)},
                           [&](const Indices& i) { return Load(x, {i[0], i[1] * te::IntImm(3)}); });
  kernels.push_back(harness.Add(Spec("strided", {x}, {strided})));
  Tensor repeated = Compute("repeated", {kN, kM * Dim(2)}, [&](const Indices& i) {
    return Load(x, {i[0], te::Binary(BinaryOp::kFloorDivide, i[1], te::IntImm(2))});
  });
  kernels.push_back(harness.Add(Spec("repeat", {x}, {repeated})));
  harness.Finish();
  for (int64_t n : {1, 2, 9}) {
    for (int64_t m : {1, 16, 40}) {
      for (int64_t k : {1, 3, 20}) {
        for (size_t kernel : kernels) harness.Check(kernel, {{1, n}, {2, m}, {3, k}});
      }
    }
  }
}

TEST_CASE("a matrix product without a hint is a plain loop nest") {
  KernelHarness harness;
  Tensor a = Input({kN, kK}, 0);
  Tensor b = Input({kK, kM}, 1);
  Tensor bt = Input({kM, kK}, 1);
  auto product = [&](const Tensor& right, bool transposed) {
    return Compute("product", {kN, kM}, [&](const Indices& i) {
      te::Axis k = te::MakeAxis("k", kK);
      Expr kv = te::AxisValue(k);
      return te::Reduce(
          ReduceKind::kSum,
          Load(a, {i[0], kv}) * (transposed ? Load(right, {i[1], kv}) : Load(right, {kv, i[1]})),
          {k}, DType::kFloat32);
    });
  };
  size_t plain = harness.Add(Spec("nn", {a, b}, {product(b, false)}));
  size_t transposed = harness.Add(Spec("nt", {a, bt}, {product(bt, true)}));
  harness.Finish();
  for (int64_t n : {1, 4}) {
    for (int64_t m : {1, 19, 64}) {
      for (int64_t k : {0, 1, 33}) {
        harness.Check(plain, {{1, n}, {2, m}, {3, k}}, 1e-4);
        harness.Check(transposed, {{1, n}, {2, m}, {3, k}}, 1e-4);
      }
    }
  }
}

TEST_CASE("layer normalisation: two reductions and a row") {
  KernelHarness harness;
  Tensor x = Input({kN, kM}, 0);
  Tensor gamma = Input({kM}, 1);
  Tensor mean = Compute("mean", {kN, 1}, [&](const Indices& i) {
    te::Axis k = te::MakeAxis("k", kM);
    return te::Binary(
        BinaryOp::kDivide,
        te::Reduce(ReduceKind::kSum, Load(x, {i[0], te::AxisValue(k)}), {k}, DType::kFloat32),
        te::Cast(te::DimValue(kM), DType::kFloat32));
  });
  Tensor centred =
      Compute("centred", {kN, kM}, [&](const Indices& i) { return Load(x, i) - At(mean, i); });
  Tensor variance = Compute("variance", {kN}, [&](const Indices& i) {
    te::Axis k = te::MakeAxis("k", kM);
    Expr d = Load(centred, {i[0], te::AxisValue(k)});
    return te::Binary(BinaryOp::kDivide, te::Reduce(ReduceKind::kSum, d * d, {k}, DType::kFloat32),
                      te::Cast(te::DimValue(kM), DType::kFloat32));
  });
  Tensor out = Compute("norm", {kN, kM}, [&](const Indices& i) {
    Expr scale =
        te::Unary(UnaryOp::kRsqrt, Load(variance, {i[0]}) + te::Const(1e-5, DType::kFloat32));
    return Load(centred, i) * scale * Load(gamma, {i[1]});
  });
  size_t kernel = harness.Add(Spec("layer_norm", {x, gamma}, {out}));
  size_t with_statistics = harness.Add(Spec("layer_norm3", {x, gamma}, {out, mean, variance}));
  harness.Finish();
  CHECK(harness.interface(kernel).parallel_extent == kN);
  for (int64_t n : {1, 5}) {
    for (int64_t m : {1, 6, 48, 100}) {
      harness.Check(kernel, {{1, n}, {2, m}}, 1e-4);
      harness.Check(with_statistics, {{1, n}, {2, m}}, 1e-4);
    }
  }
}

TEST_CASE("equal specs share a kernel, over their own symbols; the image is deterministic") {
  auto make = [](KernelHarness& harness, const Dim& rows, const Dim& columns) {
    Tensor x = Input({rows, columns}, 0);
    return harness.Add(Spec("softmax", {x}, {Softmax(x, 1)}));
  };
  KernelHarness first;
  size_t a = make(first, kN, kM);
  size_t b = make(first, Dim::Symbol(8, "p"), Dim::Symbol(7, "q"));
  size_t c = make(first, kN, 12);
  CHECK(first.id(a) == first.id(b));
  CHECK(first.id(a) != first.id(c));
  CHECK(first.interface(b).parallel_extent.ToString() == "p");
  CHECK(first.interface(b).symbols.size() == 2);
  first.Finish();
  KernelHarness second;
  make(second, kN, kM);
  make(second, kN, 12);
  second.Finish();
  CHECK(first.image().elf == second.image().elf);
  first.Check(b, {{8, 3}, {7, 21}});
}

TEST_CASE("scalars of every dtype by value, symbols that only the body knows") {
  KernelHarness harness;
  std::vector<size_t> kernels;
  Dim offset = Dim::Symbol(5, "offset", /*nonnegative=*/false);
  for (int d = 0; d < kNumDTypes; ++d) {
    DType t = static_cast<DType>(d);
    Tensor s = Input({}, 0, t);
    Tensor x = Input({kN}, 1, t);
    Tensor y = Compute("y", {kN}, [&](const Indices& i) {
      return te::Select(i[0] + te::DimValue(offset) >= te::IntImm(0), Load(s, {}), Load(x, i));
    });
    KernelSpec spec = Spec("scalar", {s, x}, {y});
    spec.by_value[0] = true;
    kernels.push_back(harness.Add(spec));
  }
  harness.Finish();
  for (size_t k : kernels) harness.Check(k, {{1, 20}, {5, -6}}, 0);
}

TEST_CASE(
    "the image has no writable segment and no relocation; IR and assembly come when asked for") {
  KernelOptions options;
  options.keep_llvm_ir = options.keep_assembly = true;
  KernelHarness harness(options);
  Tensor x = Input({kN}, 0);
  // The sine has a table for huge arguments, in read-only data.
  Tensor sine =
      Compute("sine", {kN}, [&](const Indices& i) { return te::Unary(UnaryOp::kSin, Load(x, i)); });
  harness.Add(Spec("nn.sine/of x", {x}, {sine}));
  harness.Finish();
  const KernelImage& image = harness.image();
  CHECK(image.names == std::vector<std::string>{"nn_sine_of_x_0"});
  CHECK(image.llvm_ir.find("define hidden i32 @nn_sine_of_x_0(") != std::string::npos);
  CHECK(image.assembly.find("nn_sine_of_x_0:") != std::string::npos);
  CHECK(image.cpu_features.substr(0, 8) == "x86-64-v");
  Elf64_Ehdr header;
  std::memcpy(&header, image.elf.data(), sizeof(header));
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, image.elf.data() + header.e_phoff + i * sizeof(segment), sizeof(segment));
    if (segment.p_type == PT_LOAD) CHECK((segment.p_flags & PF_W) == 0);
    CHECK((segment.p_type != PT_LOAD || segment.p_offset % 4096 == segment.p_vaddr % 4096));
  }
  for (size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, image.elf.data() + header.e_shoff + i * sizeof(section), sizeof(section));
    CHECK(section.sh_type != SHT_RELA);
    CHECK(section.sh_type != SHT_REL);
  }
}

// A backend that has no memory for one of its steps.
class WithoutMemory : public codegen::KernelBackend {
 public:
  enum class Step : uint8_t { kEmit, kTranslate };
  explicit WithoutMemory(Step step) : step_(step) {}
  const std::vector<Machine>& machines() const override { return whole_.machines(); }
  Result<Machine> Host() const override { return whole_.Host(); }
  std::string_view why_no_programs() const override { return whole_.why_no_programs(); }
  Result<codegen::KernelPlan> Plan(KernelSpec spec, std::string name, std::vector<Dim> symbols,
                                   const codegen::ContractionTarget& target) const override {
    return whole_.Plan(std::move(spec), std::move(name), std::move(symbols), target);
  }
  Result<codegen::KernelText> Emit(std::span<codegen::KernelPlan* const> plans,
                                   const KernelOptions& options) const override {
    if (step_ == Step::kEmit) throw std::bad_alloc();
    return whole_.Emit(plans, options);
  }
  Result<codegen::KernelCode> Translate(const codegen::KernelText& text,
                                        const KernelOptions& options) const override {
    if (step_ == Step::kTranslate) throw std::bad_alloc();
    return whole_.Translate(text, options);
  }
  Status Link(const std::vector<std::vector<char>>& objects, const std::stop_token& stop,
              KernelImage* image) const override {
    return whole_.Link(objects, stop, image);
  }

 private:
  const Step step_;
  const codegen::KernelBackend& whole_ = codegen::X86Backend();
};

TEST_CASE("a thread that has no memory says so") {
  for (const auto step : {WithoutMemory::Step::kEmit, WithoutMemory::Step::kTranslate}) {
    const WithoutMemory backend(step);
    KernelOptions options;
    options.machine.backend = &backend;
    options.num_threads = 4;
    KernelCompiler compiler(options);
    for (int64_t n = 1; n <= 40; ++n) {
      Tensor x = Input({n}, 0);
      Tensor y = Compute("y", {n}, [&](const Indices& i) { return Load(x, i) * Load(x, i); });
      REQUIRE(compiler.Add(Spec("square", {x}, {y})).ok());
    }
    CHECK(compiler.Finish().status().code() == StatusCode::kResourceExhausted);
  }
}

TEST_CASE("errors name what is wrong") {
  Tensor x = Input({kN}, 0);
  KernelCompiler other({});
  Tensor any = Input({Dim::Any()}, 0);
  CHECK(!other.Add(Spec("any", {any}, {any})).ok());
  CHECK(!other.Add(Spec("none", {x}, {})).ok());
}

}  // namespace
}  // namespace relayvm
