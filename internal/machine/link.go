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

const (
	NowErrors = "nic_errors"  // counters of errors that are not zero: "rx_crc_errors=3 tx_errors=1"
	NowSwitch = "switch_port" // the other end of the cable, as LLDP has it: "sw3 port 12"
)

// faulty are the names of a driver's counters that count errors: of symbols, frames, FEC.
var faulty = regexp.MustCompile(`(?i)err|crc|fec|symbol|discard`)

// harmless are those of them that grow on good links: "interrupt" has an err in it.
var harmless = regexp.MustCompile(`(?i)interrupt|deferred|override|prefer|(^|[^n])corrected`)

// errors sets how many errors an interface has seen, by the kernel and by its driver.
func (c collector) errors(env map[string]string, nic string, driver map[string]uint64) {
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
	var out []string
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		out = append(out, fmt.Sprintf("%s=%d", name, seen[name]))
	}
	set(env, nowPrefix+NowErrors, strings.Join(out, " "))
}

// SetSwitch asks LLDP for the other end of the host's cable, and sets it. Without lldpcli nothing is known. It may take
// a second.
func SetSwitch(env map[string]string) {
	nic := env["nic.name"]
	if nic == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	out, _ := exec.CommandContext(ctx, "lldpcli", "-f", "keyvalue", "show", "neighbors", "ports", nic).Output()
	set(env, nowPrefix+NowSwitch, switchPort(string(out), nic))
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
func Grown(before, after string) string {
	read := func(text string) map[string]uint64 {
		out := map[string]uint64{}
		for f := range strings.FieldsSeq(text) {
			name, value, _ := strings.Cut(f, "=")
			out[name], _ = strconv.ParseUint(value, 10, 64) // of an agent of another kind: none
		}
		return out
	}
	old, now := read(before), read(after)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if now[name] > old[name] {
			out = append(out, fmt.Sprintf("%s +%d", name, now[name]-old[name]))
		}
	}
	return strings.Join(out, ", ")
}
