// One convolution or dense product by oneDNN, in its best case: layouts as it likes them, weights
// packed before the clock starts. Compile with -O2 -ldnnl.
//
//   onednn N C H W O KH KW SH SW PH PW DH DW GROUPS RUNS X.raw W.raw Y.raw
//
// X is N,C,H,W; W is O,C/GROUPS,KH,KW; Y is N,O,OH,OW; all float32. Where H, W, KH and KW are 1 it
// is a dense product of N x C by O x C, by the primitive for those. Prints the median and the least
// microseconds of a run.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

using dnnl::memory;
using Dims = memory::dims;
using Tag = memory::format_tag;

static std::vector<float> Read(const char* path, size_t size) {
  std::vector<float> data(size);
  FILE* f = fopen(path, "rb");
  if (f == nullptr || fread(data.data(), 4, size, f) != size) {
    fprintf(stderr, "cannot read %zu floats of %s\n", size, path);
    exit(1);
  }
  fclose(f);
  return data;
}

static memory::desc Desc(const Dims& dims, Tag tag) { return {dims, memory::data_type::f32, tag}; }

int main(int argc, char** argv) {
  if (argc != 19) return 2;
  int64_t a[16];
  for (int i = 1; i < 16; ++i) a[i] = atol(argv[i]);
  const int64_t n = a[1], c = a[2], h = a[3], w = a[4], o = a[5], kh = a[6], kw = a[7],
                groups = a[14];
  const Dims stride{a[8], a[9]}, pad{a[10], a[11]}, dilation{a[12] - 1, a[13] - 1};
  const int64_t oh = (h + 2 * a[10] - (kh - 1) * a[12] - 1) / a[8] + 1;
  const int64_t ow = (w + 2 * a[11] - (kw - 1) * a[13] - 1) / a[9] + 1;
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  std::vector<float> x = Read(argv[16], n * c * h * w);
  std::vector<float> weights = Read(argv[17], o * (c / groups) * kh * kw);
  std::vector<float> y(n * o * oh * ow);
  const bool is_dense = h * w * kh * kw * groups == 1;
  const Dims x_dims = is_dense ? Dims{n, c} : Dims{n, c, h, w};
  const Dims y_dims = is_dense ? Dims{n, o} : Dims{n, o, oh, ow};
  const Dims w_dims = is_dense      ? Dims{o, c}
                      : groups == 1 ? Dims{o, c, kh, kw}
                                    : Dims{groups, o / groups, c / groups, kh, kw};
  const Tag plain = is_dense ? Tag::ab : Tag::abcd;
  dnnl::primitive primitive;
  memory::desc own_x_desc, own_w_desc, own_y_desc;
  auto take = [&](const auto& chosen, const auto& made) {
    own_x_desc = chosen.src_desc(), own_w_desc = chosen.weights_desc(),
    own_y_desc = chosen.dst_desc();
    primitive = made;
  };
  const auto inference = dnnl::prop_kind::forward_inference;
  const memory::desc any_x = Desc(x_dims, Tag::any), any_w = Desc(w_dims, Tag::any),
                     any_y = Desc(y_dims, Tag::any);
  if (is_dense) {
    dnnl::inner_product_forward::primitive_desc chosen({inference, any_x, any_w, any_y}, engine);
    take(chosen, dnnl::inner_product_forward(chosen));
  } else {
    dnnl::convolution_forward::primitive_desc chosen(
        {inference, dnnl::algorithm::convolution_auto, any_x, any_w, any_y, stride, dilation, pad,
         pad},
        engine);
    take(chosen, dnnl::convolution_forward(chosen));
  }
  memory plain_x(Desc(x_dims, plain), engine, x.data());
  memory plain_w(Desc(w_dims, groups == 1 ? plain : Tag::abcde), engine, weights.data());
  memory plain_y(Desc(y_dims, plain), engine, y.data());
  memory own_x(own_x_desc, engine), own_w(own_w_desc, engine), own_y(own_y_desc, engine);
  dnnl::reorder(plain_x, own_x).execute(stream, plain_x, own_x);
  dnnl::reorder(plain_w, own_w).execute(stream, plain_w, own_w);
  std::vector<double> times;
  for (int64_t i = 0; i < a[15] + 2; ++i) {
    auto start = std::chrono::steady_clock::now();
    primitive.execute(stream,
                      {{DNNL_ARG_SRC, own_x}, {DNNL_ARG_WEIGHTS, own_w}, {DNNL_ARG_DST, own_y}});
    stream.wait();
    std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    if (i >= 2) times.push_back(took.count());
  }
  dnnl::reorder(own_y, plain_y).execute(stream, own_y, plain_y);
  stream.wait();
  FILE* f = fopen(argv[18], "wb");
  if (f == nullptr || fwrite(y.data(), 4, y.size(), f) != y.size()) return 1;
  fclose(f);
  std::sort(times.begin(), times.end());
  printf("%.3f %.3f\n", times[times.size() / 2], times[0]);
  return 0;
}
