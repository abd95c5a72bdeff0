package machine

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// faulty are the names of a driver's counters that count errors: of symbols, frames, FEC.
var faulty = regexp.MustCompile(`(?i)err|crc|fec|symbol|discard`)

// harmless are those of them that grow on good links: "interrupt" has an err in it.
var harmless = regexp.MustCompile(`(?i)interrupt|deferred|override|prefer|(^|[^n])corrected`)

// errors are the errors that an interface has seen, by the kernel and by its driver: counters of both, without zeros.
func (c collector) errors(nic string, driver map[string]uint64) map[string]uint64 {
	seen := map[string]uint64{}
	for name, n := range driver {
		if n > 0 && faulty.MatchString(name) && !harmless.MatchString(name) {
			seen[name] = n
		}
	}
	counters, _ := fs.Glob(c.root, "sys/class/net/"+nic+"/statistics/*errors") // the pattern is good
	for _, file := range counters {
		if n, err := strconv.ParseUint(c.read(file), 10, 64); err == nil && n > 0 {
			seen[path.Base(file)] = n
		}
	}
	return seen
}

// Switch asks LLDP for the other end of the cable of an interface. Without lldpcli nothing is known. It may take a
// second.
func Switch(nic string) string {
	if nic == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	out, _ := exec.CommandContext(ctx, "lldpcli", "-f", "keyvalue", "show", "neighbors", "ports", nic).Output()
	return switchPort(string(out), nic)
}

func switchPort(text, nic string) string {
	says := map[string]string{}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			says[strings.TrimPrefix(key, "lldp."+nic+".")] = value
		}
	}
	for _, port := range []string{says["port.ifname"], says["port.local"], says["port.descr"]} {
		if says["chassis.name"] != "" && port != "" {
			return says["chassis.name"] + " port " + port
		}
	}
	return ""
}

// Grown says which counters of errors grew between two times, and by how much.
func Grown(before, after map[string]uint64) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if n := after[name]; n > before[name] {
			out = append(out, fmt.Sprintf("%s +%d", name, n-before[name]))
		}
	}
	return strings.Join(out, ", ")
}
