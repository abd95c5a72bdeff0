#!/bin/sh
# Drains the nodes that calib check calls slow, with its reason. From cron on the head node, or by hand:
#
#     examples/slurm/drain.sh --slurm --nodes 16
#
# Arguments are those of calib check. It exits as calib check does: 0 healthy, 3 something is slow, 4 hosts are missing,
# 5 not decided. A slow pair is printed and drains nobody: a cable is not a node.
found=$(calib check --quiet "$@")
code=$?
echo "$found"
echo "$found" | awk '$1 == "slow" && $2 == "host" { host = $3; $1 = $2 = $3 = ""; sub(/^ +/, ""); print host "\t" $0 }' |
	while IFS="$(printf '\t')" read -r host why; do
		scontrol update nodename="$host" state=drain reason="calib: $why"
	done
exit $code
