package export

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// simulated is a platform file as SimGrid's flow models read it: one zone with explicit routes. It evaluates one
// message between two hosts under the rules of SimGrid 3.32, as they are in force for the models SMPI, LV08 and CM02.
type simulated struct {
	hosts   []string
	links   map[string]link
	routes  map[[2]string][]string
	factors map[string][]factorAbove // by setting: network/… or smpi/…
	lv08    bool                     // or CM02: no overheads, no envelope
	gamma   float64                  // B
	cross   bool
	eager   int
}

type link struct{ bandwidth, latency float64 }

// factorAbove holds above a boundary.
type factorAbove struct {
	above  int
	values []float64
}

type platformXML struct {
	XMLName xml.Name `xml:"platform"`
	Version string   `xml:"version,attr"`
	Props   []struct {
		ID    string `xml:"id,attr"`
		Value string `xml:"value,attr"`
	} `xml:"config>prop"`
	Zone struct {
		Routing string `xml:"routing,attr"`
		Hosts   []struct {
			ID string `xml:"id,attr"`
		} `xml:"host"`
		Links []struct {
			ID        string `xml:"id,attr"`
			Bandwidth string `xml:"bandwidth,attr"`
			Latency   string `xml:"latency,attr"`
		} `xml:"link"`
		Routes []struct {
			Src   string `xml:"src,attr"`
			Dst   string `xml:"dst,attr"`
			Symm  string `xml:"symmetrical,attr"`
			Links []struct {
				ID string `xml:"id,attr"`
			} `xml:"link_ctn"`
		} `xml:"route"`
	} `xml:"zone"`
}

// readPlatform reads a platform file. Errors are of class errSyntax.
func readPlatform(file []byte) (*simulated, error) {
	var x platformXML
	dec := xml.NewDecoder(bytes.NewReader(file))
	if err := dec.Decode(&x); err != nil {
		return nil, syntax("platform file: %v", err)
	}
	if len(bytes.TrimSpace(file[dec.InputOffset():])) > 0 {
		return nil, syntax("platform file: more after </platform>")
	}
	if x.Version != "4.1" || x.Zone.Routing != "Full" {
		return nil, syntax("platform of version %q with routing %q: want 4.1 and Full", x.Version, x.Zone.Routing)
	}
	p := &simulated{links: map[string]link{}, routes: map[[2]string][]string{}, factors: map[string][]factorAbove{}}
	for _, h := range x.Zone.Hosts {
		p.hosts = append(p.hosts, h.ID)
	}
	if len(p.hosts) < 2 {
		return nil, syntax("platform of %d hosts", len(p.hosts))
	}
	for _, l := range x.Zone.Links {
		bandwidth, err := quantity(l.Bandwidth, map[string]float64{"Bps": 1, "kBps": 1e3, "MBps": 1e6, "bps": 1.0 / 8,
			"Mbps": 1e6 / 8})
		if err != nil {
			return nil, syntax("bandwidth of link %q: %v", l.ID, err)
		}
		latency, err := quantity(l.Latency, map[string]float64{"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9})
		if err != nil {
			return nil, syntax("latency of link %q: %v", l.ID, err)
		}
		p.links[l.ID] = link{bandwidth, latency}
	}
	for _, r := range x.Zone.Routes {
		var ids []string
		for _, l := range r.Links {
			if _, ok := p.links[l.ID]; !ok {
				return nil, syntax("route from %q to %q: no link %q", r.Src, r.Dst, l.ID)
			}
			ids = append(ids, l.ID)
		}
		p.routes[[2]string{r.Src, r.Dst}] = ids
		if strings.EqualFold(r.Symm, "yes") || r.Symm == "" {
			back := slices.Clone(ids)
			slices.Reverse(back)
			p.routes[[2]string{r.Dst, r.Src}] = back
		}
	}
	settings := map[string]string{}
	for _, q := range x.Props {
		settings[q.ID] = q.Value
	}
	return p, p.configure(settings)
}

// configure applies the settings of a file to the defaults of its model.
func (p *simulated) configure(given map[string]string) error {
	s := map[string]string{"network/model": "LV08", "network/TCP-gamma": "4194304", "network/crosstraffic": "yes",
		"smpi/os": "0:0:0",
		"smpi/or": "0:0:0", "smpi/send-is-detached-thresh": "65536"}
	switch given["network/model"] {
	case "", "LV08":
		s["network/latency-factor"], s["network/bandwidth-factor"] = "13.01", "0.97"
	case "CM02":
		s["network/latency-factor"], s["network/bandwidth-factor"] = "1", "1"
	case "SMPI":
		s["smpi/lat-factor"], s["smpi/bw-factor"] = smpiLatency, smpiBandwidth
	default:
		return syntax("network model %q", given["network/model"])
	}
	for k, v := range given {
		s[k] = v
	}
	p.lv08 = s["network/model"] != "SMPI"
	for _, key := range []string{"network/latency-factor", "network/bandwidth-factor", "smpi/lat-factor", "smpi/bw-factor",
		"smpi/os", "smpi/or"} {
		text, ok := s[key]
		if !ok {
			continue
		}
		f, err := readFactors(text)
		if err != nil {
			return syntax("%s: %v", key, err)
		}
		for _, one := range f {
			if strings.Contains(key, "factor") != (len(one.values) == 1) || !strings.Contains(key, "factor") &&
				len(one.values) != 2 {
				return syntax("%s: %d numbers above %d bytes", key, len(one.values), one.above)
			}
		}
		p.factors[key] = f
	}
	var err error
	if p.gamma, err = quantity(s["network/TCP-gamma"], nil); err != nil {
		return syntax("network/TCP-gamma: %v", err)
	}
	p.cross = slices.Contains([]string{"yes", "on", "true", "1"}, s["network/crosstraffic"])
	if p.eager, err = strconv.Atoi(s["smpi/send-is-detached-thresh"]); err != nil || p.eager > math.MaxInt32 {
		return syntax("smpi/send-is-detached-thresh: %q is not an integer of 32 bits", s["smpi/send-is-detached-thresh"])
	}
	return nil
}

// Defaults of model SMPI.
const (
	smpiLatency = "65472:11.6436;15424:3.48845;9376:2.59299;5776:2.18796;" +
		"3484:1.88101;1426:1.61075;732:1.9503;257:1.95341;0:2.01467"
	smpiBandwidth = "65472:0.940694;15424:0.697866;9376:0.58729;5776:1.08739;" +
		"3484:0.77493;1426:0.608902;732:0.341987;257:0.338112;" +
		"0:0.812084"
)

// readFactors reads "boundary:value…;boundary:value…", or one number for all sizes.
func readFactors(text string) ([]factorAbove, error) {
	if !strings.Contains(text, ":") {
		v, err := quantity(text, nil)
		return []factorAbove{{above: math.MinInt32, values: []float64{v}}}, err
	}
	var out []factorAbove
	for _, part := range strings.Split(text, ";") {
		fields := strings.Split(part, ":")
		above, err := strconv.ParseInt(fields[0], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("boundary %q is not an integer below 2^31", fields[0])
		}
		f := factorAbove{above: int(above)}
		for _, field := range fields[1:] {
			v, err := quantity(field, nil)
			if err != nil {
				return nil, err
			}
			f.values = append(f.values, v)
		}
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b factorAbove) int { return a.above - b.above })
	return out, nil
}

// quantity reads a finite number with a unit, which only nil allows to be absent.
func quantity(text string, units map[string]float64) (float64, error) {
	scale, digits := 1.0, text
	if units != nil {
		at := strings.LastIndexAny(text, "0123456789.") + 1
		var ok bool
		if scale, ok = units[text[at:]]; !ok {
			return 0, fmt.Errorf("%q has no unit that is known", text)
		}
		digits = text[:at]
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return v * scale, nil
}

// time returns how long a message of bytes takes from one host to another, alone and received by a blocking receive
// that waits for it [s]. SMPI adds its envelope and, for a detached send, the sleeps of both ends; LV08 and CM02 know
// neither.
func (p *simulated) time(from, to string, bytes int) (float64, error) {
	if p.lv08 {
		flow, err := p.flow(from, to, bytes, "network/latency-factor", "network/bandwidth-factor")
		return flow, err
	}
	flow, err := p.flow(from, to, bytes+envelope, "smpi/lat-factor", "smpi/bw-factor")
	if err != nil || bytes >= p.eager {
		return flow, err
	}
	return p.overhead("smpi/os", bytes) + flow + p.overhead("smpi/or", bytes), nil
}

// overhead is a sleep [s]. A size on a boundary takes the segment below; below all, it is the first.
func (p *simulated) overhead(key string, bytes int) float64 {
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
func (p *simulated) factor(key string, bytes int) float64 {
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

// flow is the latency of the route and the transfer [s]. A flow alone gets the least bandwidth of its links, less what
// its own cross-traffic takes of them, bounded by the window over the round trip, and times the factor.
func (p *simulated) flow(from, to string, bytes int, latencyFactor, bandwidthFactor string) (float64, error) {
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

// platformHosts returns the names of the hosts in a platform file, in its order, for smpirun's -hostfile.
func platformHosts(file []byte) ([]string, error) {
	var x struct {
		Hosts []struct {
			ID string `xml:"id,attr"`
		} `xml:"zone>host"`
	}
	if err := xml.Unmarshal(file, &x); err != nil {
		return nil, fmt.Errorf("platform file: %w", err)
	}
	var out []string
	for _, h := range x.Hosts {
		out = append(out, h.ID)
	}
	return out, nil
}
