// Package network turns the parameters of a run into the description of a network (internal/netspec) that has them:
// what the calibrated simulation (package predict) and the exported lab file play.
//
// It reads only what the run measured and allows to use. What the run left open is taken as the run's own models take
// it, and said in Notes.
package network

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"calib/internal/lists"
	"calib/internal/netspec"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
)

// ErrParameters reports a run without the parameters that a network can be built of.
var ErrParameters = errors.New("parameters are missing")

// Network is what a run's parameters describe: any number of hosts, and what their calls take.
type Network struct {
	// Spec has two hosts, and a receiving block of its own.
	Spec netspec.Spec
	// PerHost is what a packet's way takes longer for each host of the team [s]: l1 of L_cluster(m, p), in which p are
	// those that take part. It is not in Spec.
	PerHost float64
	// Links are the uplinks of groups of hosts, such as racks: the run's hosts by their index. They are not in Spec.
	Links []netspec.Link
	kinds []kind // other than the largest
	sizes [2]int // the smallest and the largest of messages between two hosts [B]
	// Bundled: messages pass in pieces of many packets, as hosts with segmentation offload handle them; Spec.MSS is
	// such a piece.
	Bundled bool
	// Calls are what a message takes on its hosts; zero where they are in the blocks.
	Calls Calls
	// callsFirst: a host's block begins when its call has ended, so that the interval between messages holds both.
	// Otherwise the block has the whole interval.
	callsFirst bool
	// SendBuffer is the room for what is sent, as the kernel granted it [B]; 0 where it is not known.
	SendBuffer float64
	// From names the parameters and functions that were used, Notes what had to be assumed.
	From, Notes []string
}

// Calls are what the calls of a message take on its hosts: O_s, U_r and O_r of the cluster model, and the wake-up of a
// receiver.
type Calls struct {
	Send, Recv, Arrive, Wake       units.Nanos
	SendByte, RecvByte, ArriveByte float64 // ns/B
}

// Fixed is what a message without payload spends in calls [s].
func (c Calls) Fixed() float64 { return (c.Send + c.Recv + c.Arrive + c.Wake).Seconds() }

// PerByte is what a byte of a message spends in calls [s/B].
func (c Calls) PerByte() float64 { return (c.SendByte + c.RecvByte + c.ArriveByte) * 1e-9 }

// maxMisfit is by how much a network may miss the messages between two hosts that the run measured: the bar of the
// simulation for patterns.
const maxMisfit = 0.1

// Of describes the network of p, by the first of these that p has the parameters of and that misses the measured
// messages between two hosts by no more than a tenth; by the one that misses them least, where all miss them by more:
//
//   - a medium that all hosts share, from a, b, a_c and b_c of the hyperbolic model, if the network behaves like one;
//   - a switch, from O_s, g_s, g_r, L_cluster(m, p), O_r and U_r of the cluster model;
//   - hosts alone, from the time and the rate of messages between two of them.
//
// It returns ErrParameters, with what is missing, where p has none of the three, and another error where its values are
// out of all bounds.
func Of(p *params.Params) (*Network, error) {
	var errs []error
	var best *Network
	least := math.Inf(1)
	first := &reader{p: p}
	kind := first.kind()
	for _, build := range []func(*reader) (*Network, error){shared, switched, pairs} {
		n, err := build(&reader{p: p, is: kind, notes: slices.Clone(first.notes)})
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if n == nil {
			continue
		}
		n.Spec.Hosts = 2
		if err := n.Spec.Validate(); err != nil {
			return nil, fmt.Errorf("network of the parameters %v: %w", n.From, err)
		}
		alone := func(x int) (float64, error) { return n.Spec.Message(0, 1, x) + n.Beside(x), nil }
		if miss := Misfit(p.Times(), alone); miss < least {
			best, least = n, miss
		}
		if least <= maxMisfit {
			break
		}
	}
	if best == nil {
		return nil, errors.Join(errs...)
	}
	best.setKinds(p)
	best.uplinks(p)
	return best, nil
}

// SlowUplinks says of which groups the uplink is slower than those of the others.
func SlowUplinks(p *params.Params) (out []string) {
	for _, f := range p.AllFindings(params.Warning) {
		if f.Code == params.SlowUplink {
			out = append(out, fmt.Sprintf("all groups have one uplink's numbers, though %s", f.Message))
		}
	}
	return out
}

// uplinks gives each group of hosts a link to all others. What a byte takes longer between groups is the time of the
// links that it passes, one for two groups and else two; their time per byte is that of all streams that leave a group,
// and the rest is delay. Where that rate is not known a link is a delay alone.
func (n *Network) uplinks(p *params.Params) {
	if p.Groups == nil {
		return
	}
	within, between, known := p.Ways()
	if !known {
		n.Notes = append(n.Notes, "times between the groups of hosts were not measured: those within a group are used")
		return
	}
	n.Notes = append(n.Notes, SlowUplinks(p)...)
	groups := p.GroupsByIndex()
	all := slices.Concat(groups...)
	link := netspec.Link{L: between - within}
	if len(groups) == 2 {
		groups = groups[:1] // what leaves one enters the other
	} else {
		link.L /= 2
	}
	if rate := p.Parameters["uplink_rate"].Value; rate != nil && *rate > 0 {
		link.B = 1 / *rate
		link.L = max(link.L-link.B, 0)
	}
	for _, at := range groups {
		others := lists.Where(all, func(h int) bool { return !slices.Contains(at, h) })
		link.Between = [][]int{at, others}
		n.Links = append(n.Links, link)
	}
}

// Unplaced counts those of the hosts that are in no group, where the network has groups: what is between them and the
// others is not known.
func (n *Network) Unplaced(hosts []int) int {
	if n.Links == nil {
		return 0
	}
	placed := slices.Concat(n.Links[0].Between...)
	return lists.Count(hosts, func(h int) bool { return !slices.Contains(placed, h) })
}

// Among are the links between hosts below n.
func (n *Network) Among(hosts int) (out []netspec.Link) {
	for _, l := range n.Links {
		there := func(all []int) []int { return lists.Where(all, func(h int) bool { return h < hosts }) }
		if a, b := there(l.Between[0]), there(l.Between[1]); len(a) > 0 && len(b) > 0 {
			l.Between = [][]int{a, b}
			out = append(out, l)
		}
	}
	return out
}

// Beside is what a message of x bytes between two hosts takes beside Spec [s].
func (n *Network) Beside(x int) float64 {
	return 2*n.PerHost + n.Calls.Fixed() + n.Calls.PerByte()*float64(x)
}

// Misfit is the root of the mean squared relative error of the times that at says on times that were measured; 0 where
// there are none.
func Misfit(measured []params.Residual, at func(bytes int) (float64, error)) float64 {
	var squares []float64
	for _, r := range measured {
		if t, err := at(int(r.X)); err == nil && r.X >= 1 {
			e := (t - r.Measured) / r.Measured
			squares = append(squares, e*e)
		}
	}
	if squares == nil {
		return 0
	}
	return math.Sqrt(stats.Mean(squares))
}
