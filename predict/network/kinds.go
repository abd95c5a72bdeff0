package network

import (
	"fmt"

	"calib/internal/netspec"
	"calib/params"
)

// kind is of hosts that are alike and differ from those of the largest kind: messages between two of them take longer,
// or less long, by a ratio, at the smallest and at the largest size.
type kind struct {
	hosts []int // of the run
	ratio [2]float64
}

// OneKind says where hosts are of several kinds that one stands for all.
func OneKind(p *params.Params) []string {
	if len(p.Kinds) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("hosts are of %d kinds: the numbers of the largest stand for all", len(p.Kinds))}
}

// setKinds reads how the hosts of each kind differ from those of the largest, which the network's numbers are of. Where
// a kind's times are not known, all hosts are taken to be alike, and Notes say it.
func (n *Network) setKinds(p *params.Params) {
	n.sizes = sizesOf(p)
	for i, hosts := range p.Kinds[min(1, len(p.Kinds)):] {
		k := kind{hosts: p.Indices(hosts)}
		for j, x := range n.sizes {
			own, knownOwn := p.ClassTime(params.KindName(i+1), x)
			of, known := p.ClassTime(params.KindName(0), x)
			if !known || !knownOwn {
				n.kinds, n.Notes = nil, append(n.Notes, OneKind(p)...)
				return
			}
			k.ratio[j] = own / of
		}
		n.kinds = append(n.kinds, k)
	}
}

// Own are the blocks, on a network of spec, of those hosts below hosts that are of another kind than the largest. What
// a message takes beside the spec, on the hosts, is the same for all.
func (n *Network) Own(spec *netspec.Spec, hosts int, beside func(x int) float64) map[int]netspec.Block {
	spec, out := spec.Alike(), map[int]netspec.Block{}
	for _, k := range n.kinds {
		ratio := k.ratio
		for j, x := range n.sizes {
			alike := spec.Message(0, 1, x)
			ratio[j] = (k.ratio[j]*(alike+beside(x)) - beside(x)) / alike
		}
		block := fitBlock(netspec.Block{}, spec, n.sizes, ratio, func(b netspec.Block, x int) float64 {
			with := *spec
			with.Overrides = map[int]netspec.Block{0: b, 1: b}
			return with.Message(0, 1, x)
		})
		for _, h := range k.hosts {
			if h < hosts {
				out[h] = block
			}
		}
	}
	return out
}

// Alike says that it is no matter which hosts take part.
func (n *Network) Alike() bool { return n.Links == nil && n.kinds == nil }

// sizesOf are the smallest and the largest size of the messages between two hosts that a run measured [B]; 0 of none.
func sizesOf(p *params.Params) (sizes [2]int) {
	if lo, hi, ok := params.Span(params.Series{Points: p.Times()}); ok {
		sizes = [2]int{max(int(lo), 1), max(int(hi), 1)}
	}
	return sizes
}
