#!/bin/sh
# usage: check_wheels.sh PYTHON BUILD_FOLDER VERSION
# The wheels in a fresh virtual environment: the runtime alone, then all tests with the compiler. Numpy, pytest and what else tests use
# when it is there are the system's.
set -eu
python=$1 build=$2 version=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Plain: without the system's libraries inside, which takes long.
"$python" "$here/../../packaging/make_wheels.py" --build "$build" --out "$work/wheels" --plain
# Of the whole wheels 2.5 MB and 45 MB (check_pythons.sh): these are without libfmt and libboost_context, and without LLVM and protobuf.
for bound in relayvm:2400000 relayvm_compiler:24000000; do
  bytes=$(stat -c %s "$work"/wheels/"${bound%:*}"-*.whl)
  echo "${bound%:*}: $bytes bytes"
  [ "$bytes" -le "${bound#*:}" ] || { echo "expected at most ${bound#*:}"; exit 1; }
done
"$python" -m venv --system-site-packages "$work/venv"
install() {
  "$work/venv/bin/pip" install -q --no-index --no-deps --disable-pip-version-check "$1"
}
cd "$work"
install "$work"/wheels/relayvm-"$version"-*.whl
"$build/bin/relayc" -q "$here/../../examples/while_loop.relay" -o loop.vmx
venv/bin/python "$here/without_compiler.py" loop.vmx
venv/bin/vmdump loop.vmx >/dev/null
venv/bin/relayvm doctor >doctor.txt || { cat doctor.txt; exit 1; }
# OpenSSL is the system's, and is missed by https URLs alone.
mkdir without_openssl
echo "no library" >without_openssl/libssl.so.3
LD_LIBRARY_PATH="$work/without_openssl" venv/bin/vmrun --server https://127.0.0.1:1 m --input "[1]" 2>said && exit 1
grep -q "libssl.so.3 cannot be loaded" said || { cat said; exit 1; }
install "$work"/wheels/relayvm_compiler-"$version"-*.whl
install "$work"/wheels/relayvm_serve-"$version"-*.whl
venv/bin/relayc -q "$here/../../examples/while_loop.relay" --executor aot --emit exe -o loop  # by the object file of the wheel
./loop --help >/dev/null
venv/bin/relayvm doctor >doctor.txt || { cat doctor.txt; exit 1; }
for page in man/man1/relayc.1 man/man1/vmrun.1 bash-completion/completions/vmserve zsh/vendor-completions/_vmdump \
    relayvm/examples/lstm.relay; do
  [ -f "venv/share/$page" ] || { echo "pip left no share/$page"; exit 1; }
done
for tool in relayrun vmasm vmserve vmbench; do venv/bin/$tool --version >/dev/null; done
"$python" "$here/../../serve/tests/run_client.py" venv/bin "$here/../../examples"
venv/bin/python -m pytest -q -p no:cacheprovider "$here"
