// The provider's C ABI (bytecode/region_abi.h): statuses become its codes, and no exception leaves.
#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <string_view>

#include "bytecode/region_abi.h"
#include "vm/engines/dnnl/onednn.h"
#include "vm/engines/dnnl/region.h"

namespace relayvm::onednn {
namespace {

int32_t CodeOf(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return RELAYVM_REGION_OK;
    case StatusCode::kUnsupported:
      return RELAYVM_REGION_UNSUPPORTED;
    case StatusCode::kInvalidInput:
      return RELAYVM_REGION_INVALID;
    case StatusCode::kResourceExhausted:
      return RELAYVM_REGION_OUT_OF_MEMORY;
    case StatusCode::kCancelled:
      return RELAYVM_REGION_STOPPED;
    default:
      return RELAYVM_REGION_FAILED;
  }
}

// As much as there is room for, whole characters of UTF-8.
void Say(std::string_view message, RelayvmRegionError* error) {
  if (error == nullptr) return;
  size_t n = std::min(message.size(), sizeof(error->message) - 1);
  while (n < message.size() && n > 0 && (static_cast<uint8_t>(message[n]) & 0xC0U) == 0x80U) --n;
  std::memcpy(error->message, message.data(), n);
  error->message[n] = 0;
}

int32_t Report(const Status& status, RelayvmRegionError* error) {
  if (status.ok()) return RELAYVM_REGION_OK;
  Say(status.message(), error);
  return CodeOf(status.code());
}

template <typename Work>
int32_t Guarded(RelayvmRegionError* error, const Work& work) {
  try {
    return Report(work(), error);
  } catch (const std::bad_alloc&) {
    Say("out of memory", error);
    return RELAYVM_REGION_OUT_OF_MEMORY;
  } catch (const std::exception& e) {
    Say(e.what(), error);
    return RELAYVM_REGION_FAILED;
  }
}

Region* Of(RelayvmRegion* region) { return reinterpret_cast<Region*>(region); }
Plan* Of(RelayvmPlan* plan) { return reinterpret_cast<Plan*>(plan); }

int32_t Open(const char** version, RelayvmRegionError* error) {
  return Guarded(error, [&]() -> Status {
    RELAYVM_ASSIGN_OR_RETURN(*version, OpenLibrary());
    return OkStatus();
  });
}

int32_t Create(const char* json, uint64_t bytes, const RelayvmRegionTensor* constants,
               uint32_t num_constants, RelayvmRegion** region, RelayvmRegionError* error) {
  return Guarded(error, [&]() -> Status {
    RELAYVM_RETURN_IF_ERROR(OpenLibrary().status());
    RELAYVM_ASSIGN_OR_RETURN(std::unique_ptr<Region> created,
                             Region::Create({json, bytes}, {constants, num_constants}));
    *region = reinterpret_cast<RelayvmRegion*>(created.release());
    return OkStatus();
  });
}

int32_t Prepare(RelayvmRegion* region, const int64_t* dims, uint32_t num_dims, uint32_t num_threads,
                RelayvmPlan** plan, uint64_t* scratch_bytes, RelayvmRegionError* error) {
  return Guarded(error, [&]() -> Status {
    RELAYVM_ASSIGN_OR_RETURN(HeldPlan held, Of(region)->Prepare({dims, num_dims}, num_threads));
    *scratch_bytes = held->scratch_bytes;
    *plan = reinterpret_cast<RelayvmPlan*>(held.release());
    return OkStatus();
  });
}

int32_t Run(RelayvmRegion* region, RelayvmPlan* plan, const RelayvmRegionEnv* env,
            const RelayvmRegionTensor* inputs, uint32_t num_inputs,
            const RelayvmRegionTensor* outputs, uint32_t num_outputs, void* scratch,
            RelayvmRegionError* error) {
  return Guarded(error, [&] {
    return Of(region)->Run(Of(plan), {{inputs, num_inputs}, {outputs, num_outputs}, scratch, env});
  });
}

void Release(RelayvmRegion* /*region*/, RelayvmPlan* plan) { Of(plan)->Drop(); }
void Destroy(RelayvmRegion* region) { delete Of(region); }

constexpr RelayvmRegionProvider kProvider = {RELAYVM_REGION_ABI,
                                             sizeof(RelayvmRegionProvider),
                                             "dnnl",
                                             Open,
                                             Create,
                                             Prepare,
                                             Run,
                                             Release,
                                             Destroy};

}  // namespace
}  // namespace relayvm::onednn

extern "C" __attribute__((visibility("default"))) const RelayvmRegionProvider*
relayvm_region_provider(void) {
  return &relayvm::onednn::kProvider;
}
