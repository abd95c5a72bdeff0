#!/bin/sh
# Drains this node if the last calib check calls it slow or missing. In slurm.conf, one of:
#
#     HealthCheckProgram=/usr/local/sbin/calib-health     # with HealthCheckInterval=300
#     Prolog=/usr/local/sbin/calib-health
#
# examples/nhc/calib-verdict has to lie beside it. It says where the file of the check comes from, and needs jq. The
# hosts of the check have to be called as the nodes are.
#
# A Prolog that fails drains its node, and its job is queued again and held. Commands of Slurm do not belong in a
# Prolog. Slurm does not use the exit code of a HealthCheckProgram, or does not start the node until it is 0. So the
# script drains the node itself then, and exits with 0. Where nothing is known of a node, or the file cannot be read,
# it does nothing.
PATH=${PATH:+$PATH:}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin # Slurm sets none
node=${SLURMD_NODENAME:-$(hostname -s)}
why=$("${0%/*}/calib-verdict" "${1:-/shared/calib-check.json}" "$node")
[ $? -eq 1 ] || exit 0
echo "$why"
[ -z "$SLURM_JOB_ID" ] || exit 1 # a Prolog
scontrol update nodename="$node" state=drain reason="calib: ${why#slow }"
exit 0
