#!/bin/sh
# scripts/environment.sh ENV [[--no-deps] LOCK]… [--editable]: make the virtual environment ENV from lock files with hashes.
# uv installs in seconds: where it is missing, it is installed into .venv first. Where uv fails, pip takes over.
set -eu
env=$1
shift

# A Python that was compiled here without optimisations takes a fifth longer for everything. Distributions compile theirs
# with them: that one is used instead, unless another was asked for.
python=${PYTHON:-python3}
if test "$python" = python3 \
  && ! python3 -c 'import sysconfig; assert "--enable-optimizations" in sysconfig.get_config_var("CONFIG_ARGS")' 2>/dev/null \
  && /usr/bin/python3 -c 'import ensurepip, sys; assert sys.version_info >= (3, 11)' 2>/dev/null
then python=/usr/bin/python3; fi

make_env() {
  test -x "$1/bin/pip" || "$python" -m venv "$1"
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
