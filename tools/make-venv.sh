#!/bin/sh
# make-venv.sh PYTHON FOLDER: makes a virtual environment, and installs Debian's python3-venv first
# where it is missing.
set -eu
"$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "Python 3.11 or newer is needed; $1 is $("$1" --version 2>&1)." >&2
    exit 1
}
"$1" -c 'import ensurepip' 2>/dev/null || echo python3-venv | sh "$(dirname "$0")/system-packages.sh" -
"$1" -m venv "$2"
