#!/usr/bin/env python3
# Written by calib v1.2.3 from run 20261121-044155-flpiifqw (plan standard, 8 hosts).
# Parameter L = 0.000392348509652 s [0.00038842502455548, 0.00039627199474852]: made for a test, model loggp.
# Parameter G = 2.53490412602e-07 s/B [2.5095550847598003e-07, 2.5602531672802e-07]: made for a test, model loggp.
# Parameter packet = 1448 B [1433.52, 1462.48]: made for a test, model cluster.
# Parameter B_L = 64.42195924 packets [63.77773964760001, 65.06617883240001]: made for a test, model flood.
# Run it as root: python3 topology.py; or mn --custom topology.py --topo calib --switch ovsbr --controller none
# Hosts of the run: h0, h1, h2, h3;rm -rf /tmp */ "x" # }, h4, h5, h6, h7
# DELAY is half of the one-way L: a message passes two links.
# BANDWIDTH is 1/G in Mbit/s, with 66 B of headers (IPv4, TCP with time stamps) on 1448 B of payload.
# QUEUE is B_L and the packets on their way in that link; None, 1000 packets, where B_L is not known.
# Warning: the hosts are in 2 groups, and a byte takes 1.30 times as long between them, but the file has one network for all pairs: that within a group
# Warning: 1 of 7 pairs stand out (h2 to h3;rm -rf /tmp */ "x" # }: 8% slower than the others), but the file has one network for all pairs
# Warning: the hosts' own costs come on top, and segmentation offload (TSO, GSO) must be off, or the queue counts bundles of packets as one
# Warning: Mininet lets the first 15 kB after a pause pass without the limit of the rate

HOST_COUNT = 8
BANDWIDTH = 32.997859  # Mbit/s
DELAY = "196.174us"
QUEUE = 65  # packets

from mininet.cli import CLI
from mininet.link import TCLink
from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.node import OVSBridge
from mininet.topo import Topo


class Calibrated(Topo):
    "HOST_COUNT hosts at one switch."

    def build(self):
        switch = self.addSwitch("s1")
        ends = dict(bw=BANDWIDTH, delay=DELAY)
        for i in range(1, HOST_COUNT + 1):
            host = self.addHost("h%d" % i)
            self.addLink(host, switch, cls=TCLink, params1=dict(ends), params2=dict(ends, max_queue_size=QUEUE))


topos = {"calib": Calibrated}

if __name__ == "__main__":
    setLogLevel("info")
    net = Mininet(topo=Calibrated(), switch=OVSBridge, controller=None, autoStaticArp=True)
    net.start()
    CLI(net)
    net.stop()
