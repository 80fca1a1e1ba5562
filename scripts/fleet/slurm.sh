#!/bin/sh
# The cells of a plan that are missing as arrays of Slurm jobs, then the verdict. Run again: what is missing then.
#   slurm.sh DIR [SBATCH-OPTION...]     DIR as all nodes see it; options as --constraint=TYPE --partition=P --time=60
# A cell has a node to itself. On shared ones: --exclusive=user --cpus-per-task=N, processors that Slurm pins it to.
set -eu
case ${1:?slurm.sh DIR [SBATCH-OPTION...]} in
    --verdict) exec mallab collect "$2" ;;
    --cell) # on a node, by ourselves: DIR OFFSET
        status=0
        mallab cell "$2" $(($3 + SLURM_ARRAY_TASK_ID)) || status=$?
        # Too disturbed here, or a machine of another kind: twice more, elsewhere.
        if [ $status -eq 75 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 2 ]; then
            trap '' TERM # which ends a job that is requeued
            scontrol requeue "$SLURM_JOB_ID"
            scontrol update JobId="$SLURM_JOB_ID" ExcNodeList="$SLURMD_NODENAME"
        fi
        exit $status ;;
esac
dir=$(realpath -- "$1")
shift
# Thousands with an offset: MaxArraySize is 1001 by default.
jobs=$(mallab collect --missing "$dir" | tr , '\n' | awk -F- 'NF {
    for (i = $1; i <= $NF; i++) cells[i - i % 1000] = cells[i - i % 1000] "," i % 1000 }
    END { for (k in cells) print k, substr(cells[k], 2) }' | sort -n | while read -r offset cells; do
    sbatch --parsable --array="$cells" --exclusive --requeue --job-name=cells \
        --output="$dir/slurm.log" --open-mode=append "$@" "$0" --cell "$dir" "$offset" | sed 's/;.*//; s/^/:/'
done | tr -d '\n')
[ -n "$jobs" ] || exec mallab collect "$dir" # all there, or nothing to be had
# afterany: of what failed it tells.
sbatch --parsable --dependency="afterany$jobs" --job-name=verdict --output="$dir/verdict.txt" "$@" "$0" --verdict "$dir"
