#!/bin/sh
# Written by calib v1.2.3 from run 20261121-044155-flpiifqw (plan standard, 8 hosts).
# Parameter L = 0.000392348509652 s [0.00038842502455548, 0.00039627199474852]: made for a test, model loggp.
# Parameter o_s = 4.535401308e-06 s [4.49004729492e-06, 4.58075532108e-06]: made for a test, model loggp.
# Parameter o_r = 8.5171396e-07 s [8.431968203999999e-07, 8.602310996e-07]: made for a test, model loggp.
# Parameter g = 0.000150219998336 s [0.00014871779835264, 0.00015172219831935998]: made for a test, model loggp.
# Parameter G = 2.53490412602e-07 s/B [2.5095550847598003e-07, 2.5602531672802e-07]: made for a test, model loggp.
# against the measured T(x), LogGP is off by 0.8% on average, and by -1.0% at most, at 4194304 bytes
# unit: 1e-12 s. All times of LogGOPSim are in it: scale the calc times of the schedule to it, and its results back.
# o is the mean of o_s and o_r, and L + 2·o = L + o_s + o_r, so that a message takes as long as by LogGP.
# S is the largest there is: over sockets every message is eager. LogGOPSim knows no contention: see a_c, b_c and B_L of the run.
# A schedule: schedgen --commsize 8 --datasize 1024 --ptrn binomialtreebcast -o bcast.goal && txt2bin -i bcast.goal -o bcast.bin
# Warning: the hosts are in 2 groups, and a byte takes 1.30 times as long between them, but the file has one network for all pairs: that within a group
# Warning: 1 of 7 pairs stand out (h2 to h3;rm -rf /tmp */ "x" # }: 8% slower than the others), but the file has one network for all pairs
exec LogGOPSim -L 392348509 -o 2693558 -g 150219998 -G 253490 -O 0 -S 2147483647 -f "${1:?usage: loggopsim.sh SCHEDULE.bin}"
