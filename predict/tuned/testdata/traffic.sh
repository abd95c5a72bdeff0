#!/bin/sh
# Writes traffic.txt: the messages that Open MPI's algorithms send, as its component pml/monitoring counts them. A line is
#     OPERATION ALGORITHM SEGMENT RANKS BYTES  FROM>TO:MESSAGES:BYTES ...
# Persistent requests, of which alltoall 1 consists, are not counted. Needs mpicc and mpirun of Open MPI 4.1.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mpicc -O2 -o "$work/traffic" traffic.c

# count OPERATION ALGORITHM SEGMENT RANKS BYTES; the segment of the file is the fourth column of a rule.
count() {
	rm -f "$work"/prof.*
	case $1 in allreduce) id=2 ;; alltoall) id=3 ;; bcast) id=7 ;; gather) id=9 ;; esac
	echo "1 $id 1 0 1 0 $2 4 $3" >"$work/rules"
	mpirun --oversubscribe -np "$4" --mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3 --mca pml_monitoring_filename "$work/prof" \
		--mca btl tcp,self --mca btl_tcp_if_include lo --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename "$work/rules" \
		"$work/traffic" "$1" "$5"
	printf '%s %s %s %s %s ' "$@"
	cat "$work"/prof.* | awk '$1 == "I" { printf " %s>%s:%s:%s", $2, $3, $6, $4 }'
	echo
}

for ranks in 2 3 5 8; do
	for bytes in 6000 60001; do
		for a in 1 7 8 9; do count bcast $a 0 $ranks $bytes; done
		for a in 2 3 4 5 6 7; do count bcast $a 0 $ranks $bytes; count bcast $a 4096 $ranks $bytes; done
		for a in 1 3 4 6; do count allreduce $a 0 $ranks $bytes; done
		for a in 2 3 4; do count alltoall $a 0 $ranks $bytes; done
		for a in 1 2; do count gather $a 0 $ranks $bytes; done
		count gather 3 0 $ranks $bytes
		count gather 3 4096 $ranks $bytes
	done
done | sort -u >traffic.txt
