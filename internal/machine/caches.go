package machine

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"calib/internal/units"
)

// dataCaches reads the sizes of a processor's data and unified caches, by level, from Linux's description of the
// processors (/sys/devices/system/cpu). A cache that it does not describe, as in many virtual machines, is left out.
func dataCaches(sys fs.FS, cpu int) []units.Bytes {
	type cache struct {
		level int
		size  units.Bytes
	}
	dirs, err := fs.Glob(sys, fmt.Sprintf("cpu%d/cache/index*", cpu))
	if err != nil { // of the pattern, which is a good one
		return nil
	}
	var found []cache
	for _, dir := range dirs {
		level, err := strconv.Atoi(word(sys, dir+"/level"))
		kind, size := word(sys, dir+"/type"), cacheSize(word(sys, dir+"/size"))
		if err == nil && size > 0 && (kind == "Data" || kind == "Unified") {
			found = append(found, cache{level, size})
		}
	}
	slices.SortStableFunc(found, func(a, b cache) int { return a.level - b.level })
	var sizes []units.Bytes
	for _, c := range found {
		sizes = append(sizes, c.size)
	}
	return sizes
}

func word(sys fs.FS, path string) string {
	text, err := fs.ReadFile(sys, path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// cacheSize reads sizes such as 48K and 32M; 0 is none.
func cacheSize(s string) units.Bytes {
	unit := units.Bytes(1)
	for i, suffix := range []string{"K", "M", "G"} {
		if digits, ok := strings.CutSuffix(s, suffix); ok {
			s, unit = digits, 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return units.Bytes(n) * unit
}
