// Layouts that are asked for (relayc --layout), and those that are chosen: nets of convolutions and
// what stands between them give the same results, at open extents, and keep few transforms.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/driver.h"
#include "compiler/frontend/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/walk.h"
#include "compiler/pipeline.h"
#include "compiler/transforms/layouts/convert_layout.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

constexpr const char* kHead = "#[version = \"0.0.5\"]\n";

// With those layouts; kOwn: those that pay; none: as written.
const std::vector<std::string> kOwn = {"own"};
Result<Compiled> CompileText(const std::string& text, const std::vector<std::string>& layouts,
                             int level = 3) {
  auto module = frontend::ParseRelay("test.relay", kHead + text);
  if (!module.ok()) return module.status();
  CompileOptions options;
  options.pipeline.verify = true;
  options.pipeline.opt_level = level;

  if (layouts.empty()) options.pipeline.disabled = {"ConvertLayout", "ConvertByteLayouts"};
  if (layouts != kOwn) options.pipeline.options["layout"] = layouts;
  return CompileModule(*std::move(module), options);
}

TEST_CASE("a layout whose parts do not divide the dims is refused, or passed by") {
  const std::string grouped = "nn.conv2d(%x, %w, kernel_size=[3, 3], groups=16, channels=16)";
  const auto compile = [&](const std::string& x, const std::string& body, const char* layout) {
    return CompileText("def @main(%x: Tensor[(1, " + x +
                           ", 8, 8), float32], %w: Tensor[(16, 1, 3, 3), float32], "
                           "%v: Tensor[(16, 16, 3, 3), float32]) { " +
                           body + " }",
                       {layout});
  };
  for (const char* layout : {"nn.conv2d=NCHW16c:OIHW16i16o", "nn.conv2d=NCHW9999999c:default"}) {
    const auto refused = compile("16", grouped, layout);
    CHECK(refused.status().code() == StatusCode::kInvalidArgument);
    CAPTURE(refused.status().message());
    CHECK(refused.status().message().find("test.relay:2:") != std::string::npos);
    CHECK(refused.status().message().find("no call of nn.conv2d can compute in that layout") !=
          std::string::npos);
  }
  CHECK(compile("16", "(" + grouped + ", nn.conv2d(%x, %v, kernel_size=[3, 3], channels=16))",
                "nn.conv2d=NCHW16c:OIHW16i16o")
            .ok());
  CHECK(compile("16", "%x", "nn.conv2d=NCHW16c:OIHW16i16o").ok());  // no call to fit
}

struct Shaped {
  std::vector<int64_t> dims;
  std::vector<float> data;
};

Shaped Run(const Compiled& compiled, const std::vector<int64_t>& dims) {
  auto executable = Executable::FromProgram(compiled.program);
  REQUIRE_MESSAGE(executable.ok(), executable.status().ToString());
  auto runtime = Runtime::Create();
  auto invocation = Invocation::Create(*runtime, *executable);
  REQUIRE(invocation.ok());
  int64_t size = 1;
  for (const int64_t d : dims) size *= d;
  std::vector<float> x(static_cast<size_t>(size));
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i) * 0.7F);
  auto y = (*invocation)->Run("main", {*Value::CopyTensor(DType::kFloat32, dims, x.data())});
  REQUIRE_MESSAGE(y.ok(), y.status().ToString());
  const auto* data = static_cast<const float*>(y->data());
  return {{y->dims().begin(), y->dims().end()}, {data, data + y->num_elements()}};
}

// A constant, through arithmetic that is folded.
std::string Table(const std::vector<int64_t>& dims) {
  int64_t size = 1;
  for (const int64_t d : dims) size *= d;
  std::string shape;
  for (const int64_t d : dims) shape += (shape.empty() ? "" : ", ") + std::to_string(d);
  return fmt::format(
      "multiply(reshape(sin(arange(0f, {}f, 1f, dtype=\"float32\")), newshape=[{}]), 0.3f)", size,
      shape);
}

// A net over values of 8 channels, in either of the layouts that programs come in.
class Net {
 public:
  Net(uint32_t seed, bool channels_last) : random_(seed), last_(channels_last) {
    values_.push_back("%x");
    for (int i = 0; i < 9; ++i) Step();
    // All that is of use.
    std::string sum = values_.back();
    for (size_t i = values_.size() - 1; i-- > 1;)
      sum = Let(fmt::format("add({}, {})", sum, values_[i]));
    text_ += "  " + sum + "\n";
  }

  std::string text() const {
    return fmt::format("def @main(%x: Tensor[({}), float32]) {{\n{}}}\n",
                       last_ ? "?, ?, ?, 8" : "?, 8, ?, ?", text_);
  }
  std::vector<int64_t> Dims(int64_t n, int64_t h, int64_t w) const {
    return last_ ? std::vector<int64_t>{n, h, w, 8} : std::vector<int64_t>{n, 8, h, w};
  }

 private:
  std::string Let(const std::string& value) {
    const std::string name = fmt::format("%v{}", count_++);
    text_ += fmt::format("  let {} = {};\n", name, value);
    return name;
  }
  const std::string& Any() { return values_[random_() % values_.size()]; }
  int Channels() const { return last_ ? 3 : 1; }

  std::string Conv(const std::string& x) {
    const bool depthwise = random_() % 3 == 0;
    const int64_t window = random_() % 2 == 0 ? 1 : 3;
    std::vector<int64_t> dims;
    std::string kernel;
    if (last_) {
      dims = depthwise ? std::vector<int64_t>{window, window, 8, 1}
                       : std::vector<int64_t>{window, window, 8, 8};
      kernel = depthwise ? "HWOI" : "HWIO";
    } else {
      dims = {8, depthwise ? 1 : 8, window, window};
      kernel = "OIHW";
    }
    return Let(fmt::format(
        "nn.conv2d({}, {}, padding=[{}, {}], groups={}, channels=8, kernel_size=[{}, {}], "
        "data_layout=\"{}\", kernel_layout=\"{}\")",
        x, Table(dims), window / 2, window / 2, depthwise ? 8 : 1, window, window,
        last_ ? "NHWC" : "NCHW", kernel));
  }

  void Step() {
    const std::string x = Any();
    const int axis = Channels();
    std::string y;
    switch (random_() % 11) {
      case 0:
      case 1:
      case 2:
        y = Conv(x);
        break;
      case 3:
        y = Let(fmt::format("nn.relu({})", x));
        break;
      case 4:
        y = Let(fmt::format("nn.bias_add({}, {}, axis={})", x, Table({8}), axis));
        break;
      case 5:
        y = Let(fmt::format("add({}, {})", x, Any()));
        break;
      case 6: {  // broadcast along all but the channels
        const std::vector<int64_t> dims =
            last_ ? std::vector<int64_t>{8} : std::vector<int64_t>{8, 1, 1};
        y = Let(fmt::format("multiply({}, {})", x, Table(dims)));
        break;
      }
      case 7:
        y = Let(fmt::format("nn.max_pool2d({}, pool_size=[3, 3], padding=[1, 1], layout=\"{}\")", x,
                            last_ ? "NHWC" : "NCHW"));
        break;
      case 8: {  // there and back
        const std::string both =
            Let(fmt::format("concatenate(({}, {}), axis={})", x, Any(), axis - 4));
        const std::string parts =
            Let(fmt::format("split({}, indices_or_sections=2, axis={})", both, axis));
        y = Let(fmt::format("{}.{}", parts, random_() % 2));
        break;
      }
      case 9: {  // as frameworks pad convolutions of even strides
        const std::string pads =
            last_ ? "[0, 0], [1, 0], [0, 2], [0, 0]" : "[0, 0], [0, 0], [1, 0], [0, 2]";
        const std::string wide = Let(fmt::format("nn.pad({}, 0f, pad_width=[{}])", x, pads));
        y = Let(fmt::format("nn.avg_pool2d({}, pool_size=[2, 3], layout=\"{}\")", wide,
                            last_ ? "NHWC" : "NCHW"));
        break;
      }
      default: {  // squeeze and excite
        const std::string axes = last_ ? "1, 2" : "-2, -1";
        std::string gate = Let(fmt::format("mean({}, axis=[{}], keepdims=True)", x, axes));
        if (random_() % 2 == 0) {  // which reads what has the data's axes beside them
          gate = Let(fmt::format("variance({}, {}, axis=[{}], keepdims=True)", x, gate, axes));
        }
        y = Let(fmt::format("multiply({}, sigmoid({}))", x, gate));
        break;
      }
    }
    values_.push_back(y);
  }

  std::mt19937 random_;
  bool last_;
  int count_ = 0;
  std::string text_;
  std::vector<std::string> values_;
};

TEST_CASE("random nets in another layout give what they gave") {
  for (const bool channels_last : {false, true}) {
    for (uint32_t seed = 0; seed < 12; ++seed) {
      const Net net(seed, channels_last);
      CAPTURE(net.text());
      auto plain = CompileText(net.text(), {});
      REQUIRE_MESSAGE(plain.ok(), plain.status().ToString());
      const std::vector<int64_t> dims = net.Dims(2, 5, 7);
      const Shaped expected = Run(*plain, dims);
      double most = 0;
      for (const float v : expected.data) most = std::max(most, std::abs(static_cast<double>(v)));
      const std::vector<std::string> other = {channels_last ? "nn.conv2d=NCHW:default"
                                                            : "nn.conv2d=NHWC:default"};
      for (const auto& layouts : {other, kOwn}) {
        auto converted = CompileText(net.text(), layouts);
        REQUIRE_MESSAGE(converted.ok(), converted.status().ToString());
        const Shaped found = Run(*converted, dims);
        CHECK(found.dims == expected.dims);
        REQUIRE(found.data.size() == expected.data.size());
        for (size_t i = 0; i < found.data.size(); ++i) {
          REQUIRE(std::abs(static_cast<double>(found.data[i]) - expected.data[i]) <= 1e-5 * most);
        }
      }
    }
  }
}

// Depthwise and pointwise convolutions with norms and clips, a shortcut, pooling and a classifier:
// as MobileNet.
std::string MobileNet(bool channels_last) {
  const std::string data = channels_last ? "NHWC" : "NCHW";
  const int axis = channels_last ? 3 : 1;
  std::string text = fmt::format("def @main(%x: Tensor[({}), float32]) {{\n",
                                 channels_last ? "?, 16, 16, 8" : "?, 8, 16, 16");
  std::string x = "%x";
  int count = 0;
  const auto let = [&](const std::string& value) {
    const std::string name = fmt::format("%v{}", count++);
    text += fmt::format("  let {} = {};\n", name, value);
    return name;
  };
  const auto conv = [&](const std::string& in, bool depthwise) {
    const int64_t window = depthwise ? 3 : 1;
    const int64_t inputs = depthwise ? 1 : 8;
    const std::vector<int64_t> dims = !channels_last
                                          ? std::vector<int64_t>{8, inputs, window, window}
                                      : depthwise ? std::vector<int64_t>{window, window, 8, 1}
                                                  : std::vector<int64_t>{1, 1, 8, 8};
    const std::string y = let(fmt::format(
        "nn.conv2d({}, {}, padding=[{}, {}], groups={}, channels=8, kernel_size=[{}, {}], "
        "data_layout=\"{}\", kernel_layout=\"{}\")",
        in, Table(dims), window / 2, window / 2, depthwise ? 8 : 1, window, window, data,
        !channels_last ? "OIHW"
        : depthwise    ? "HWOI"
                       : "HWIO"));
    const std::string norm = let(fmt::format(
        "nn.batch_norm({0}, add({1}, 2f), {1}, {1}, add({1}, 3f), axis={2})", y, Table({8}), axis));
    return let(fmt::format("clip({}.0, a_min=0f, a_max=6f)", norm));
  };
  for (int block = 0; block < 4; ++block) {
    const std::string y = conv(conv(x, /*depthwise=*/true), /*depthwise=*/false);
    x = block % 2 == 1 ? let(fmt::format("add({}, {})", x, y)) : y;
  }
  const std::string pooled = let(fmt::format("nn.global_avg_pool2d({}, layout=\"{}\")", x, data));
  const std::string flat = let(fmt::format("reshape({}, newshape=[-1, 8])", pooled));
  text += fmt::format("  nn.dense({}, {}, units=5)\n}}\n", flat, Table({5, 8}));
  return text;
}

TEST_CASE("a MobileNet in another layout keeps at most two transforms") {
  for (const bool channels_last : {false, true}) {
    CAPTURE(channels_last);
    const std::string text = MobileNet(channels_last);
    auto plain = CompileText(text, {});
    REQUIRE_MESSAGE(plain.ok(), plain.status().ToString());
    auto converted =
        CompileText(text, {channels_last ? "nn.conv2d=NCHW:default" : "nn.conv2d=NHWC:default"});
    REQUIRE_MESSAGE(converted.ok(), converted.status().ToString());
    const ir::LayoutTransforms left = ir::CountLayoutTransforms(converted->module);
    CHECK(left.count <= 2);
    CHECK(left.count >= 1);
    // As it was written, norms with their three results included.
    auto plainest =
        CompileText(text, {channels_last ? "nn.conv2d=NCHW:default" : "nn.conv2d=NHWC:default"}, 0);
    REQUIRE_MESSAGE(plainest.ok(), plainest.status().ToString());
    const std::vector<int64_t> dims =
        channels_last ? std::vector<int64_t>{2, 16, 16, 8} : std::vector<int64_t>{2, 8, 16, 16};
    const Shaped expected = Run(*plain, dims);
    for (const Compiled* other : {&*converted, &*plainest}) {
      const Shaped found = Run(*other, dims);
      CHECK(found.dims == expected.dims);
      for (size_t i = 0; i < found.data.size(); ++i) {
        CHECK(found.data[i] == doctest::Approx(expected.data[i]).epsilon(1e-4));
      }
    }
  }
}

TEST_CASE("layouts in branches, loops and closures") {
  const std::string conv =
      "nn.conv2d(%a, " + Table({4, 4, 3, 3}) + ", padding=[1, 1], channels=4, kernel_size=[3, 3])";
  const char* const programs[] = {
      // A value of outside, in a branch.
      "def @main(%x: Tensor[(1, 4, ?, ?), float32]) {{\n"
      "  let %a = nn.relu(%x);\n  let %y = {0};\n"
      "  if (less(sum(%y), 0f)) {{ let %z = nn.relu(%y); let %a1 = %z; negative(%z) }}\n"
      "  else {{ let %q = exp(negative(%y)); %q }}\n}}\n",
      // A loop.
      "def @turns(%n: int32, %a: Tensor[(1, 4, ?, ?), float32]) -> Tensor[(1, 4, ?, ?), float32] "
      "{{\n"
      "  if (less(%n, 1)) {{ %a }} else {{ let %y = {0};\n"
      "    @turns(subtract(%n, 1), tanh(%y)) }}\n}}\n"
      "def @main(%x: Tensor[(1, 4, ?, ?), float32]) {{ @turns(3, %x) }}\n",
      // What a closure takes along.
      "def @main(%x: Tensor[(1, 4, ?, ?), float32]) {{\n"
      "  let %a = %x;\n  let %y = {0};\n"
      "  let %f = fn (%b: Tensor[(1, 4, ?, ?), float32]) {{ add(nn.relu(%y), %b) }};\n"
      "  %f(%f(%x))\n}}\n",
      // Dims that are asked for, and a statement of a type.
      "def @main(%x: Tensor[(1, 4, ?, ?), float32]) {{\n"
      "  let %a = %x;\n  let %y: Tensor[(1, 4, ?, 6), float32] = {0};\n"
      "  let %r = nn.relu(%y);\n"
      "  reshape(multiply(%r, cast(take(shape_of(%r, dtype=\"int64\"), 2i64, axis=0), "
      "dtype=\"float32\")), newshape=[1, 4, -1])\n}}\n",
  };
  for (const char* program : programs) {
    const std::string text = fmt::format(fmt::runtime(program), conv);
    CAPTURE(text);
    auto plain = CompileText(text, {});
    REQUIRE_MESSAGE(plain.ok(), plain.status().ToString());
    for (const char* layout : {"nn.conv2d=NHWC:default", "nn.conv2d=NHWC:HWIO",
                               "nn.conv2d=NCHW4c:default", "nn.conv2d=NWHC:OIHW"}) {
      CAPTURE(layout);
      auto converted = CompileText(text, {layout});
      REQUIRE_MESSAGE(converted.ok(), converted.status().ToString());
      const Shaped expected = Run(*plain, {1, 4, 5, 6}), found = Run(*converted, {1, 4, 5, 6});
      CHECK(found.dims == expected.dims);
      REQUIRE(found.data.size() == expected.data.size());
      for (size_t i = 0; i < found.data.size(); ++i) {
        CHECK(found.data[i] == doctest::Approx(expected.data[i]).epsilon(1e-4));
      }
    }
  }
}

// The layouts of a program's convolutions.
std::vector<std::string> LayoutsOf(const Compiled& compiled) {
  std::vector<std::string> out;
  const auto look = [&](const ir::Block& block) {
    ir::ForEachBinding(block, [&](const ir::Binding& b) {
      const auto* call = b.value->As<ir::OpCall>();
      if (call != nullptr && call->op->name == "nn.conv2d")
        out.push_back(call->attrs.String("data_layout"));
    });
  };
  for (const auto& [name, f] : compiled.module.functions) {
    look(*f->body);
    ir::ForEachBinding(*f->body, [&](const ir::Binding& b) {
      if (const auto* p = b.value->As<ir::PrimitiveCall>()) look(*p->function->body);
    });
  }
  return out;
}
size_t CountCalls(const Compiled& compiled, std::string_view op) {
  size_t count = 0;
  for (const auto& [name, f] : compiled.module.functions) {
    const auto look = [&](const ir::Binding& b) {
      const auto* call = b.value->As<ir::OpCall>();
      count += call != nullptr && call->op->name == op ? 1 : 0;
    };
    ir::ForEachBinding(*f->body, [&](const ir::Binding& b) {
      look(b);
      if (const auto* p = b.value->As<ir::PrimitiveCall>())
        ir::ForEachBinding(*p->function->body, look);
    });
  }
  return count;
}

// `count` convolutions 3 x 3 of 16 channels, each followed by relu. 'l': channels last; 'f': first;
// 't': first between transposes, in a program whose channels are last.
std::string Chain(char kind, int count, const std::string& in, const std::string& prefix) {
  const std::string weights =
      Table(kind == 'l' ? std::vector<int64_t>{3, 3, 16, 16} : std::vector<int64_t>{16, 16, 3, 3});
  std::string text, x = in;
  for (int i = 0; i < count; ++i) {
    const std::string name = fmt::format("%{}{}", prefix, i);
    std::string data = kind == 't' ? fmt::format("transpose({}, axes=[0, 3, 1, 2])", x) : x;
    text += fmt::format(
        "  let {}c = nn.conv2d({}, multiply({}, 0.05f), padding=[1, 1], channels=16, "
        "kernel_size=[3, 3]{});\n",
        name, data, weights, kind == 'l' ? ", data_layout=\"NHWC\", kernel_layout=\"HWIO\"" : "");
    text += kind == 't'
                ? fmt::format("  let {0} = nn.relu(transpose({0}c, axes=[0, 2, 3, 1]));\n", name)
                : fmt::format("  let {0} = nn.relu({0}c);\n", name);
    x = name;
  }
  return text;
}

void CheckSame(const std::string& text, const std::vector<int64_t>& dims, const Compiled& chosen) {
  auto plain = CompileText(text, {});
  REQUIRE_MESSAGE(plain.ok(), plain.status().ToString());
  const Shaped expected = Run(*plain, dims), found = Run(chosen, dims);
  CHECK(found.dims == expected.dims);
  REQUIRE(found.data.size() == expected.data.size());
  for (size_t i = 0; i < found.data.size(); ++i) {
    REQUIRE(found.data[i] == doctest::Approx(expected.data[i]).epsilon(1e-3));
  }
}

TEST_CASE("convolutions take the layout that pays") {
  constexpr const char* kMain = "def @main(%x: Tensor[({}), float32]) {{\n{}  {}\n}}\n";
  const char* const last = "1, 64, 64, 16";
  const std::vector<int64_t> dims = {1, 64, 64, 16};

  SUBCASE("channels last: first, with a transform at each end") {
    const std::string text =
        fmt::format(fmt::runtime(kMain), last, Chain('l', 4, "%x", "a"), "%a3");
    auto chosen = CompileText(text, kOwn);
    REQUIRE_MESSAGE(chosen.ok(), chosen.status().ToString());
    CHECK(LayoutsOf(*chosen).empty());  // Winograd's, which are channels first
    CHECK(CountCalls(*chosen, "nn.contrib_conv2d_winograd") == 4);
    CHECK(ir::CountLayoutTransforms(chosen->module).count == 2);
    CheckSame(text, dims, *chosen);
  }
  SUBCASE("channels first: as they are") {
    const std::string text =
        fmt::format(fmt::runtime(kMain), "1, 16, 64, 64", Chain('f', 4, "%x", "a"), "%a3");
    auto chosen = CompileText(text, kOwn);
    REQUIRE_MESSAGE(chosen.ok(), chosen.status().ToString());
    CHECK(ir::CountLayoutTransforms(chosen->module).count == 0);
  }
  SUBCASE("so do large ones, of many milliseconds each") {
    const std::string text =
        fmt::format(fmt::runtime(kMain), "8, 640, 640, 16", Chain('l', 2, "%x", "a"), "%a1");
    auto chosen = CompileText(text, kOwn);
    REQUIRE_MESSAGE(chosen.ok(), chosen.status().ToString());
    CHECK(CountCalls(*chosen, "nn.contrib_conv2d_winograd") == 2);
    CHECK(ir::CountLayoutTransforms(chosen->module).count == 2);
  }
  SUBCASE("one that nothing is gained by: as it is") {
    const std::string text = fmt::format(
        fmt::runtime(kMain), "1, 8, 8, 16",
        "  let %y = nn.conv2d(%x, " + Table({1, 1, 16, 16}) +
            ", channels=16, kernel_size=[1, 1], data_layout=\"NHWC\", kernel_layout=\"HWIO\");\n",
        "%y");
    auto chosen = CompileText(text, kOwn);
    REQUIRE_MESSAGE(chosen.ok(), chosen.status().ToString());
    CHECK(CountCalls(*chosen, "nn.contrib_dense_pack") == 1);  // of each pixel's channels
    CHECK(ir::CountLayoutTransforms(chosen->module).count == 0);
  }
  SUBCASE("transposes that the program wrote between them go") {
    const std::string text =
        fmt::format(fmt::runtime(kMain), last, Chain('t', 4, "%x", "a"), "%a3");
    auto chosen = CompileText(text, kOwn);
    REQUIRE_MESSAGE(chosen.ok(), chosen.status().ToString());
    CHECK(CountCalls(*chosen, "transpose") + ir::CountLayoutTransforms(chosen->module).count == 2);
    CheckSame(text, dims, *chosen);
  }
  SUBCASE("a loop carries what its convolutions take") {
    const std::string text =
        "def @turns(%n: int32, %x: Tensor[(1, 64, 64, 16), float32]) -> Tensor[(1, 64, 64, 16), "
        "float32] {\n"
        "  if (less(%n, 1)) { %x } else {\n" +
        Chain('l', 2, "%x", "a") +
        "    @turns(subtract(%n, 1), add(%a1, %x)) }\n}\n"
        "def @main(%x: Tensor[(1, 64, 64, 16), float32]) { @turns(3, tanh(%x)) }\n";
    auto chosen = CompileText(text, kOwn);
    REQUIRE_MESSAGE(chosen.ok(), chosen.status().ToString());
    CHECK(CountCalls(*chosen, "nn.contrib_conv2d_winograd") == 2);
    // Before the loop and behind it, none in a turn.
    CHECK(ir::CountLayoutTransforms(chosen->module).count == 2);
    ir::ForEachBinding(*chosen->module.functions.at("turns")->body, [&](const ir::Binding& b) {
      const auto* p = b.value->As<ir::PrimitiveCall>();
      if (p == nullptr) return;
      ir::ForEachBinding(*p->function->body, [&](const ir::Binding& inner) {
        const auto* call = inner.value->As<ir::OpCall>();
        CHECK((call == nullptr || call->op->name != "layout_transform"));
      });
    });
    CheckSame(text, dims, *chosen);
  }
  SUBCASE("branches give what is read behind them, and tuples carry it") {
    const std::string text =
        fmt::format(fmt::runtime(kMain), last,
                    Chain('l', 2, "%x", "a") + "  let %p = if (less(sum(%x), 0f)) {\n" +
                        Chain('l', 2, "%a1", "b") + "    (%b1, %a1)\n  } else {\n" +
                        Chain('l', 1, "%a0", "c") + "    (%c0, tanh(%c0)) };\n" +
                        "  let %q = %p.0;\n  let %r = add(%q, %p.1);\n" + Chain('l', 2, "%r", "d"),
                    "%d1");
    auto chosen = CompileText(text, kOwn);
    REQUIRE_MESSAGE(chosen.ok(), chosen.status().ToString());
    CHECK(CountCalls(*chosen, "nn.contrib_conv2d_winograd") == 7);
    CHECK(ir::CountLayoutTransforms(chosen->module).count == 2);
    CheckSame(text, dims, *chosen);
  }
}

TEST_CASE("convolutions of bytes take the layout that pays, and give what they gave") {
  std::string text = "def @main(%x: Tensor[(1, 64, 28, 28), float32]) {\n  let %f0 = %x;\n";
  for (int i = 0; i < 3; ++i) {
    text += fmt::format(
        "  let %q{0} = cast(clip(round(multiply(%f{0}, {3}f)), a_min=0f, a_max=255f), "
        "dtype=\"uint8\");\n"
        "  let %c{0} = qnn.conv2d(%q{0}, cast(multiply({2}, 90f), dtype=\"int8\"), 7, 0, 1f, 1f, "
        "channels=64, kernel_size=[1, 1]);\n  let %f{1} = cast(%c{0}, dtype=\"float32\");\n",
        i, i + 1, Table({64, 64, 1, 1}), i == 0 ? 90 : 0.02);
  }
  text += "  %f3\n}\n";
  auto chosen = CompileText(text, kOwn);
  REQUIRE_MESSAGE(chosen.ok(), chosen.status().ToString());
  CheckSame(text, {1, 64, 28, 28}, *chosen);
  auto last = RunPipeline(*frontend::ParseRelay("test.relay", kHead + text),
                          {.opt_level = 3, .machine = MachineNamed("sapphirerapids")});
  REQUIRE_MESSAGE(last.ok(), last.status().ToString());
  CHECK(ir::CountLayoutTransforms(*last).count == 2);  // at both ends of dense layers
}

TEST_CASE("each machine of a file has the layouts that it has alone") {
  const auto parse = [](const std::string& chain) {
    const std::string text =
        "def @main(%x: Tensor[(1, 64, 64, 16), float32]) {\n" + chain + "  %a3\n}\n";
    auto module = frontend::ParseRelay("test.relay", kHead + text);
    REQUIRE_MESSAGE(module.ok(), module.status().ToString());
    return *std::move(module);
  };
  const std::vector<Machine> machines = {MachineNamed("x86-64-v2"), MachineNamed("x86-64-v3"),
                                         MachineNamed("x86-64-v4")};
  // Winograd's transforms, which v2 has not, are channels first.
  const std::string chain = Chain('l', 4, "%x", "a");
  auto together = RunPipelines(parse(chain), {.opt_level = 3, .verify = true}, machines);
  REQUIRE_MESSAGE(together.ok(), together.status().ToString());
  REQUIRE(together->native.size() == machines.size());
  for (size_t i = 0; i < machines.size(); ++i) {
    auto alone = RunPipeline(parse(chain), {.opt_level = 3, .machine = machines[i]});
    REQUIRE_MESSAGE(alone.ok(), alone.status().ToString());
    CHECK(ir::PrintModule(together->native[i]) == ir::PrintModule(*alone));
    CHECK(ir::CountLayoutTransforms(together->native[i]).count == (i == 0 ? 0 : 2));
  }
}

TEST_CASE("what is not made of whole blocks stays as written") {
  // 3 channels, then 16; then 8 by groups; an open number of them.
  const std::string weights = "multiply(" + Table({16, 3, 3, 3}) + ", 1f)";
  const std::string text = fmt::format(
      "def @main(%x: Tensor[(1, 3, ?, ?), float32]) {{\n"
      "  let %a = nn.relu(nn.conv2d(%x, {}, padding=[1, 1], channels=16, kernel_size=[3, 3]));\n"
      "  let %b = nn.conv2d(%a, {}, channels=16, kernel_size=[1, 1]);\n"
      "  nn.conv2d(%b, {}, channels=8, kernel_size=[1, 1])\n}}\n",
      weights, Table({16, 16, 1, 1}), Table({8, 16, 1, 1}));
  auto plain = CompileText(text, {}), blocked = CompileText(text, {"nn.conv2d=NCHW16c"});
  REQUIRE_MESSAGE(blocked.ok(), blocked.status().ToString());
  const std::vector<std::string> found = LayoutsOf(*blocked);
  CHECK(std::count(found.begin(), found.end(), "NCHW16c") == 1);
  CHECK(std::count(found.begin(), found.end(), "NCHW") == 1);  // the first one is Winograd's
  CheckSame(text, {1, 3, 6, 7}, *blocked);

  const char* const open =
      "def @main(%x: Tensor[(1, ?, 4, 4), float32]) {\n"
      "  nn.conv2d(%x, ones(shape=[16, 16, 1, 1], dtype=\"float32\"), channels=16, kernel_size=[1, "
      "1])\n}\n";
  // Where that is so of all calls, it is told.
  const Status unknown = CompileText(open, {"nn.conv2d=NCHW16c"}).status();
  CHECK(unknown.code() == StatusCode::kInvalidArgument);
  CHECK(unknown.message().find("no call of nn.conv2d can compute in that layout") !=
        std::string::npos);
}

TEST_CASE("a choice of layouts that cannot be is told") {
  const std::pair<const char*, const char*> cases[] = {
      {"nn.conv2d", "write OPERATOR=DATA:KERNEL"},
      {"=NHWC", "write OPERATOR=DATA:KERNEL"},
      {"nn.conv9d=NHWC", "there is no operator nn.conv9d"},
      {"add=NHWC", "add computes in one layout alone"},
      {"nn.conv2d=NHXC", "the data's layout"},
      {"nn.conv2d=NHW", "the data's layout"},
      {"nn.conv2d=NHWC:HWI", "the kernel's layout"},
      {"nn.max_pool2d=NHWC:HWIO", "nn.max_pool2d has no kernel"},
  };
  for (const auto& [text, message] : cases) {
    CAPTURE(text);
    const Status status = CheckPassOption(ir::LayoutOption().row(), text);
    REQUIRE(!status.ok());
    CHECK_MESSAGE(status.message().find(message) != std::string::npos, status.message());
  }
}

}  // namespace
}  // namespace relayvm
