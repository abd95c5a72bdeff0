package main

import (
	"testing"

	"calib/internal/dataset"
)

func TestVerdict(t *testing.T) {
	own := estimate{10, 9, 11}
	for want, other := range map[string]estimate{
		"within": {9.5, 9.5, 9.5}, "intervals overlap": {12, 10.5, 13}, "no: +20.0%": {12, 12, 12}, "no: -50.0%": {5, 4, 6},
	} {
		if got := (compared{own: own, other: other}).verdict(); got != want {
			t.Errorf("%v: %q, want %q", other, got, want)
		}
	}
}

// Rounds and slots of a later run come after those of the earlier, and only sizes of both are compared.
func TestOwnRuns(t *testing.T) {
	at := func(bytes int64, round, slot int) dataset.Sample {
		return dataset.Sample{Exp: "pingpong", Point: dataset.Point{"bytes": bytes}, Round: round, Slot: slot}
	}
	before := []dataset.Sample{at(1, 0, 0), at(1, 3, 7)}
	got := later([]dataset.Sample{at(2, 0, 0), at(1, 1, 2)}, before)
	if got[0].Round != 4 || got[0].Slot != 8 || got[1].Round != 5 || got[1].Slot != 10 {
		t.Errorf("%+v", got)
	}
	own := &dataset.Dataset{Samples: append(before, got...)}
	if both := sameSizes(own, &dataset.Dataset{Samples: got[:1]}); len(both.Samples) != 1 {
		t.Errorf("%+v", both.Samples)
	}
}
