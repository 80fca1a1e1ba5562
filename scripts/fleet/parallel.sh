#!/bin/sh
# Files, one at a time on this machine by GNU parallel; what failed, and why: results/parallel.log.
#   parallel.sh results/ FILE...     PARALLEL='-S host1,host2' for one at a time on each, by ssh; MALLAB_AB='-a glibc,jemalloc'
set -eu
results=$1
shift
mkdir -p "$results"
# shellcheck disable=SC2086 # options, to be split
exec parallel --quote --jobs 1 --retries 2 --joblog "$results/parallel.log" mallab ab -q ${MALLAB_AB:-} -o "$results/" {} ::: "$@"
