// An engine for tests: {"factor": 2.5} multiplies each input by that, into the output of the same
// number; with a constant, by its first element too. Of symbols, it has one for the first dim of
// all tensors. "scratch": bytes for each row of the first tensor, "polls": of a run.
//
// The environment's SCALE_ENGINE makes it do otherwise, see Does().
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

#include "bytecode/region_abi.h"

struct RelayvmRegion {
  float factor = 1;
  int64_t scratch = 0, polls = 0;
};
struct RelayvmPlan {
  int64_t rows = -1;
  uint64_t scratch = 0;
};

namespace {

std::atomic<int64_t> live{0};

bool Does(const char* what) {
  const char* mode = std::getenv("SCALE_ENGINE");
  return mode != nullptr && std::strcmp(mode, what) == 0;
}

int32_t Fail(RelayvmRegionError* error, int32_t status, const char* text) {
  std::snprintf(error->message, sizeof(error->message), "%s", text);
  return status;
}

// The number behind "key":, or `otherwise`.
double NumberOf(const std::string& json, const std::string& key, double otherwise) {
  const size_t at = json.find("\"" + key + "\":");
  return at == std::string::npos ? otherwise : std::strtod(&json[at + key.size() + 3], nullptr);
}

int32_t Open(const char** version, RelayvmRegionError* error) {
  if (Does("fail open")) return Fail(error, RELAYVM_REGION_UNSUPPORTED, "libscale.so is not here");
  if (Does("throw in open")) throw std::runtime_error("open");
  *version = "1.2";
  return RELAYVM_REGION_OK;
}

int32_t Create(const char* json, uint64_t bytes, const RelayvmRegionTensor* constants,
               uint32_t num_constants, RelayvmRegion** region, RelayvmRegionError* error) {
  if (Does("fail create")) return Fail(error, RELAYVM_REGION_UNSUPPORTED, "no factors today");
  if (Does("no memory in create")) return RELAYVM_REGION_OUT_OF_MEMORY;
  const std::string text(json, bytes);
  if (text.find("\"factor\":") == std::string::npos)
    return Fail(error, RELAYVM_REGION_INVALID, "expected a \"factor\"");
  auto* made = new RelayvmRegion;
  made->factor = static_cast<float>(NumberOf(text, "factor", 1));
  made->scratch = static_cast<int64_t>(NumberOf(text, "scratch", 0));
  made->polls = static_cast<int64_t>(NumberOf(text, "polls", 0));
  for (uint32_t i = 0; i < num_constants; ++i)
    made->factor *= static_cast<const float*>(constants[i].data)[0];
  ++live;
  *region = made;
  return RELAYVM_REGION_OK;
}

int32_t Prepare(RelayvmRegion* region, const int64_t* dims, uint32_t num_dims,
                uint32_t /*num_threads*/, RelayvmPlan** plan, uint64_t* scratch_bytes,
                RelayvmRegionError* error) {
  if (Does("fail prepare")) return Fail(error, RELAYVM_REGION_FAILED, "no plan for these sizes");
  if (Does("no memory in prepare")) return RELAYVM_REGION_OUT_OF_MEMORY;
  const int64_t rows = num_dims > 0 ? dims[0] : -1;
  *scratch_bytes = static_cast<uint64_t>(region->scratch * (rows < 0 ? 1 : rows));
  *plan = new RelayvmPlan{rows, *scratch_bytes};
  ++live;
  return RELAYVM_REGION_OK;
}

int32_t Run(RelayvmRegion* region, RelayvmPlan* plan, const RelayvmRegionEnv* env,
            const RelayvmRegionTensor* inputs, uint32_t num_inputs,
            const RelayvmRegionTensor* outputs, uint32_t num_outputs, void* scratch,
            RelayvmRegionError* error) {
  if (Does("fail run")) return Fail(error, RELAYVM_REGION_FAILED, "the primitive failed");
  if (Does("no memory in run")) return RELAYVM_REGION_OUT_OF_MEMORY;
  if (Does("throw in run")) throw std::runtime_error("run");
  if (plan->scratch > 0) {
    if (reinterpret_cast<uintptr_t>(scratch) % 64 != 0)
      return Fail(error, RELAYVM_REGION_FAILED, "scratch is not aligned");
    std::memset(scratch, 1, plan->scratch);
  }
  for (int64_t i = 0; i < region->polls; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    if (env->poll(env) != 0) return RELAYVM_REGION_STOPPED;
  }
  for (uint32_t t = 0; t < num_outputs; ++t) {
    const RelayvmRegionTensor& from = inputs[t % num_inputs];
    const RelayvmRegionTensor& to = outputs[t];
    if (to.dtype != 11 || from.dtype != 11 || to.rank != from.rank ||
        (plan->rows >= 0 && to.dims[0] != plan->rows))
      return Fail(error, RELAYVM_REGION_INVALID, "tensors of other types");
    int64_t elements = 1;
    for (uint32_t d = 0; d < to.rank; ++d) elements *= to.dims[d];
    for (int64_t i = 0; i < elements; ++i) {
      static_cast<float*>(to.data)[i] = region->factor * static_cast<const float*>(from.data)[i];
    }
  }
  return RELAYVM_REGION_OK;
}

void Release(RelayvmRegion* /*region*/, RelayvmPlan* plan) {
  delete plan;
  --live;
}
void Destroy(RelayvmRegion* region) {
  delete region;
  --live;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) const RelayvmRegionProvider* relayvm_region_provider(void);
// Regions and plans that are there.
__attribute__((visibility("default"))) int64_t scale_engine_live(void);

const RelayvmRegionProvider* relayvm_region_provider(void) {
  static const RelayvmRegionProvider good = {
      RELAYVM_REGION_ABI, sizeof(good), "scale", Open, Create, Prepare, Run, Release, Destroy};
  static RelayvmRegionProvider bad;
  bad = good;
  if (Does("give no provider")) return nullptr;
  if (Does("have another abi")) bad.abi = RELAYVM_REGION_ABI + 1;
  if (Does("be shorter")) bad.struct_size -= 8;
  if (Does("lack a function")) bad.release = nullptr;
  if (Does("be another engine")) bad.engine = "rescale";
  return std::memcmp(&bad, &good, sizeof(good)) == 0 ? &good : &bad;
}
int64_t scale_engine_live(void) { return live; }
}
