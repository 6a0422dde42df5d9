#include <relayvm/relayvm.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  auto runtime = relayvm::Runtime::Create({.num_threads = 1});
  auto program = relayvm::Executable::Load(argv[1]);
  if (!runtime.ok() || !program.ok()) return 2;
  auto invocation = relayvm::Invocation::Create(*runtime, *program);
  if (!invocation.ok()) return 2;
  const float numbers[] = {2.0F, 9.0F, 144.0F};
  const int64_t dims[] = {3};
  auto input = relayvm::Value::CopyTensor(relayvm::DType::kFloat32, dims, numbers);
  auto result = (*invocation)->Run({{"xs", *input}});  // by name
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", result.status().ToString().c_str());
    return 3;
  }
  relayvm::Value roots = *result->Find("output_0");
  for (float root : roots.span<float>()) std::printf("%g\n", root);
}
