#include <relayvm/profile.h>
#include <relayvm/relayvm.h>
#include <relayvm/scheduler.h>

#include <cstdio>
#include <latch>

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  constexpr int kRequests = 100;
  relayvm::Profile profile({.kernel_interval = 10});  // one call in ten, at random
  auto runtime = relayvm::Runtime::Create({.num_threads = 1, .trace = &profile});
  auto program = relayvm::Executable::Load(argv[1]);
  if (!runtime.ok() || !program.ok()) return 2;
  auto scheduler = relayvm::Scheduler::Create(*runtime, {.num_threads = 2});
  if (!scheduler.ok()) return 2;
  const float numbers[] = {2.0F, 9.0F, 144.0F};
  const int64_t dims[] = {3};
  auto input = relayvm::Value::CopyTensor(relayvm::DType::kFloat32, dims, numbers);
  std::latch done(kRequests);
  for (int i = 0; i < kRequests; ++i) {
    auto accepted =
        (*scheduler)
            ->RunAsync({.executable = *program, .function = "main", .inputs = {*input}},
                       [&](const relayvm::Result<relayvm::Value>&) { done.count_down(); });
    if (!accepted.ok()) return 3;
  }
  done.wait();
  const relayvm::RuntimeStats stats = (*runtime)->stats();
  std::printf("%llu runs were well\n", static_cast<unsigned long long>(stats.ended[0]));
  for (const relayvm::Profile::Row& row : profile.ByPlace()) {
    std::printf("line %u: %lld ns\n", row.place.line, static_cast<long long>(row.total_ns));
  }
}
