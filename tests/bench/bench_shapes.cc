// Runs a program on a vector of many lengths in one process, and prints peak resident memory in
// MiB: of the largest length alone, then over all lengths.  usage: bench_shapes MODEL.vmx SHAPES
// LARGEST
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "vm/api/relayvm.h"

namespace {

double PeakResidentMiB() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with("VmHWM:")) return std::strtod(line.c_str() + 6, nullptr) / 1024;
  }
  return 0;
}

bool RunOnce(relayvm::Invocation& invocation, const std::vector<float>& data, int64_t length) {
  const int64_t dims[] = {length};
  auto x = relayvm::Value::CopyTensor(relayvm::DType::kFloat32, dims, data.data());
  return x.ok() && invocation.Run("main", {*x}).ok();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 1;
  int shapes = std::atoi(argv[2]);
  int64_t largest = std::atoll(argv[3]);
  auto runtime = relayvm::Runtime::Create({});
  auto program = relayvm::Executable::Load(argv[1]);
  if (!runtime.ok() || !program.ok()) return 2;
  auto invocation = relayvm::Invocation::Create(*runtime, *program);
  // Made once: what malloc keeps of buffers of many sizes is not the runtime's.
  const std::vector<float> data(static_cast<size_t>(largest), 0.5F);
  if (!invocation.ok() || !RunOnce(**invocation, data, largest)) return 3;
  double single = PeakResidentMiB();
  double highest = single;
  std::mt19937 random(1);
  for (int i = 0; i < shapes; ++i) {
    if (!RunOnce(**invocation, data, 1 + static_cast<int64_t>(random() % largest))) return 3;
    highest = std::max(highest, PeakResidentMiB());
  }
  std::printf("%.2f %.2f\n", single, highest);
  return 0;
}
