package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/lab"
	"calib/internal/netspec"
	"calib/internal/units"
)

func labList(c *cli.Context) error {
	labs, err := lab.List("")
	if err != nil {
		return err
	}
	return command.Answer(c, "lab list", append([]lab.Status{}, labs...), func(w io.Writer) error {
		if len(labs) == 0 {
			fmt.Fprintln(c.App.ErrWriter, "no lab is up; build one with: calib lab up --preset sparc1994")
			return nil
		}
		t := command.NewTable(w, "LAB", "HOSTS", "MEDIUM", "SINCE", "STATE")
		for _, l := range labs {
			state := "up"
			if !l.Up {
				state = l.Problem
			}
			t.Row(l.Name, l.Spec.Hosts, l.Spec.Mode, l.Created.Local().Format(time.DateTime), state)
		}
		return t.Flush()
	})
}

// labReport is the data of calib lab stats --json.
type labReport struct {
	Verdict lab.Verdict `json:"verdict"`
	Stats   lab.Stats   `json:"stats"`
}

func labStats(c *cli.Context) error {
	l, err := lab.Load("", c.String("name"))
	if err != nil {
		return labError(err)
	}
	if !l.Up {
		return fmt.Errorf("lab %s: %s", l.Name, l.Problem)
	}
	s, err := lab.ReadStats(l.StatsPath)
	if err != nil {
		return err
	}
	r := labReport{Verdict: lab.Judge(s), Stats: s}
	return command.Answer(c, "lab stats", r, func(w io.Writer) error { return printStats(w, r) })
}

func printStats(w io.Writer, r labReport) error {
	s := r.Stats
	idle, sent := "idle CPUs sleep", "read from the device"
	if s.Awake {
		idle = "idle CPUs are kept awake"
	}
	if s.PreciseSend {
		sent = "stamped by TCP"
	}
	fmt.Fprintf(w, "lab %s: up %s, priority %s, %s, packets count as sent when %s\n%v\n",
		s.Lab, units.Format(s.Uptime, "s"), s.Priority, idle, sent, r.Verdict)
	if s.MediumQueueMax > 0 {
		fmt.Fprintf(w, "shared medium: at most %d packets inside\n", s.MediumQueueMax)
	}
	if n := s.Strays + s.Refused; n > 0 {
		fmt.Fprintf(w, "packets to no host of the lab: %d; refused by the receiving kernel: %d\n", s.Strays, s.Refused)
	}
	t := command.NewTable(w, "HOST", "SENT", "OF THEM FREE", "PAYLOAD", "RECEIVED", "PAYLOAD", "DROPPED FULL", "DROPPED LOST",
		"MOST INSIDE TX/PORT/RX")
	for _, h := range s.Hosts {
		t.Row(h.Host, h.SentPackets, h.SentFree, h.SentBytes, h.RecvPackets, h.RecvBytes, h.BufferDrops, h.LossDrops,
			fmt.Sprintf("%d/%d/%d", h.TxQueueMax, h.PortQueueMax, h.RxQueueMax))
	}
	return t.Flush()
}

func labPresets(c *cli.Context) error {
	var specs []netspec.Spec
	for _, name := range netspec.PresetNames() {
		s, err := netspec.Preset(name, 0)
		if err != nil {
			return err
		}
		specs = append(specs, *s)
	}
	return command.Answer(c, "lab presets", specs, func(w io.Writer) error { return printPresets(w, specs) })
}

func printPresets(w io.Writer, specs []netspec.Spec) error {
	t := command.NewTable(w, "PRESET", "HOSTS", "MEDIUM", "a", "b", "a_c", "b_c", "L", "BUFFER", "BESIDES")
	for _, s := range specs {
		buffer := "unlimited"
		if s.Buffer > 0 {
			buffer = fmt.Sprintf("%d packets", s.Buffer)
		}
		t.Row(s.Name, s.Hosts, s.Mode, units.Format(s.Host.A, "s"), units.Format(s.Host.B, "s/B"), units.Format(s.Medium.A, "s"),
			units.Format(s.Medium.B, "s/B"), units.Format(s.L, "s"), buffer, besides(&s))
	}
	return t.Flush()
}

// besides says what a network has that not every network has.
func besides(s *netspec.Spec) string {
	var has []string
	least := func(what string, b netspec.Block) {
		if b.Min > 0 {
			has = append(has, fmt.Sprintf("%s at least %s a packet", what, units.Format(b.Min, "s")))
		}
	}
	least("hosts", s.Host)
	least("medium", s.Medium)
	if r := s.Receive; r != nil {
		has = append(has, fmt.Sprintf("receiving a %s, b %s", units.Format(r.A, "s"), units.Format(r.B, "s/B")))
		least("receiving", *r)
	}
	if s.CutThrough {
		has = append(has, "cut-through")
	}
	if f := s.Fabric; f != nil {
		fabric := fmt.Sprintf("fabric %s an active host", units.Format(f.PerHost, "s"))
		if f.Rate > 0 {
			fabric += fmt.Sprintf(", %s above %s in all", units.Format(f.Tau, "s/B"), units.Format(f.Rate, "B/s"))
		}
		has = append(has, fabric)
	}
	if s.Slowdown > 0 {
		has = append(has, fmt.Sprintf("%g times slower than the original", s.Slowdown))
	}
	return strings.Join(has, "; ")
}
