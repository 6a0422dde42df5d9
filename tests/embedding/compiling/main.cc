#include <relayvm/compiler.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  relayvm::CompilerOptions options;
  options.shapes.emplace("xs", "3");
  const auto model = relayvm::CompileModel({argv[1], std::nullopt}, options);
  if (!model.ok()) {
    const relayvm::StatusDetail* detail = model.status().detail();
    if (detail != nullptr && !detail->places.empty())
      std::fprintf(stderr, "line %u: %s\n", detail->places[0].line,
                   detail->places[0].source_line.c_str());
    std::fprintf(stderr, "%s\n", model.status().message().c_str());
    return 2;
  }
  const auto program = model->Load();
  const auto runtime = relayvm::Runtime::Create();
  if (!program.ok() || !runtime.ok()) return 2;
  auto invocation = relayvm::Invocation::Create(*runtime, *program);
  if (!invocation.ok()) return 2;
  const float numbers[] = {2.0F, 9.0F, 144.0F};
  const int64_t dims[] = {3};
  const auto input = relayvm::Value::CopyTensor(relayvm::DType::kFloat32, dims, numbers);
  const auto result = (*invocation)->Run("main", {*input});
  if (!result.ok()) return 3;
  const relayvm::Value roots = result->field(0);
  for (int i = 0; i < 3; ++i) std::printf("%g\n", static_cast<const float*>(roots.data())[i]);
}
