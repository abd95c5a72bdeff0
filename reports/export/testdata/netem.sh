#!/bin/sh
# Written by calib v1.2.3 from run 20261121-044155-flpiifqw (plan standard, 8 hosts).
# Parameter L = 0.000392348509652 s [0.00038842502455548, 0.00039627199474852]: made for a test, model loggp.
# Parameter G = 2.53490412602e-07 s/B [2.5095550847598003e-07, 2.5602531672802e-07]: made for a test, model loggp.
# Parameter packet = 1448 B [1433.52, 1462.48]: made for a test, model cluster.
# Parameter B_L = 64.42195924 packets [63.77773964760001, 65.06617883240001]: made for a test, model flood.
# Hosts: h0, h1, h2, h3;rm -rf /tmp */ "x" # }, h4, h5, h6, h7
# Run it as root on every host, both ends of every path: sh netem.sh sets, sh netem.sh clear removes.
# delay is the whole one-way L, less the packet of one byte at the rate; each host delays only what it sends.
# rate is 1/G with 66 B of headers (IPv4, TCP with time stamps) on 1448 B of payload.
# Before: ethtool -K eth0 tso off gso off gro off
# Warning: the hosts are in 2 groups, and a byte takes 1.30 times as long between them, but the file has one network for all pairs: that within a group
# Warning: 1 of 7 pairs stand out (h2 to h3;rm -rf /tmp */ "x" # }: 8% slower than the others), but the file has one network for all pairs
# Warning: the hosts' own costs come on top, and segmentation offload (TSO, GSO) must be off, or the queue counts bundles of packets as one
# Warning: limit holds B_L and the packets on their way, at the sender: netem has no port that several senders fill
set -eu
if [ "${1:-}" = clear ]; then
	exec tc qdisc del dev eth0 root
fi
tc qdisc replace dev eth0 root netem delay 376.105us rate 32997859bit limit 66
