#!/bin/sh
# usage: check_library.sh LIBRARY LIMIT_BYTES
# The runtime library links neither LLVM nor protobuf, leaves no symbol of them undefined, and is small when stripped.
set -eu
library=$1
limit=$2
needed=$(readelf -d "$library" | grep NEEDED || true)
echo "$needed"
if echo "$needed" | grep -qiE 'llvm|lld|protobuf|libzip'; then
  echo "the runtime library must not link these"
  exit 1
fi
if nm -DC --undefined-only "$library" | grep -qE 'llvm::|google::protobuf'; then
  echo "the runtime library must not use these"
  exit 1
fi
stripped=$(mktemp)
strip -o "$stripped" "$library"
size=$(stat -c %s "$stripped")
rm -f "$stripped"
echo "stripped: $size bytes, at most $limit"
[ "$size" -le "$limit" ]
