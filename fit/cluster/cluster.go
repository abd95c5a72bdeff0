// Package cluster holds the cluster model of Tam and Wang (University of Hong Kong, 2000): what a message costs the
// hosts (O_s, U_r, O_r, copies), the gaps between packets that a host sends and receives (g_s, g_r), the time of a
// packet in the network while p hosts communicate (L), and the predictions of broadcasts and gathers made of them.
//
// Costs are functions of the message size, with or without a floor, and share their estimation (cost.go).
package cluster

import (
	"fmt"
	"math"
	"strings"

	"calib/fit"
	"calib/internal/params"
)

const source = "Tam, Wang 2000 section 3.2, table 1"

// packetParameter is the parameter that holds the payload of one packet [B].
const packetParameter = "packet"

// Cluster is the cluster model in numbers: what predictions are made from. Costs are of one packet of m ≤ MTU bytes.
type Cluster struct {
	Os, Gs, Gr, Or, Ur params.Cost
	L                  params.Transfer
	BL                 float64 // packets that the bottleneck's buffer holds; +Inf where nothing is known of it
	MTU                float64 // payload of one packet [B]
}

// oneWay is the time of one packet of m bytes from program to program while p hosts communicate.
func (c Cluster) oneWay(m, p float64) float64 {
	return c.Os.Of(m) + c.L.At(m, p) + c.Or.Of(m) + c.Ur.Of(m)
}

// Of reads the cluster model off params. Where the file leaves something open it takes
//
//   - O_r as zero, where no time was lost to arriving messages that could be told from noise (unidentifiable);
//   - g_r as g_s, where several senders at one receiver were not measured or did not saturate it: the paper's own
//     simplification (section 3.2);
//   - B_L as what the buffer held at least, where it never overflowed, and as endless where it was not measured.
//
// It returns fit.ErrNeeds, naming what is missing, without O_s, U_r, g_s or L, and form.Err for a function of another
// form.
func Of(p *params.Params) (Cluster, error) {
	c := Cluster{BL: math.Inf(1), MTU: fit.DefaultPacket}
	var missing []string
	for _, part := range []struct {
		name string
		cost *params.Cost
	}{{"O_s", &c.Os}, {"U_r", &c.Ur}, {"g_s", &c.Gs}, {"g_r", &c.Gr}, {"O_r", &c.Or}} {
		fn, ok := p.Functions[part.name]
		switch _, explained := p.Parameters[part.name]; {
		case ok:
			v, err := fn.Cost()
			if err != nil {
				return Cluster{}, fmt.Errorf("function %s: %w", part.name, err)
			}
			*part.cost = v
		case part.name == "g_r":
			c.Gr = c.Gs
		case part.name == "O_r" && explained:
		default:
			missing = append(missing, part.name)
		}
	}
	l, ok := p.Functions["L"]
	if !ok {
		missing = append(missing, "L")
	}
	if len(missing) > 0 {
		return Cluster{}, fmt.Errorf("cluster model: no function %s; measure overhead, gap and load: %w",
			strings.Join(missing, ", "), fit.ErrNeeds)
	}
	shape, err := l.Shape(p.Functions)
	if err != nil {
		return Cluster{}, fmt.Errorf("function L: %w", err)
	}
	if c.L, ok = shape.(params.Transfer); !ok {
		return Cluster{}, fmt.Errorf("function L: %w: form %q is not a transfer time", params.ErrForm, l.Form)
	}
	if b, ok := p.Parameters["B_L"]; ok {
		switch {
		case b.Value != nil:
			c.BL = *b.Value
		case b.Bound != nil:
			c.BL = b.Bound[0]
		}
	}
	if v := p.Parameters[packetParameter].Value; v != nil {
		c.MTU = *v
	}
	return c, nil
}
