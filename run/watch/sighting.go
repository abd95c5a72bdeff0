package watch

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"calib/fit/drift"
	"calib/fit/fault"
	"calib/internal/history"
	"calib/internal/lists"
	"calib/internal/stats"
)

// Sighting is what was seen of a network at one time.
type Sighting struct {
	At    time.Time
	Hosts []Machine
	Seen  []fault.Seen  // by indices of Hosts
	Took  time.Duration // for which links were in use: of a round, the slowest pair
	Pass  int           // in how many such looks every pair has its turn; 0 is not known
	// Together says whether the pairs of a round looked at once; nil: they could not tell yet whether they can.
	Together *bool
	// Trouble says what the watch could not look at, and, behind a colon, why.
	Trouble string
}

type Machine struct {
	Name string
	Boot string
	Env  map[string]string
	Lost string // why it was not seen
	Busy bool   // it was not seen because it measured for somebody else, or for a reason that is not its own
	CPU  time.Duration
}

// cpu is the most processor time that a host has used.
func (s *Sighting) cpu() (most time.Duration) {
	for _, m := range s.Hosts {
		most = max(most, m.CPU)
	}
	return most
}

// look is the sighting for package drift.
func (s *Sighting) look() drift.Look {
	l := drift.Look{At: s.At, Seen: s.Seen}
	for i, m := range s.Hosts {
		switch {
		case m.Busy:
			l.Busy++
		case m.Lost != "":
			l.Missing = append(l.Missing, i)
		}
	}
	return l
}

// stored is a sighting in a store: of each observation the hosts, the latency [ns], the time per byte [fs], and
// segments sent, and sent again. A latency of -1 says that nothing came through.
type stored struct {
	Hosts    []string   `json:"hosts"`
	Took     int64      `json:"took_ns"`
	CPU      int64      `json:"cpu_ns"`
	Seen     [][6]int64 `json:"seen"`
	Together *bool      `json:"together,omitempty"`
}

func (s *Sighting) encode() []byte {
	hosts := lists.Map(s.Hosts, func(m Machine) string { return m.Name })
	out := stored{Hosts: hosts, Took: int64(s.Took), CPU: int64(s.cpu()), Together: s.Together}
	for _, o := range s.Seen {
		row := [6]int64{int64(o.From), int64(o.To), int64(math.Round(1e9 * o.Latency)),
			int64(math.Round(1e15 * o.PerByte)), o.Segments, o.Again}
		if o.Failed {
			row[2] = -1
		}
		out.Seen = append(out.Seen, row)
	}
	return out.pack()
}

func (s *stored) pack() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_ = json.NewEncoder(z).Encode(s) // whole numbers and names, into a buffer
	_ = z.Close()
	return b.Bytes()
}

// maxStored bounds what a stored look unpacks to [B].
const maxStored = 64 << 20

func unpack(data []byte) (s stored, err error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return s, fmt.Errorf("a look in the history: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(z, maxStored))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return s, fmt.Errorf("a look in the history: %w", err)
	}
	for _, o := range s.Seen {
		if min(o[0], o[1]) < 0 || max(o[0], o[1]) >= int64(len(s.Hosts)) || o[0] == o[1] {
			return s, fmt.Errorf("a look in the history: it names host %d of %d", max(o[0], o[1]), len(s.Hosts))
		}
	}
	return s, nil
}

// decode reads a stored look, for package drift too. There, hosts that are not in the list are left out; nil is all.
func decode(l history.Look, hosts []string) (out drift.Look, s stored, err error) {
	if s, err = unpack(l.Data); err != nil {
		return out, s, err
	}
	out.At = l.At
	if hosts == nil {
		hosts = s.Hosts
	}
	at := lists.Map(s.Hosts, func(name string) int { return slices.Index(hosts, name) })
	for _, o := range s.Seen {
		if from, to := at[o[0]], at[o[1]]; from >= 0 && to >= 0 {
			out.Seen = append(out.Seen, fault.Seen{From: from, To: to, Latency: 1e-9 * float64(o[2]),
				PerByte: 1e-15 * float64(o[3]), Segments: o[4], Again: o[5], Failed: o[2] < 0})
		}
	}
	return out, s, nil
}

// Each calls f with what looks have seen from a time on, or, of days that are long past, with medians, but for looks
// that cannot be read.
func Each(ctx context.Context, s *history.Store, since time.Time, f func(time.Time, []string, []fault.Seen)) error {
	return s.EachLook(ctx, since, func(l history.Look) error {
		if look, s, err := decode(l, nil); err == nil {
			f(l.At, s.Hosts, look.Seen)
		}
		return nil
	})
}

// fold makes one look of many: the medians of each pair in each direction, and the sums of their segments.
func fold(all []history.Look) []byte {
	var out stored
	by := map[[2]int64][][6]int64{}
	for _, l := range all {
		s, err := unpack(l.Data)
		if err != nil { // damaged, or another build's: recall has said so
			continue
		}
		out.Took, out.CPU = out.Took+s.Took, out.CPU+s.CPU
		at := make([]int64, len(s.Hosts))
		for i, name := range s.Hosts {
			k := slices.Index(out.Hosts, name)
			if k < 0 {
				k, out.Hosts = len(out.Hosts), append(out.Hosts, name)
			}
			at[i] = int64(k)
		}
		for _, o := range s.Seen {
			o[0], o[1] = at[o[0]], at[o[1]]
			by[[2]int64{o[0], o[1]}] = append(by[[2]int64{o[0], o[1]}], o)
		}
	}
	for pair, rows := range by {
		o := [6]int64{pair[0], pair[1], -1}
		var latencies, perByte []float64
		for _, r := range rows {
			if o[4], o[5] = o[4]+r[4], o[5]+r[5]; r[2] >= 0 {
				latencies = append(latencies, float64(r[2]))
			}
			if r[3] > 0 { // else it is not known
				perByte = append(perByte, float64(r[3]))
			}
		}
		if len(latencies) > 0 {
			o[2], o[3] = int64(stats.Median(latencies)), int64(stats.Typical(perByte))
		}
		out.Seen = append(out.Seen, o)
	}
	slices.SortFunc(out.Seen, func(a, b [6]int64) int { return slices.Compare(a[:2], b[:2]) })
	return out.pack()
}
