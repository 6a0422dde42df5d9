#include "vm/platform/process_mutex.h"

#include <pthread.h>

namespace relayvm::vm {
namespace {

constinit Mutex g_mutex;

// Before main or while the library is loaded: no other thread is on its way here then. A library
// that is unloaded takes its handlers along.
[[maybe_unused]] const int g_registered =
    pthread_atfork([] { g_mutex.lock(); }, [] { g_mutex.unlock(); }, [] { g_mutex.unlock(); });

}  // namespace

Mutex& ProcessMutex() { return g_mutex; }

}  // namespace relayvm::vm
