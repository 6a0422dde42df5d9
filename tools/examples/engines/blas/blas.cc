// The engine blas: products of matrices by a library's cblas_sgemm, which is opened at run time
// (RELAYVM_BLAS_LIBRARY, or OpenBLAS, or what the system has as BLAS). What it runs says
// blas.relay. Tested by tools/examples/engines/engines_test.cc.
#include <dlfcn.h>

#include <climits>
#include <cstdlib>

#include "tools/examples/engines/region.h"

namespace {

using engines::Dims;

// As cblas.h has it, with 32-bit sizes.
using Gemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                      const float* a, int lda, const float* b, int ldb, float beta, float* c,
                      int ldc);
constexpr int kRowMajor = 101, kAsIs = 111, kTransposed = 112;

struct Library {
  Gemm gemm = nullptr;
  std::string version;
};

const Library& Blas() {
  static const Library library = [] {
    const char* named = std::getenv("RELAYVM_BLAS_LIBRARY");
    for (const char* name : {named, "libopenblas.so.0", "libblas.so.3"}) {
      if (name == nullptr || (named != nullptr && name != named)) continue;
      void* opened = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (opened == nullptr) continue;
      void* gemm = dlsym(opened, "cblas_sgemm");
      if (gemm != nullptr) return Library{reinterpret_cast<Gemm>(gemm), name};
    }
    return Library{};
  }();
  return library;
}

// C[m, n] = A[m, k] B[k, n], of `batch` matrices each, or one for all.
struct Sizes {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  bool transposes_a = false, transposes_b = false, has_one_a = false, has_one_b = false;
};

class BlasEngine : public engines::Engine {
 public:
  static const char* Open() {
    if (Blas().gemm == nullptr) engines::Unsupported("no library with cblas_sgemm");
    return Blas().version.c_str();
  }

  explicit BlasEngine(const engines::Region& region) : region_(region) {
    for (const engines::Node& node : region.nodes) {
      if (node.kind != engines::Node::Kind::kKernel) continue;
      if (node.op != "nn.dense" && node.op != "nn.matmul" && node.op != "nn.batch_matmul")
        engines::Unsupported(node.op + " is no product");
      if (node.inputs.size() < 2 || node.shape.size() < 2)
        engines::Invalid(node.op + ": a product of two matrices at least");
      for (const engines::Step& step : node.steps) {
        if (step.label != "bias" || step.inputs.size() != 1 || node.steps.size() > 1)
          engines::Unsupported("step " + step.label);
      }
    }
  }

  void Check(const engines::Plan& plan) const override {
    for (size_t i = 0; i < region_.nodes.size(); ++i) {
      if (region_.nodes[i].kind == engines::Node::Kind::kKernel) SizesOf(plan, i);
    }
  }

  void Compute(const engines::Plan& plan, size_t node, float* const* values) const override {
    const engines::Node& n = region_.nodes[node];
    const Sizes s = SizesOf(plan, node);
    const float *a = values[n.inputs[0]], *b = values[n.inputs[1]];
    float* c = values[node];
    if (!n.steps.empty()) {
      const float* bias = values[n.inputs[n.steps[0].inputs[0]]];
      for (int64_t row = 0; row < s.batch * s.m; ++row)
        std::memcpy(c + row * s.n, bias, static_cast<size_t>(s.n) * sizeof(float));
    }
    const auto leading = [](int64_t columns) {
      return static_cast<int>(std::max<int64_t>(columns, 1));
    };
    for (int64_t i = 0; i < s.batch; ++i) {
      Blas().gemm(kRowMajor, s.transposes_a ? kTransposed : kAsIs,
                  s.transposes_b ? kTransposed : kAsIs, static_cast<int>(s.m),
                  static_cast<int>(s.n), static_cast<int>(s.k), 1.0F,
                  a + (s.has_one_a ? 0 : i * s.m * s.k), leading(s.transposes_a ? s.m : s.k),
                  b + (s.has_one_b ? 0 : i * s.k * s.n), leading(s.transposes_b ? s.k : s.n),
                  n.steps.empty() ? 0.0F : 1.0F, c + i * s.m * s.n, leading(s.n));
    }
  }

 private:
  Sizes SizesOf(const engines::Plan& plan, size_t node) const {
    const engines::Node& n = region_.nodes[node];
    const Dims &x = plan.dims[n.inputs[0]], &w = plan.dims[n.inputs[1]], &y = plan.dims[node];
    const bool is_batched = n.op == "nn.batch_matmul";
    const size_t first = is_batched ? 1 : 0;  // of a matrix
    if (w.size() != first + 2 || x.size() != y.size() || (is_batched && x.size() != 3))
      engines::Invalid(n.op + ": other ranks than a product has");
    Sizes s;
    s.transposes_a = n.Flag("transpose_a");
    s.transposes_b = n.op == "nn.dense" || n.Flag("transpose_b", is_batched);
    if (is_batched) {
      s.batch = y[0];
      s.has_one_a = x[0] != y[0];
      s.has_one_b = w[0] != y[0];
      if ((s.has_one_a && x[0] != 1) || (s.has_one_b && w[0] != 1))
        engines::Invalid(n.op + ": other numbers of matrices");
    } else if (s.transposes_a && x.size() != 2) {
      engines::Unsupported("transposed data that is no matrix");
    }
    // Leading axes are rows too.
    s.m = engines::Product(y, first, y.size() - 1);
    s.n = y.back();
    s.k = w[first + (s.transposes_b ? 1 : 0)];
    const int64_t rows = s.transposes_a ? x[first + 1] : engines::Product(x, first, x.size() - 1);
    const int64_t depth = s.transposes_a ? x[first] : x.back();
    if (rows != s.m || depth != s.k || w[first + (s.transposes_b ? 0 : 1)] != s.n)
      engines::Invalid(n.op + ": sizes of operands and result that do not fit");
    if (std::max({s.m, s.n, s.k}) > INT_MAX) engines::Unsupported("sizes beyond 32 bits");
    if (!n.steps.empty() && engines::Elements(plan.dims[n.inputs[n.steps[0].inputs[0]]]) != s.n)
      engines::Invalid(n.op + ": a bias of another size");
    return s;
  }

  const engines::Region& region_;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const RelayvmRegionProvider*
relayvm_region_provider() {
  return engines::ProviderOf<BlasEngine>("blas");
}
