#!/bin/sh
# scripts/environment.sh ENV [[--no-deps] LOCK]… [--editable]: make the virtual environment ENV from lock files with hashes.
# uv installs in seconds: where it is missing, it is installed into .venv first. Where uv fails, pip takes over.
set -eu
env=$1
shift

make_env() {
  test -x "$1/bin/pip" || "${PYTHON:-python3}" -m venv "$1"
}

if ! uv=$(command -v uv); then
  uv=.venv/bin/uv
  test -x $uv || { make_env .venv && .venv/bin/pip install --quiet --require-hashes -r requirements/uv.lock; } || uv=
fi
make_env "$env"

install() {
  { test -n "$uv" && "$uv" pip install --quiet --python "$env/bin/python" "$@"; } || "$env/bin/pip" install --quiet "$@"
}

while test $# -gt 0; do
  case $1 in
    --editable) install --no-deps --no-build-isolation --editable . ;;
    --no-deps) shift && install --require-hashes --no-deps -r "$1" ;;
    *) install --require-hashes -r "$1" ;;
  esac
  shift
done
