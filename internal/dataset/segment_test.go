package dataset

import "testing"

func TestSegmentOfHosts(t *testing.T) {
	host := func(s string) Host { return Host{Env: map[string]string{FactSegment: s}} }
	if s, missing := Segment([]Host{host("8948"), host("1448"), host("8948")}); s != 1448 || missing != -1 {
		t.Errorf("%d, %d", s, missing)
	}
	if s, missing := Segment([]Host{host("8948"), {}}); s != 0 || missing != 1 {
		t.Errorf("%d, %d", s, missing)
	}
}
