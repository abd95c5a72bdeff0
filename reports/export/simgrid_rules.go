package export

import (
	"fmt"
	"math"
	"strings"
)

// Time returns how long a message of bytes takes from one host to another, alone and received by a blocking receive that
// waits for it [s]. SMPI adds its envelope and, for a detached send, the sleeps of both ends; LV08 and CM02 know neither.
func (p *SimGridPlatform) Time(from, to string, bytes int) (float64, error) {
	if p.lv08 {
		flow, err := p.flow(from, to, bytes, "network/latency-factor", "network/bandwidth-factor")
		return flow, err
	}
	flow, err := p.flow(from, to, bytes+simgridEnvelope, "smpi/lat-factor", "smpi/bw-factor")
	if err != nil || bytes >= p.eager {
		return flow, err
	}
	return p.overhead("smpi/os", bytes) + flow + p.overhead("smpi/or", bytes), nil
}

// overhead is a sleep [s]. A size on a boundary takes the segment below; below all, it is the first.
func (p *SimGridPlatform) overhead(key string, bytes int) float64 {
	all := p.factors[key]
	at := all[0]
	for _, f := range all {
		if bytes <= f.above {
			break
		}
		at = f
	}
	return at.values[0] + at.values[1]*float64(bytes)
}

// factor is the same for a factor, which is 1 below all.
func (p *SimGridPlatform) factor(key string, bytes int) float64 {
	v := 1.0
	for _, f := range p.factors[key] {
		if bytes <= f.above {
			break
		}
		v = f.values[0]
	}
	return v
}

// crossShare is the part of a flow that goes back as cross-traffic.
const crossShare = 0.05

// flow is the latency of the route and the transfer [s]. A flow alone gets the least bandwidth of its links, less what its
// own cross-traffic takes of them, bounded by the window over the round trip, and times the factor.
func (p *SimGridPlatform) flow(from, to string, bytes int, latencyFactor, bandwidthFactor string) (float64, error) {
	route, ok := p.routes[[2]string{from, to}]
	if !ok || len(route) == 0 {
		return 0, syntax("no route from %q to %q", from, to)
	}
	load := map[string]float64{}
	for _, id := range route {
		load[id]++
	}
	if p.cross {
		for _, id := range p.routes[[2]string{to, from}] {
			load[id] += crossShare
		}
	}
	latency, rate := 0.0, math.Inf(1)
	for _, id := range route {
		latency += p.links[id].latency
		rate = min(rate, p.links[id].bandwidth)
	}
	if latency > 0 {
		rate = min(rate, p.gamma/(2*latency))
	}
	for id, n := range load {
		rate = min(rate, p.links[id].bandwidth/n)
	}
	t := latency*p.factor(latencyFactor, bytes) + float64(bytes)/(rate*p.factor(bandwidthFactor, bytes))
	if !(t >= 0) || math.IsInf(t, 0) {
		return 0, syntax("a message of %d bytes from %q to %q takes %g s", bytes, from, to, t)
	}
	return t, nil
}

// capacity is the bandwidth of the link of one kind on a route [B/s].
func (p *SimGridPlatform) capacity(from, to, kind string) (float64, error) {
	for _, id := range p.routes[[2]string{from, to}] {
		if id == kind || strings.HasPrefix(id, kind+"-") {
			return p.links[id].bandwidth, nil
		}
	}
	return 0, fmt.Errorf("route from %q to %q has no link %s: %w", from, to, kind, ErrMismatch)
}
