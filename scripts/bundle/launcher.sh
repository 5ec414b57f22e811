#!/bin/sh
# Starts Quartermaster from wherever this folder lies, with the Node that came with it, if one did.
here=$(dirname "$(readlink -f "$0")")
node="$here/node"
[ -x "$node" ] || node=node
# The catalog lies in large pieces of memory. In pages of 2 MB in place of 4 KB it is read from the
# disk in a third of the time. Only glibc looks at this.
export GLIBC_TUNABLES="${GLIBC_TUNABLES:-glibc.malloc.hugetlb=1}"
exec "$node" "$here/quartermaster.mjs" "$@"
