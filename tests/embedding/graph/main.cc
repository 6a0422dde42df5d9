// Runs a graph that relayc --executor graph has written, of one float32 input and output, on ones.
#include <relayvm/graph_module.h>

#include <cstdio>
#include <cstring>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  auto module = relayvm::GraphModule::Load(argv[1]);
  if (!module.ok()) {
    std::fprintf(stderr, "%s\n", module.status().message().c_str());
    return 2;
  }
  auto input = relayvm::Value::NewTensor(relayvm::DType::kFloat32, (*module)->input(0).dims);
  if (!input.ok()) return 2;
  std::vector<float> ones(static_cast<size_t>(input->num_elements()), 1.0F);
  std::memcpy(input->mutable_data(), ones.data(), input->bytes());
  if (!(*module)->SetInput(0, *input).ok() || !(*module)->Run().ok()) return 3;
  const auto* result = static_cast<const float*>((*module)->output_data(0));
  for (int i = 0; i < 3; ++i) std::printf("%g\n", result[i]);
}
