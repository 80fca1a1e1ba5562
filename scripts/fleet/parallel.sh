#!/bin/sh
# Cells of a plan that are missing, one at a time on this machine by GNU parallel, then the verdict. Again: what is missing then.
#   parallel.sh DIR [PARALLEL-OPTION...]     -S host1,host2: one at a time on each, by ssh; DIR as all of them see it
# Which failed, and why, is in DIR/parallel.log and in the verdict. A failed cell is tried once more, elsewhere if there is another.
set -eu
dir=$(realpath -- "${1:?parallel.sh DIR [PARALLEL-OPTION...]}")
shift
missing=$(mallab collect --missing "$dir") || [ $? -eq 1 ] || exit
echo "$missing" | tr , '\n' | awk -F- 'NF { for (i = $1; i <= $NF; i++) print i }' |
    parallel --quote --jobs 1 --retries 2 --joblog "$dir/parallel.log" "$@" mallab cell "$dir" || true
exec mallab collect "$dir"
