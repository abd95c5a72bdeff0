package hosts

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"calib/internal/lists"
	"calib/internal/units"
)

// setting is one key a line may have: set stores its value and returns a fault as text, "" if there is none.
type setting struct {
	key string
	set func(h *Host, value string) string
}

var settings = []setting{
	{"addr", setAddr},
	{"port", func(h *Host, v string) (msg string) { h.Port, msg = parsePort(v); return msg }},
	{"user", func(h *Host, v string) string {
		h.User = v
		return want(validName(v), "user=%s: want letters, digits, '.', '_' and '-', not beginning with '-'", v)
	}},
	{"cpu", func(h *Host, v string) string {
		h.CPU = v
		_, err := units.ParseSet(v)
		return want(err == nil || v == FreeCPU, "cpu=%s: want CPU numbers from 0, such as 2 or 0-3,8, or none", v)
	}},
	{"arch", func(h *Host, v string) string {
		h.Arch = v
		return want(strings.Trim(v, "abcdefghijklmnopqrstuvwxyz0123456789_") == "",
			"arch=%s: want Go's name of it, such as amd64, arm64 or riscv64", v)
	}},
	{"slots", func(*Host, string) string { return "" }},
}

// want is the fault of a value that is not ok, "" of one that is.
func want(ok bool, format, value string) string {
	if ok {
		return ""
	}
	return fmt.Sprintf(format, value)
}

// settings reads the key=value words of a line into h and returns the column of each key.
func (p *parser) settings(n int, h *Host, fs []field) map[string]int {
	cols := map[string]int{}
	for _, f := range fs {
		key, value, ok := strings.Cut(f.text, "=")
		if !ok {
			p.fail(n, f.col, "%q is no key=value setting: a second host goes on a line of its own", f.text)
			continue
		}
		i := slices.IndexFunc(settings, func(s setting) bool { return s.key == key })
		switch {
		case i < 0:
			p.fail(n, f.col, "unknown setting %q: %s", key, suggest(key))
		case cols[key] > 0:
			p.fail(n, f.col, "duplicate setting %s=: delete one of them", key)
		case value == "":
			p.fail(n, f.col, "%s= has no value: write %s=VALUE without spaces, or delete it", key, key)
		default:
			if msg := settings[i].set(h, value); msg != "" {
				p.fail(n, f.col+len(key)+1, "%s", msg)
			}
			if key == "slots" && len(p.notes) == 0 { // the only note there is
				p.notes = append(p.notes, p.at(n, f.col)+"slots= is ignored: calib runs one agent on a host")
			}
			cols[key] = f.col
		}
	}
	return cols
}

func setAddr(h *Host, v string) string {
	a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(v, "["), "]"))
	switch {
	case err != nil:
		if ap, err := netip.ParseAddrPort(v); err == nil {
			return fmt.Sprintf("addr=%s holds a port: write addr=%s port=%d", v, ap.Addr(), ap.Port())
		}
		return fmt.Sprintf("addr=%s: want an IPv4 or IPv6 address, such as 10.0.0.1 or fd00::1", v)
	case a.IsUnspecified() || a.IsMulticast():
		return fmt.Sprintf("addr=%s: peers cannot dial it; give the host's own address", v)
	}
	h.Addr = a.String()
	return ""
}

// FreeCPU is the cpu= of a host whose timing thread may run on any CPU.
const FreeCPU = "none"

// MayPin reports whether the timing thread may be pinned to the CPU of that number.
func (h Host) MayPin(cpu string) bool {
	list, _ := units.ParseSet(h.CPU) // that it can be read was seen before
	n, err := strconv.Atoi(cpu)
	return err == nil && (h.CPU == "" || slices.Contains(list, n))
}

// suggest names the known key that is near key, or all of them.
func suggest(key string) string {
	names := lists.Map(settings, func(s setting) string { return s.key })
	if near := lists.Nearest(strings.ToLower(key), names); near != "" {
		return fmt.Sprintf("did you mean %s=?", near)
	}
	return "the settings are " + strings.Join(names, ", ")
}
