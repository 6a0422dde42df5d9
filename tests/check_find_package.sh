#!/bin/sh
# usage: check_find_package.sh BUILD_FOLDER SOURCE_FOLDER MODEL.vmx MODEL.relay [options of cmake ...]
# Installs the runtime to a folder of its own, and builds the programs of SOURCE_FOLDER against it: by find_package(relayvm), and by
# pkg-config. Runs what comes out. The headers are those that a host includes and what they include, and none leads back to the
# sources. Then the same for the compiler, installed on top, and the programs of SOURCE_FOLDER/compiling.
set -eu
build=$1
source=$2
model=$3
text=$4
shift 4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --component runtime --prefix "$scratch/prefix" >"$scratch/install.txt"
headers=$scratch/prefix/include
if grep -rn '#include "' "$headers"; then
  echo "installed headers include what is not installed"
  exit 1
fi
needed="c_api.h c_api_device.h c_api_host.h c_api_scheduler.h c_api_state.h c_api_trace.h chrome_trace.h dlpack_exchange.h operator_library.h profile.h relayvm.h scheduler.h"
while :; do
  more=$(for h in $needed; do echo "$h"; sed -n 's/^ *#include <relayvm\/\(.*\)>.*/\1/p' "$headers/relayvm/$h"; done | sort -u)
  [ "$more" = "$needed" ] && break
  needed=$more
done
(cd "$headers/relayvm" && ls) | sort >"$scratch/installed.txt"
if ! echo "$needed" | diff - "$scratch/installed.txt"; then
  echo "expected the headers before to be installed, found those behind"
  exit 1
fi

cmake -S "$source" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/prefix" -DRELAYVM_INSTALLED="$scratch/prefix" "$@" >"$scratch/configure.txt"
cmake --build "$scratch/build" >"$scratch/build.txt" || { cat "$scratch/build.txt"; exit 1; }
"$scratch/build/embedding_c" "$model"
"$scratch/build/embedding" "$model"
"$scratch/build/observing" "$model"
(cd "$scratch" && build/observing_c "$model")

compiler=cc
flags=
for option; do
  case $option in
    -DCMAKE_C_COMPILER=*) compiler=${option#*=} ;;
    -DCMAKE_C_FLAGS=*) flags=${option#*=} ;;
  esac
done
PKG_CONFIG_PATH=$(dirname "$(find "$scratch/prefix" -name relayvm.pc)")
export PKG_CONFIG_PATH
# Words of options, without quotes.
# shellcheck disable=SC2046,SC2086
"$compiler" -std=c11 $flags "$source/main.c" -o "$scratch/by_pkg_config" $(pkg-config --cflags --libs relayvm)
LD_LIBRARY_PATH=$(pkg-config --variable=libdir relayvm) "$scratch/by_pkg_config" "$model"
echo "relayvm $(pkg-config --modversion relayvm)"

# Without the compiler, nobody finds it.
if cmake -S "$source/compiling" -B "$scratch/none" -DCMAKE_PREFIX_PATH="$scratch/prefix" "$@" >"$scratch/none.txt" 2>&1; then
  echo "component compiler is found where it is not installed"
  exit 1
fi
grep -q "component compiler is not installed" "$scratch/none.txt"

cmake --install "$build" --component compiler --prefix "$scratch/prefix" >"$scratch/install.txt"
if grep -rn '#include "' "$headers"; then
  echo "installed headers include what is not installed"
  exit 1
fi
cmake -S "$source/compiling" -B "$scratch/compiling" -DCMAKE_PREFIX_PATH="$scratch/prefix" "$@" >"$scratch/configure.txt"
cmake --build "$scratch/compiling" >"$scratch/build.txt" || { cat "$scratch/build.txt"; exit 1; }
"$scratch/compiling/compiling_c" "$text"
"$scratch/compiling/compiling" "$text"
# shellcheck disable=SC2046,SC2086
"$compiler" -std=c11 $flags "$source/compiling/main.c" -o "$scratch/compiling_by_pkg_config" $(pkg-config --cflags --libs relayvm-compiler)
LD_LIBRARY_PATH=$(pkg-config --variable=libdir relayvm-compiler) "$scratch/compiling_by_pkg_config" "$text"
echo "relayvm-compiler $(pkg-config --modversion relayvm-compiler)"

# The graph executor, on top of the runtime.
cmake --install "$build" --component graph --prefix "$scratch/prefix" >"$scratch/install.txt"
if grep -rn '#include "' "$headers"; then
  echo "installed headers include what is not installed"
  exit 1
fi
printf '#[version = "0.0.5"]\ndef @main(%%x: Tensor[(3), float32]) { multiply(%%x, 7f) }\n' >"$scratch/sevens.relay"
"$build/bin/relayc" -q "$scratch/sevens.relay" --executor graph -o "$scratch/sevens"
cmake -S "$source/graph" -B "$scratch/graph" -DCMAKE_PREFIX_PATH="$scratch/prefix" "$@" >"$scratch/configure.txt"
cmake --build "$scratch/graph" >"$scratch/build.txt" || { cat "$scratch/build.txt"; exit 1; }
for program in graph graph_c; do
  [ "$("$scratch/graph/$program" "$scratch/sevens" | tr '\n' ' ')" = "7 7 7 " ] || { echo "$program: expected 7 7 7"; exit 1; }
done
# shellcheck disable=SC2046,SC2086
${CXX:-c++} -std=c++20 $flags "$source/graph/main.cc" -o "$scratch/graph_by_pkg_config" $(pkg-config --cflags --libs relayvm-graph)
LD_LIBRARY_PATH=$(pkg-config --variable=libdir relayvm-graph) "$scratch/graph_by_pkg_config" "$scratch/sevens" >/dev/null
# shellcheck disable=SC2046,SC2086
"$compiler" -std=c11 $flags "$source/graph/main.c" -o "$scratch/graph_c_by_pkg_config" $(pkg-config --cflags --libs relayvm-graph)
LD_LIBRARY_PATH=$(pkg-config --variable=libdir relayvm-graph) "$scratch/graph_c_by_pkg_config" "$scratch/sevens" >/dev/null
echo "relayvm-graph $(pkg-config --modversion relayvm-graph)"

# Native code: a C program on the installed archive and headers, and one that the installed relayc links by itself.
cmake --install "$build" --component tools --prefix "$scratch/prefix" >"$scratch/install.txt"
mkdir "$scratch/native"
cd "$scratch/native"
printf '#[version = "0.0.5"]\ndef @main(%%x: Tensor[(?), float32]) { multiply(%%x, 7f) }\n' >native.relay
"$scratch/prefix/bin/relayc" -q native.relay --executor aot -o native
cat >main.c <<'END'
#include "native.h"
#include <stdio.h>
int main(void) {
  const float ones[] = {1, 1};
  const int64_t dims[] = {2};
  relayvm_value *input = NULL, *result = NULL;
  relayvm_aot_options options = {.struct_size = sizeof(options), .memory_limit = 1 << 20, .timeout_ns = 60000000000};
  relayvm_status* status = relayvm_value_tensor(RELAYVM_FLOAT32, dims, 1, ones, &input);
  if (status == NULL) status = native_main_with(&options, &input, NATIVE_MAIN_INPUTS, &result);
  if (status != NULL) return 1;
  printf("%g %g\n", ((const float*)relayvm_value_data(result))[0], ((const float*)relayvm_value_data(result))[1]);
  relayvm_value_free(result);
  relayvm_value_free(input);
  return 0;
}
END
# shellcheck disable=SC2046,SC2086
"$compiler" -std=c11 -Wall -Werror $flags -I. main.c native.o $(pkg-config --cflags --libs relayvm-aot) -o native
[ "$(./native)" = "7 7" ] || { echo "expected 7 7"; exit 1; }
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(native LANGUAGES C)
find_package(relayvm 0.1 REQUIRED COMPONENTS aot)
add_executable(native main.c native.o)
target_include_directories(native PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(native PRIVATE relayvm::aot)
END
cmake -S . -B build -DCMAKE_PREFIX_PATH="$scratch/prefix" "$@" >"$scratch/configure.txt"
cmake --build build >"$scratch/build.txt" || { cat "$scratch/build.txt"; exit 1; }
[ "$(build/native)" = "7 7" ] || { echo "expected 7 7"; exit 1; }
if [ -n "$(find "$scratch/prefix" -name native_main.o)" ]; then  # none where the build has sanitizers
  "$scratch/prefix/bin/relayc" -q native.relay --executor aot --emit exe -o program
  rm -rf "$scratch/prefix"
  ./program --input "[1, 1]" | grep -q "7., 7." || { echo "expected 7., 7."; exit 1; }
fi
echo "native programs"
