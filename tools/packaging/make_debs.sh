#!/bin/sh
# usage: sh tools/packaging/make_debs.sh BUILD_FOLDER OUT_FOLDER [options of dpkg-deb, such as -Zgzip -z1: larger, sooner]
# Makes the Debian packages of what is built, by CPack: librelayvm0.1, librelayvm-compiler0.1, librelayvm-dev, relayvm-tools,
# python3-relayvm and relayvm-server. They are for the Debian that the build was made on. Needs dpkg-dev, and no rights.
set -eu
build=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
[ $# -gt 0 ] || set -- -Zxz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
cmake --build "$build" --target compiler-tools >"$work/log" || { cat "$work/log"; exit 1; }
# Not compressed, as they are opened once more.
(cd "$work" && cpack -D CPACK_DEBIAN_COMPRESSION_TYPE=none --config "$build/CPackConfig.cmake" -G DEB -B "$work" >"$work/log" 2>&1) || { cat "$work/log"; exit 1; }
# Manual pages are compressed in packages, and a file of 600 permissions would be no one's but root's to read.
for deb in "$work"/*.deb; do
  name=$(basename "$deb")
  dpkg-deb -R "$deb" "$work/tree"
  if [ -d "$work/tree/usr/share/man" ]; then
    find "$work/tree/usr/share/man" -type f ! -name '*.gz' -exec gzip -9n {} +
    (cd "$work/tree" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
  fi
  # CPack's scripts call ldconfig, which the trigger does already.
  if [ -f "$work/tree/DEBIAN/triggers" ]; then rm -f "$work/tree/DEBIAN/postinst" "$work/tree/DEBIAN/postrm"; fi
  dpkg-deb --root-owner-group "$@" -b "$work/tree" "$out/$name" >"$work/log" || { cat "$work/log"; exit 1; }
  rm -rf "$work/tree"
done
ls -l "$out"/*.deb
