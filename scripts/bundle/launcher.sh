#!/bin/sh
# Starts Quartermaster with the Node that came with it, from wherever this folder lies.
here=$(dirname "$(readlink -f "$0")")
exec "$here/node" "$here/quartermaster.mjs" "$@"
