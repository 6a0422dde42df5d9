#include "kernels/runtime/signature.h"

#include <doctest/doctest.h>

#include <vector>

#include "kernels/runtime/builtin.h"

namespace relayvm {
namespace {

TEST_CASE("a signature is read from text") {
  constexpr Signature kSignature = Signature::Parse("T[*s,4] int[n] -> T[#,*s] f32[+]; axis 0..5");
  CHECK(kSignature.num_tensors == 4);
  CHECK(kSignature.num_inputs == 2);
  CHECK(kSignature.num_counts == 1);
  CHECK(kSignature.num_params == 2);
  CHECK(kSignature.tensors[0].dtype.variable == 'T');
  CHECK(kSignature.tensors[0].is_open());
  CHECK((kSignature.tensors[0].dims[1].kind == DimSpec::Kind::kExact));
  CHECK(kSignature.tensors[0].dims[1].exact == 4);
  CHECK(!kSignature.tensors[1].is_open());
  CHECK((kSignature.tensors[3].dtype.exact == DType::kFloat32));
  CHECK((kSignature.params[0].kind == ParamSpec::Kind::kAxis));
  CHECK(kSignature.params[1].high == 5);
  // A list of reals has no fixed number.
  CHECK(Signature::Parse("any[] -> any[]; bool real...").num_params == 1);
}

using Dims = std::vector<int64_t>;

// CheckCall for tensors of these dtypes and dims.
int32_t Check(std::string_view text, const std::vector<std::pair<DType, Dims>>& tensors,
              const Dims& params = {}) {
  std::vector<int64_t> scalars;
  for (const auto& [dtype, dims] : tensors) {
    scalars.push_back(static_cast<int64_t>(dtype));
    scalars.push_back(static_cast<int64_t>(dims.size()));
    scalars.insert(scalars.end(), dims.begin(), dims.end());
  }
  scalars.insert(scalars.end(), params.begin(), params.end());
  std::vector<void*> buffers(tensors.size());
  const RelayvmKernelArgs args{buffers.data(), scalars.data(), nullptr};
  const RelayvmKernelEnv env{sizeof(RelayvmKernelEnv), 1};
  const CallArgs call(&env, &args, static_cast<int>(tensors.size()));
  return CheckCall(Signature::Parse(text), call);
}

TEST_CASE("a call is held to its signature") {
  constexpr DType kF = DType::kFloat32, kI = DType::kInt32, kH = DType::kFloat16;
  constexpr int64_t kHuge = int64_t{1} << 62;
  const struct {
    std::string_view text;
    std::vector<std::pair<DType, Dims>> tensors;
    Dims params;
    bool good;
  } kCases[] = {
      {"T[n] -> T[n]", {{kF, {3}}, {kF, {3}}}, {}, true},
      {"T[n] -> T[n]", {{kF, {3}}, {kF, {4}}}, {}, false},
      {"T[n] -> T[n]", {{kF, {3}}, {kI, {3}}}, {}, false},
      {"T[n] -> U[n]", {{kF, {3}}, {kI, {3}}}, {}, true},
      {"T[n] -> T[n]", {{kF, {3}}, {kF, {3, 1}}}, {}, false},
      {"F[] -> int[2]", {{kH, {}}, {kI, {2}}}, {}, true},
      {"F[] -> int[2]", {{kI, {}}, {kI, {2}}}, {}, false},
      {"F[] -> int[2]", {{kH, {}}, {kF, {2}}}, {}, false},
      {"F[] -> int[2]", {{kH, {}}, {DType::kBool, {2}}}, {}, false},
      {"T[*s] -> T[*s]", {{kF, {2, 0}}, {kF, {2, 0}}}, {}, true},
      {"T[*s] -> T[*s]", {{kF, {2, 0}}, {kF, {0, 2}}}, {}, false},
      {"T[*s,_] -> T[*s]", {{kF, {2, 5}}, {kF, {2}}}, {}, true},
      {"T[*s,_] -> T[*s]", {{kF, {}}, {kF, {}}}, {}, false},
      {"T[n,*] -> T[n]", {{kF, {2, 5, 6}}, {kF, {2}}}, {}, true},
      {"any[+] -> any[]", {{kF, {1, 1}}, {kF, {}}}, {}, true},
      {"any[+] -> any[]", {{kF, {0}}, {kF, {}}}, {}, false},
      {"any[_] -> any[]", {{kF, {-1}}, {kF, {}}}, {}, false},
      {"any[*] -> any[]", {{kF, {kHuge}}, {kF, {}}}, {}, false},
      {"any[*] -> any[]", {{kF, {0, kHuge, 4}}, {kF, {}}}, {}, false},
      {"any[*] -> any[]; axis", {{kF, {2, 2}}, {kF, {}}}, {1}, true},
      {"any[*] -> any[]; axis", {{kF, {2, 2}}, {kF, {}}}, {2}, false},
      {"any[*] -> any[]; axis", {{kF, {2, 2}}, {kF, {}}}, {-1}, false},
      {"any[*] -> any[]; axis?", {{kF, {2, 2}}, {kF, {}}}, {-1}, true},
      {"any[*] -> any[]; bool", {{kF, {2}}, {kF, {}}}, {2}, false},
      {"any[*] -> any[]; 1..1 int", {{kF, {2}}, {kF, {}}}, {1, -kHuge}, true},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.text);
    const int32_t expected = c.good ? RELAYVM_KERNEL_OK : RELAYVM_KERNEL_INVALID_ARGUMENT;
    CHECK(Check(c.text, c.tensors, c.params) == expected);
  }
}

}  // namespace
}  // namespace relayvm
