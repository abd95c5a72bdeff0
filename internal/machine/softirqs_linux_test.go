package machine

import (
	"slices"
	"testing"
)

func TestReceiveSoftirqs(t *testing.T) {
	const text = `                    CPU0       CPU2       CPU3
          HI:          1          2          3
      NET_TX:         10         20         30
      NET_RX:     100000          0        300
`
	for _, c := range []struct {
		text string
		cpus []int
		want []int64
	}{
		{text, []int{0, 2, 3}, []int64{100_000, 0, 300}},
		{text, []int{3, 1}, []int64{300, 0}},
		{"CPU0\n HI: 1\n", []int{0}, nil},
		{"", []int{0}, nil},
	} {
		if got := receiveSoftirqs(c.text, c.cpus); !slices.Equal(got, c.want) {
			t.Errorf("CPUs %v of %q: %v, want %v", c.cpus, c.text, got, c.want)
		}
	}
}
