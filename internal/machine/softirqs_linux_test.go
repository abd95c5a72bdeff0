package machine

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestReceiveSoftirqs(t *testing.T) {
	const text = `                    CPU0       CPU1       CPU2
          HI:          1          2          3
      NET_TX:         10         20         30
      NET_RX:     100000          0        300
`
	for _, c := range []struct {
		text string
		cpus []int
		want []int64
	}{
		{text, []int{0, 1, 2}, []int64{100_000, 0, 300}},
		{text, []int{2, 3}, []int64{300, 0}},
		{"CPU0\n HI: 1\n", []int{0}, nil},
		{"", []int{0}, nil},
	} {
		proc := t.TempDir()
		if err := os.WriteFile(filepath.Join(proc, "softirqs"), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := receiveSoftirqs(proc, c.cpus); !slices.Equal(got, c.want) {
			t.Errorf("CPUs %v of %q: %v, want %v", c.cpus, c.text, got, c.want)
		}
	}
}
