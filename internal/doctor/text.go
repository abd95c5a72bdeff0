package doctor

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"calib/internal/hosts"
	"calib/internal/units"
)

var titles = map[string]string{
	Blocks:   "In the way",
	Disturbs: "Disturbs what is measured",
	Notes:    "To know",
}

func (r Report) Text(w io.Writer) error {
	b := &strings.Builder{}
	fmt.Fprintln(b, r.verdict())
	r.table(b)
	last := ""
	for _, f := range r.Findings {
		if f.Severity != last {
			last = f.Severity
			fmt.Fprintf(b, "\n%s\n", titles[last])
		}
		b.WriteString(f.Text(len(r.Hosts)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Text is the finding in two lines, of so many hosts in all.
func (f Finding) Text(all int) string {
	where := hosts.Fold(f.Hosts)
	if strings.HasPrefix(f.Code, pairCode) {
		where = strings.Join(f.Hosts, " – ")
	} else if len(f.Hosts) > 1 && len(f.Hosts) == all {
		where = "all hosts"
	}
	return fmt.Sprintf("  %s: %s\n      %s\n", oneLine(where), f.What, f.Mend)
}

func (r Report) verdict() string {
	s := fmt.Sprintf("%s, %s of %s work", units.Plural(len(r.Hosts), "host"),
		units.Grouped(int64(r.Pairs.Work)), units.Plural(r.Pairs.All, "pair"))
	if r.Pairs.Median != nil {
		s += fmt.Sprintf(": a byte takes %s one way, at most %s (%s)",
			units.Format(*r.Pairs.Median, "s"), units.Format(*r.Pairs.Slowest, "s"), strings.Join(r.Pairs.Between, " – "))
	}
	switch {
	case r.Usable < 2:
		s += ".\nNothing can be measured."
	case len(r.Out) > 0:
		s += fmt.Sprintf(".\ncalib run would go on without %s.", hosts.Fold(r.Out))
	case !r.Ready:
		s += ".\nFix these first."
	default:
		s += ".\nReady to measure."
	}
	return s
}

func (r Report) table(w io.Writer) {
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  host\taddress\tinterface\tspeed\tMTU\tdriver\tkernel\tmachine\tclock off")
	for _, h := range r.Hosts {
		speed, off := h.Mbps, ""
		if speed != "" {
			speed += " Mbit/s"
		}
		if h.Offset != nil {
			off = units.Format(*h.Offset, "s") + " ± " + units.Format(h.Bound, "s")
		}
		cells := []string{h.Host, h.Addr, h.NIC, speed, h.MTU, h.Driver, h.Kernel, h.Virt, off}
		for i, c := range cells {
			if cells[i] = oneLine(c); c == "" {
				cells[i] = "–"
			}
		}
		fmt.Fprintln(t, "  "+strings.Join(cells, "\t"))
	}
	t.Flush()
}
