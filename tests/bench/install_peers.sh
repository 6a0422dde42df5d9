#!/bin/sh
# Installs what peers.py measures against into a virtual environment: ONNX Runtime, OpenVINO and IREE, the newest of PyPI. They are no
# dependencies of this project.
#
# usage: install_peers.sh FOLDER        (PYTHON names another interpreter than python3)
#
# FOLDER/avx2 gets copies of ONNX Runtime and OpenVINO that see a processor of AVX2 (limit_cpu.py), for tables at that level on a machine
# that has more.
set -e
folder=${1:?usage: install_peers.sh FOLDER}
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
"${PYTHON:-python3}" -m venv "$folder"
"$folder/bin/pip" install --quiet --upgrade numpy onnx onnxruntime openvino iree-base-compiler iree-base-runtime
site=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
rm -rf "$folder/avx2"
mkdir -p "$folder/avx2/site"
cp -a "$site/onnxruntime" "$site/openvino" "$folder/avx2/site/"
for library in "$site"/onnxruntime/capi/*onnxruntime*.so* "$site"/openvino/libs/libopenvino.so.* "$site"/openvino/libs/libopenvino_intel_cpu_plugin.so; do
  copy=$folder/avx2/site/${library#"$site"/}
  "$folder/bin/python" "$here/limit_cpu.py" "$library" --to "$folder/avx2"
  mv "$folder/avx2/$(basename "$library")" "$copy"
done
"$folder/bin/pip" list 2> /dev/null | grep -E '^(onnxruntime|openvino|iree-base)' || true
