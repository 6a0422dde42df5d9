// A batch of matrix products by oneDNN, on random numbers. Compile with -O2 -ldnnl.
//
//   onednn_matmul BATCH M K N TRANSPOSE_A TRANSPOSE_B CONSTANT RUNS
//
// BATCH times M x K by K x N, float32, either side stored transposed where it says 1. CONSTANT: B is
// packed as oneDNN likes it before the clock starts; else both are read as they are. Prints the
// median and the least microseconds of a run.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

using dnnl::memory;
using Tag = memory::format_tag;

static memory::desc Desc(const memory::dims& dims, Tag tag) {
  return {dims, memory::data_type::f32, tag};
}

static std::vector<float> Random(int64_t size) {
  std::vector<float> data(size);
  uint32_t state = 1;
  for (float& x : data) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<float>(state >> 8) / (1 << 23) - 1;
  }
  return data;
}

int main(int argc, char** argv) {
  if (argc != 9) return 2;
  int64_t a[9];
  for (int i = 1; i < 9; ++i) a[i] = atol(argv[i]);
  const int64_t batch = a[1], m = a[2], k = a[3], n = a[4];
  const bool is_constant = a[7] != 0;
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  std::vector<float> x = Random(batch * m * k), w = Random(batch * k * n), y(batch * m * n);
  const memory::desc x_desc = Desc({batch, m, k}, a[5] ? Tag::acb : Tag::abc);
  const memory::desc w_desc = Desc({batch, k, n}, a[6] ? Tag::acb : Tag::abc);
  const memory::desc y_desc = Desc({batch, m, n}, Tag::abc);
  const memory::desc w_wanted = is_constant ? Desc({batch, k, n}, Tag::any) : w_desc;
  memory own_x(x_desc, engine, x.data()), own_y(y_desc, engine, y.data());
  memory plain_w(w_desc, engine, w.data()), own_w = plain_w;
  dnnl::matmul::primitive_desc chosen({x_desc, w_wanted, y_desc}, engine);
  if (is_constant) {
    own_w = memory(chosen.weights_desc(), engine);
    dnnl::reorder(plain_w, own_w).execute(stream, plain_w, own_w);
  }
  dnnl::matmul product(chosen);
  std::vector<double> times;
  for (int64_t i = 0; i < a[8] + 2; ++i) {
    auto start = std::chrono::steady_clock::now();
    product.execute(stream,
                    {{DNNL_ARG_SRC, own_x}, {DNNL_ARG_WEIGHTS, own_w}, {DNNL_ARG_DST, own_y}});
    stream.wait();
    std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    if (i >= 2) times.push_back(took.count());
  }
  std::sort(times.begin(), times.end());
  printf("%.3f %.3f\n", times[times.size() / 2], times[0]);
  return 0;
}
