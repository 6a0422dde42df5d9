// Several tools in one program, as packages have them, so that what these share is there once. It
// is the tool of the name that it is called by, or else of its first argument:
//
//   vmdump MODEL.vmx          where vmdump is a link to this program
//   runtime-tools vmdump MODEL.vmx
//
// RELAYVM_TOOLS lists them as RELAYVM_TOOL(vmrun) ..., each with a function NAME_main.
// Tested by tools/python/tests/check_wheels.sh.
#include <cstdio>
#include <string_view>

#define RELAYVM_TOOL(NAME) int NAME##_main(int argc, char** argv);
RELAYVM_TOOLS
#undef RELAYVM_TOOL

int main(int argc, char** argv) {
  for (int i = 0; i < argc && i < 2; ++i) {
    std::string_view name = argv[i];
    if (i == 0) name.remove_prefix(name.rfind('/') + 1);
#define RELAYVM_TOOL(NAME) \
  if (name == #NAME) return NAME##_main(argc - i, argv + i);
    RELAYVM_TOOLS
#undef RELAYVM_TOOL
  }
#define RELAYVM_TOOL(NAME) " " #NAME
  std::fprintf(stderr, "expected the name of a tool as the first argument, one of%s\n",
               RELAYVM_TOOLS);
  return 1;
}
