package hosts

import (
	"fmt"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// maxName is the longest host name DNS allows.
const maxName = 253

// maxDigits keeps range numbers within 32 bits.
const maxDigits = 9

// rangeError is a fault in a range, at a byte offset from its start.
type rangeError struct {
	off int
	msg string
}

// Expand lists the hosts of a ClusterShell range, in order and each once: "node[01-03,7],gate" is node01, node02, node03,
// node7, gate. A range may have a step ("[0-8/2]") and a name several ranges ("rack[1-2]n[1-4]"). Numbers keep their
// zeros; where the first number of a range begins with one, both must have the same number of digits. It returns an error
// that says where and how to mend it, also for more than MaxHosts hosts.
func Expand(s string) ([]string, error) {
	out, err := expandRange(s)
	if err != nil {
		return nil, fmt.Errorf("host range %q, column %d: %s", s, err.off+1, err.msg)
	}
	return out, nil
}

func expandRange(s string) ([]string, *rangeError) {
	var out []string
	seen := map[string]bool{}
	off := 0
	for _, part := range splitTop(s) {
		names, err := expandOne(part, MaxHosts-len(out))
		if err != nil {
			err.off += off
			return nil, err
		}
		for _, name := range names {
			if !seen[name] {
				seen[name] = true
				out = append(out, name)
			}
		}
		off += len(part) + 1
	}
	return out, nil
}

// splitTop splits s at the commas outside brackets.
func splitTop(s string) []string {
	var out []string
	start, depth := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '[':
			depth++
		case ']':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, s[start:i])
				start = i + 1
			}
		}
	}
	return append(out, s[start:])
}

// expandOne expands one name with brackets, to at most room names.
func expandOne(s string, room int) ([]string, *rangeError) {
	braces, count, err := toBraces(s, room)
	if err != nil {
		return nil, err
	}
	word := &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: braces}}}
	syntax.SplitBraces(word)
	out := make([]string, 0, count)
	// toBraces has bounded the count, by MaxHosts where BracesSeq would stop at a quarter of it.
	//lint:ignore SA1019 Braces is deprecated for input of unknown size only
	for _, w := range expand.Braces(word) {
		name := w.Lit()
		if i := badName(name); i >= 0 {
			return nil, nameError(s, name)
		}
		out = append(out, name)
	}
	return out, nil
}

// toBraces rewrites ClusterShell brackets as brace expansions, [01-16,20] as {{01..16},20}, and counts the names.
func toBraces(s string, room int) (braces string, count int, err *rangeError) {
	var b strings.Builder
	count = 1
	for i := 0; i < len(s); {
		c := s[i]
		if c != '[' {
			if !nameByte(c) {
				return "", 0, byteError(s, i)
			}
			b.WriteByte(c)
			i++
			continue
		}
		end := strings.IndexByte(s[i:], ']')
		if end < 0 {
			return "", 0, &rangeError{i, "'[' without ']'"}
		}
		set, n, err := braceSet(s[i+1 : i+end])
		if err != nil {
			err.off += i + 1
			return "", 0, err
		}
		if n > room/count {
			return "", 0, &rangeError{i, fmt.Sprintf("more than %d hosts in all", MaxHosts)}
		}
		count *= n
		b.WriteString(set)
		i += end + 1
	}
	if count > room {
		return "", 0, &rangeError{0, fmt.Sprintf("more than %d hosts in all", MaxHosts)}
	}
	return b.String(), count, nil
}

// braceSet rewrites what stands between brackets, and counts its numbers.
func braceSet(s string) (braces string, count int, err *rangeError) {
	elems := strings.Split(s, ",")
	off := 0
	for i, e := range elems {
		brace, n, err := braceElem(e)
		if err != nil {
			err.off += off
			return "", 0, err
		}
		if count += n; count > MaxHosts {
			return "", 0, &rangeError{off, fmt.Sprintf("more than %d hosts in all", MaxHosts)}
		}
		off += len(e) + 1
		elems[i] = brace
	}
	if len(elems) == 1 { // one element in braces is no brace expansion
		return elems[0], count, nil
	}
	return "{" + strings.Join(elems, ",") + "}", count, nil
}

// braceElem rewrites one number, range, or range with a step.
func braceElem(s string) (brace string, count int, err *rangeError) {
	span, step, hasStep := strings.Cut(s, "/")
	lo, hi, isRange := strings.Cut(span, "-")
	if !isRange {
		hi = lo
	}
	if !digits(lo) || !digits(hi) || hasStep && (!isRange || !digits(step) || strings.Trim(step, "0") == "") {
		return "", 0, &rangeError{0, fmt.Sprintf("%q in brackets: want a number, 1-16 or 1-16/2", s)}
	}
	if !isRange {
		return lo, 1, nil
	}
	a, _ := strconv.Atoi(lo) // nine digits at most
	b, _ := strconv.Atoi(hi)
	by := 1
	if hasStep {
		by, _ = strconv.Atoi(step)
	}
	switch {
	case a > b:
		return "", 0, &rangeError{0, fmt.Sprintf("range %s runs backwards: write %s-%s", span, hi, lo)}
	case len(lo) != len(hi) && (zeros(lo) || zeros(hi)):
		return "", 0, &rangeError{0, fmt.Sprintf("range %s: a number with leading zeros needs as many digits at both ends: "+
			"write %0*d-%0*d, or two ranges", span, max(len(lo), len(hi)), a, max(len(lo), len(hi)), b)}
	}
	return fmt.Sprintf("{%s..%s..%d}", lo, hi, by), (b-a)/by + 1, nil
}

func digits(s string) bool {
	return s != "" && len(s) <= maxDigits && strings.Trim(s, "0123456789") == ""
}

func zeros(s string) bool { return len(s) > 1 && s[0] == '0' }

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}

// badName returns the offset of the first thing wrong with a name, or -1. A leading '-' would be read as an option by the
// command that starts the agent.
func badName(s string) int {
	if s == "" || s[0] == '-' || strings.Trim(s, "._-") == "" {
		return 0
	}
	if len(s) > maxName {
		return maxName
	}
	for i := range len(s) {
		if !nameByte(s[i]) {
			return i
		}
	}
	return -1
}

func nameError(s, name string) *rangeError {
	switch {
	case s == "":
		return &rangeError{0, "a host name is missing: delete the extra comma"}
	case len(name) > maxName:
		return &rangeError{0, fmt.Sprintf("a host name of %d bytes: the limit is %d", len(name), maxName)}
	case name[0] == '-':
		return &rangeError{0, fmt.Sprintf("%q is no host name: it begins with '-'", name)}
	}
	return &rangeError{0, fmt.Sprintf("%q is no host name: it has no letter or digit", name)}
}

func byteError(s string, i int) *rangeError {
	switch c := s[i]; c {
	case ']':
		return &rangeError{i, "']' without '['"}
	case '@', '!', '&', '^':
		return &rangeError{i, fmt.Sprintf("%q: node groups and set operators are not read here: list the hosts", c)}
	case '*', '?', '{', '}':
		return &rangeError{i, fmt.Sprintf("%q in a host name: a range is written node[01-16]", c)}
	}
	r := []rune(s[i:])[0]
	return &rangeError{i, fmt.Sprintf("%q in a host name: want letters, digits, '.', '_' and '-'", r)}
}
