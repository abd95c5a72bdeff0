#!/bin/sh
# Runs sweep with Open MPI over TCP between the hosts of a lab, ALTERNATIONS times with each set of MCA parameters by turns:
#
#     calib lab run PRESET -- examples/mpi/sweep.sh SWEEP HOSTS ALTERNATIONS 'ARGUMENTS OF SWEEP' 'MCA PARAMETERS 1' 'MCA PARAMETERS 2' …
#
# with {hosts} for HOSTS. It prints what sweep prints, after the number of the set: "1 bcast 64 0.004321". Needs root.
set -eu
sweep=$(realpath "$1") hosts=$2 times=$3 arguments=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# mpirun names hosts by their addresses; its agent runs a command in the namespace of one, under a host name of its own, for Open MPI
# takes ranks on equal names for ranks of one host.
awk '$1 !~ /^#/ { for (i = 2; i <= NF; i++) if (sub("^addr=", "", $i)) print $i, $1 }' "$hosts" >"$work/names"
cat >"$work/agent" <<'END'
#!/bin/sh
name=$(awk -v at="$1" '$1 == at { print $2 }' "$(dirname "$0")/names")
shift
exec ip netns exec "$name" unshare -u sh -c "hostname $name; $*"
END
chmod +x "$work/agent"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
first=$(awk 'NR == 1 { print $2 }' "$work/names")
list=$(awk '{ printf "%s%s", c, $1; c = "," }' "$work/names")
ranks=$(wc -l <"$work/names")
device=$(ip netns exec "$first" sh -c "ip -o -4 addr show to $(awk 'NR == 1 { print $1 }' "$work/names")" | awk '{ print $2 }')

for _ in $(seq "$times"); do
	set=0
	for mca in "$@"; do
		set=$((set + 1))
		ip netns exec "$first" unshare -u sh -c "hostname $first; exec mpirun --host $list -np $ranks --mca plm_rsh_agent $work/agent \
			--mca btl tcp,self --mca btl_tcp_if_include $device --mca oob_tcp_if_include $device --mca mpi_yield_when_idle 1 \
			--mca plm_rsh_no_tree_spawn 1 $mca $sweep $arguments" </dev/null | sed "s/^/$set /"
	done
done
