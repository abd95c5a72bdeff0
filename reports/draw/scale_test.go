package draw

import (
	"math"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot"

	"calib/reports/figure"
)

func TestTicks(t *testing.T) {
	at := func(s string) float64 {
		v, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return float64(v.Unix())
	}
	for _, c := range []struct {
		unit   string
		log    bool
		lo, hi float64
		want   string // labels, then the unit of the axis title
	}{
		{"s", true, 1e-5, 1e-2, "10 µs,100 µs,1 ms,10 ms|"},
		{"s", true, 1e-9, 1e3, "10 ns,1 µs,100 µs,10 ms,1 s,100 s|"},
		{"s", true, 1, 1e4, "1 s,10 s,100 s,1000 s,10000 s|"},
		{"s", true, 1.2e-5, 6e-5, "20 µs,50 µs|"},
		{"s", true, 1.2e-5, 2e-5, "12 µs,14 µs,16 µs,18 µs,20 µs|"},
		{"B", true, 1, 4 << 20, "1 B,16 B,256 B,4 KiB,64 KiB,1 MiB|"},
		{"B", true, 512, 8192, "512 B,1 KiB,2 KiB,4 KiB,8 KiB|"},
		{"B", true, 1000, 1500, "1000 B,1100 B,1200 B,1300 B,1400 B,1500 B|"},
		{"B", false, 0, 1460, "0,256,512,768,1024,1280|B"},
		{"B", false, 0, 65536, "0,16,32,48,64|KiB"},
		{"s", false, 0, 2.5e-4, "0,50,100,150,200,250|µs"},
		{"s", false, 8.5951e-4, 8.5953e-4, "859.510,859.515,859.520,859.525,859.530|µs"},
		{"s", false, 0, 5000, "0,1000,2000,3000,4000,5000|s"},
		{"B/s", false, 9e7, 1.2e8, "90,95,100,105,110,115,120|MB/s"},
		{"s/B", true, 1e-7, 1e-5, "100 ns/B,1 µs/B,10 µs/B|"},
		{"1", false, 0, 1, "0.0,0.2,0.4,0.6,0.8,1.0|"},
		{"", true, 10, 1000, "10,100,1000|"},
		{"%", false, -5, 5, "-4,-2,0,2,4|%"},
		{"time", false, at("2026-03-01T00:00:00Z"), at("2026-03-05T00:00:00Z"),
			"2026-03-01,2026-03-02,2026-03-03,2026-03-04,2026-03-05|UTC"},
		{"time", false, at("2026-03-01T00:00:00Z"), at("2026-03-01T12:00:00Z"),
			"03-01 00:00,03-01 03:00,03-01 06:00,03-01 09:00,03-01 12:00|UTC, from 2026-03-01"},
		{"time", false, at("2025-11-20T00:00:00Z"), at("2026-04-02T00:00:00Z"),
			"2025-12,2026-01,2026-02,2026-03,2026-04|UTC"},
		{"time", false, at("2010-01-01T00:00:00Z"), at("2026-04-02T00:00:00Z"), "2010,2015,2020,2025|UTC"},
		{"time", false, at("2026-03-01T00:00:00Z"), at("2026-03-01T00:02:00Z"),
			"00:00:00,00:00:30,00:01:00,00:01:30,00:02:00|UTC, from 2026-03-01"},
	} {
		all, unit := ticks(figure.Axis{Unit: c.unit, Log: c.log}, c.lo, c.hi, 6)
		var at plot.Normalizer = plot.LinearScale{}
		if c.log {
			at = plot.LogScale{}
		}
		var labels []string
		for _, k := range all {
			if k.Label != "" {
				labels = append(labels, k.Label)
			}
			if v := at.Normalize(c.lo, c.hi, k.Value); v < -1e-5 || v > 1+1e-5 {
				t.Errorf("%+v: tick %v is outside", c, k)
			}
		}
		if got := strings.Join(labels, ",") + "|" + unit; got != c.want {
			t.Errorf("%s log %v, %v..%v:\ngot  %s\nwant %s", c.unit, c.log, c.lo, c.hi, got, c.want)
		}
	}
}

// A wide interval does not squash the data, a single number has an axis, and nothing at all has one too.
func TestScale(t *testing.T) {
	y := figure.Axis{Unit: "s"}
	s := newScale(y, []float64{10, 12}, []float64{-1e6, 12.5})
	if s.lo < 7.5 || s.hi < 12.5 {
		t.Errorf("wide interval: %v..%v", s.lo, s.hi)
	}
	s = newScale(y, []float64{5}, nil)
	all, _ := ticks(y, s.lo, s.hi, 5)
	if at := (plot.LinearScale{}).Normalize(s.lo, s.hi, 5); at < 0.4 || at > 0.6 || len(all) == 0 {
		t.Errorf("single number: %+v, %v", s, all)
	}
	if s := newScale(figure.Axis{Log: true}, []float64{math.NaN()}, nil); s.lo != 1 || s.hi != 10 {
		t.Errorf("nothing drawable: %+v", s)
	}
	if s := newScale(y, []float64{0, 3, 10}, nil).fromZero(); s.lo != 0 {
		t.Errorf("from zero: %v", s.lo)
	}
	if s := newScale(y, []float64{-1, 3, 10}, nil).fromZero(); s.lo >= -1 {
		t.Errorf("below zero: %v", s.lo)
	}
}
