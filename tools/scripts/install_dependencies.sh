#!/bin/sh
# Installs the Debian packages that relayvm is built, run and tested with; with --quick, those alone that relayc and vmrun are built with.
# Needs root; does nothing that is done already.
set -eu
PACKAGES="
  g++ cmake ninja-build
  llvm-19-dev liblld-19-dev libzstd-dev zlib1g-dev
  libflatbuffers-dev flatbuffers-compiler
  libboost-dev libboost-context-dev libfmt-dev libssl-dev
  libcli11-dev nlohmann-json3-dev libmimalloc-dev
  libonnx-dev libprotobuf-dev
  python3
"
if [ "${1-}" != --quick ]; then
  PACKAGES="$PACKAGES
    ccache libzip-dev libdnnl-dev
    libonnx-testdata
    libgrpc++-dev protobuf-compiler-grpc python3-grpcio
    clang-19 libclang-rt-19-dev
    g++-i686-linux-gnu
    doctest-dev python3-numpy binutils pkg-config
    python3-dev pybind11-dev python3-setuptools python3-wheel python3-venv python3-pytest python3-onnx
    haproxy iproute2 python3-yaml python3-distributed python3-jsonschema
    python3-sphinx python3-myst-parser
    dpkg-dev file
  "
fi
missing=""
for package in $PACKAGES; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -z "$missing" ] && exit 0
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
# shellcheck disable=SC2086
apt-get install -q -y --no-install-recommends $missing
