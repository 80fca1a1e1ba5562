#!/bin/sh
# The files of a list as an array of Slurm jobs, a node for each; again with the lines that 'mallab report --together --expect' misses.
#   sbatch --array=1-$(wc -l < files) slurm.sh files results/ [AB-OPTION...]     MaxArraySize is 1001 by default
#SBATCH --exclusive --requeue --job-name=mallab --output=slurm-%A_%a.log --open-mode=append
set -eu
file=$(sed -n "${SLURM_ARRAY_TASK_ID}p" "$1")
results=$2
shift 2
exec mallab ab -q "$@" -o "$results/" "$file"
