#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>

int main(int argc, char** argv) {
  // Programs that tests load leave nothing in the user's folder.
  ::setenv("RELAYVM_CACHE", "", /*overwrite=*/0);
  return doctest::Context(argc, argv).run();
}
