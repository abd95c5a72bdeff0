package machine

import (
	"testing"
	"testing/fstest"

	"calib/internal/units"

	"github.com/google/go-cmp/cmp"
)

// describe makes the files of one cache.
func describe(sys fstest.MapFS, dir, level, kind, size string) {
	for name, text := range map[string]string{"level": level, "type": kind, "size": size} {
		sys[dir+"/"+name] = &fstest.MapFile{Data: []byte(text + "\n")}
	}
}

func TestDataCaches(t *testing.T) {
	const kib, mib = units.Bytes(1) << 10, units.Bytes(1) << 20
	usual := fstest.MapFS{}
	describe(usual, "cpu3/cache/index0", "3", "Unified", "32M") // levels in no order
	describe(usual, "cpu3/cache/index1", "1", "Instruction", "32K")
	describe(usual, "cpu3/cache/index2", "1", "Data", "48K")
	describe(usual, "cpu3/cache/index3", "2", "Unified", "2048K")
	describe(usual, "cpu0/cache/index0", "1", "Data", "16K") // another processor's
	odd := fstest.MapFS{}
	describe(odd, "cpu0/cache/index0", "1", "Data", "")
	describe(odd, "cpu0/cache/index1", "one", "Data", "32K")
	describe(odd, "cpu0/cache/index2", "2", "Unified", "-4K")
	describe(odd, "cpu0/cache/index3", "2", "Unified", "lots")
	describe(odd, "cpu0/cache/index4", "3", "Unified", "12345")
	odd["cpu0/cache/index5/level"] = &fstest.MapFile{Data: []byte("4\n")}
	for _, c := range []struct {
		name string
		sys  fstest.MapFS
		cpu  int
		want []units.Bytes
	}{
		{"three levels", usual, 3, []units.Bytes{48 * kib, 2 * mib, 32 * mib}},
		{"another processor", usual, 0, []units.Bytes{16 * kib}},
		{"a processor that is not described", usual, 7, nil},
		{"nothing said", fstest.MapFS{}, 0, nil},
		{"what cannot be read is left out", odd, 0, []units.Bytes{12345}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, dataCaches(c.sys, c.cpu)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
