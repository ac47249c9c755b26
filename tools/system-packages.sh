#!/bin/sh
# system-packages.sh FILE...: installs the missing ones of the Debian packages that the files list
# (- reads standard input). Where that is not allowed, or the distribution lacks a package, it names
# them and goes on: a program that needs one will fail and name it.
set -u
missing=""
for package in $(cat -- "$@" | grep -v '^#'); do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
[ -z "$missing" ] && exit 0
if ! command -v apt-get >/dev/null; then
    echo "Not a Debian system: these packages may be missing:$missing" >&2
    exit 0
fi
if [ "$(id -u)" = 0 ]; then as=""; elif sudo -n true 2>/dev/null; then as="sudo -n"; else
    echo "These Debian packages are missing and may not be installed from here:$missing" >&2
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
$as apt-get update -qq || exit
known=""
for package in $missing; do
    if apt-cache show "$package" >/dev/null 2>&1; then known="$known $package"; else echo "There is no package $package here." >&2; fi
done
[ -z "$known" ] && exit 0
echo "installing$known"
$as apt-get install -y -qq --no-install-recommends $known >/dev/null
