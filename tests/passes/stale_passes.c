/* A library of passes that another version was built for: its objects must not be touched. */
#include <stdlib.h>

struct Plugin {
  const char* abi;
  void (*add_passes)(void*);
};

static void AddPasses(void* passes) {
  (void)passes;
  abort();
}

const struct Plugin* relayvm_pass_plugin(void) {
  static const struct Plugin plugin = {"relayvm passes 0, another compiler", AddPasses};
  return &plugin;
}
