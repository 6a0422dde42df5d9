#include "vm/platform/process_mutex.h"

#include <pthread.h>

namespace relayvm::vm {
namespace {

constinit Mutex g_mutex, g_addresses;

void LockAll() {
  g_mutex.lock();
  g_addresses.lock();
}
void UnlockAll() {
  g_addresses.unlock();
  g_mutex.unlock();
}

// Before main or while the library is loaded: no other thread is on its way here then. A library
// that is unloaded takes its handlers along.
[[maybe_unused]] const int g_registered = pthread_atfork(LockAll, UnlockAll, UnlockAll);

}  // namespace

Mutex& ProcessMutex() { return g_mutex; }
Mutex& AddressMutex() { return g_addresses; }

}  // namespace relayvm::vm
