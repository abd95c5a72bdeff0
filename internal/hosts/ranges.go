package hosts

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"calib/internal/lists"
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

// Expand lists the hosts of a ClusterShell range, in order and each once: "node[01-03,7],gate" is node01, node02,
// node03, node7, gate. A range may have a step ("[0-8/2]") and a name several ranges ("rack[1-2]n[1-4]"). Numbers keep
// their zeros: "[08-100]" is 08, 09, 10 and so on to 100, as Slurm means it. It returns an error that says where and
// how to mend it, also for more than MaxHosts hosts.
func Expand(s string) ([]string, error) {
	out, err := expandRange(s)
	if err != nil {
		return nil, fmt.Errorf("host range %q, column %d: %s", s, err.off+1, err.msg)
	}
	return out, nil
}

// part is what stands between commas outside brackets.
var part = regexp.MustCompile(`(\[[^\]]*\]?|[^,[])*`)

func expandRange(s string) ([]string, *rangeError) {
	var out []string
	seen := map[string]bool{}
	for _, at := range part.FindAllStringIndex(s, -1) {
		names, err := expandOne(s[at[0]:at[1]], MaxHosts-len(out))
		if err != nil {
			err.off += at[0]
			return nil, err
		}
		for _, name := range names {
			if !seen[name] {
				seen[name] = true
				out = append(out, name)
			}
		}
	}
	return out, nil
}

// expandOne expands one name with brackets, to at most room names.
func expandOne(s string, room int) ([]string, *rangeError) {
	out := []string{""}
	for i, end := 0, 0; i < len(s); i = end {
		if s[i] != '[' {
			end = i + strings.IndexByte(s[i:]+"[", '[')
			if bad := badRune(s[i:end]); bad >= 0 {
				return nil, runeError(s, i+bad)
			}
			out = product(out, []string{s[i:end]})
			continue
		}
		n := strings.IndexByte(s[i:], ']')
		if n < 0 {
			return nil, &rangeError{i, "'[' without ']'"}
		}
		end = i + n + 1
		numbers, err := expandSet(s[i+1 : end-1])
		if err != nil {
			err.off += i + 1
			return nil, err
		}
		if len(numbers) > room/len(out) {
			return nil, tooMany(i)
		}
		out = product(out, numbers)
	}
	if len(out) > room {
		return nil, tooMany(0)
	}
	for _, name := range out {
		if msg := nameFault(name); msg != "" {
			return nil, &rangeError{0, msg}
		}
	}
	return out, nil
}

// product joins each head with each tail, the tails of the first head first.
func product(heads, tails []string) []string {
	return lists.Flat(heads, func(h string) []string {
		return lists.Map(tails, func(t string) string { return h + t })
	})
}

func tooMany(off int) *rangeError {
	return &rangeError{off, fmt.Sprintf("more than %d hosts in all", MaxHosts)}
}

// oneRange is a number, a range of them, or a range with a step.
var oneRange = regexp.MustCompile(`^([0-9]{1,9})(?:-([0-9]{1,9})(?:/([0-9]{1,9}))?)?$`)

// expandSet lists the numbers of what stands between brackets.
func expandSet(s string) ([]string, *rangeError) {
	var out []string
	off := 0
	for e := range strings.SplitSeq(s, ",") {
		fail := func(format string, args ...any) ([]string, *rangeError) {
			return nil, &rangeError{off, fmt.Sprintf(format, args...)}
		}
		m := oneRange.FindStringSubmatch(e)
		if m == nil || m[3] != "" && strings.Trim(m[3], "0") == "" {
			return fail("%q in brackets: want a number, 1-16 or 1-16/2", e)
		}
		lo, hi := m[1], cmp.Or(m[2], m[1])
		first, _ := strconv.Atoi(lo) // nine digits at most
		last, _ := strconv.Atoi(hi)
		step, _ := strconv.Atoi(cmp.Or(m[3], "1"))
		switch most := max(len(lo), len(hi)); {
		case first > last:
			return fail("range %s-%s runs backwards: write %s-%s", lo, hi, hi, lo)
		case zeros(hi) && len(lo) != len(hi) || zeros(lo) && len(lo) > len(hi):
			return fail("range %s-%s: a number with leading zeros needs as many digits at both ends: write %0*d-%0*d, or "+
				"two ranges", lo, hi, most, first, most, last)
		case len(out)+(last-first)/step+1 > MaxHosts:
			return nil, tooMany(off)
		}
		for n := first; n <= last; n += step {
			out = append(out, fmt.Sprintf("%0*d", len(lo), n))
		}
		off += len(e) + 1
	}
	return out, nil
}

func digits(s string) bool {
	return s != "" && len(s) <= maxDigits && strings.Trim(s, "0123456789") == ""
}

func zeros(s string) bool { return len(s) > 1 && s[0] == '0' }

// badRune returns the offset of the first character that no name can have, or -1.
func badRune(s string) int {
	return strings.IndexFunc(s, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-')
	})
}

// nameFault says what is wrong with a name of good characters, "" if nothing is. A leading '-' would be read as an
// option by the command that starts the agent.
func nameFault(s string) string {
	switch {
	case s == "":
		return "a host name is missing: delete the extra comma"
	case len(s) > maxName:
		return fmt.Sprintf("a host name of %d bytes: the limit is %d", len(s), maxName)
	case s[0] == '-':
		return fmt.Sprintf("%q is no host name: it begins with '-'", s)
	case strings.Trim(s, "._-") == "":
		return fmt.Sprintf("%q is no host name: it has no letter or digit", s)
	}
	return ""
}

func validName(s string) bool { return badRune(s) < 0 && nameFault(s) == "" }

func runeError(s string, i int) *rangeError {
	r := []rune(s[i:])[0]
	return &rangeError{i, fmt.Sprintf("%q in a host name: want letters, digits, '.', '_' and '-', and ranges as in "+
		"node[01-16]", r)}
}

// Fold prints names in ClusterShell's compact form: node01, node02, node03, gate is "node[01-03],gate". It keeps their
// order, folding only names that follow each other, so that Expand gives back what Fold was given (each name once).
func Fold(names []string) string {
	var parts []string
	for len(names) > 0 {
		n, folded := 1, names[0]
		if pre, suf, nums := family(names); len(nums) > 1 {
			n, folded = len(nums), pre+"["+foldNumbers(nums)+"]"+suf
		}
		parts, names = append(parts, folded), names[n:]
	}
	return strings.Join(parts, ",")
}

// family finds the longest run of names from the first that differ in one number only, and returns that number in each.
func family(names []string) (pre, suf string, nums []string) {
	for _, span := range number.FindAllStringIndex(names[0], -1) {
		if span[1]-span[0] > maxDigits {
			continue // no range can hold it
		}
		p, s := names[0][:span[0]], names[0][span[1]:]
		n := []string{names[0][span[0]:span[1]]}
		for _, name := range names[1:] {
			mid, ok := strings.CutPrefix(name, p)
			if ok {
				mid, ok = strings.CutSuffix(mid, s)
			}
			if !ok || !digits(mid) {
				break
			}
			n = append(n, mid)
		}
		if len(n) > len(nums) {
			pre, suf, nums = p, s, n
		}
	}
	return pre, suf, nums
}

var number = regexp.MustCompile("[0-9]+")

// foldNumbers joins numbers, successive ones as ranges.
func foldNumbers(nums []string) string {
	var parts []string
	for len(nums) > 0 {
		n, folded := 1, nums[0]
		for n < len(nums) && follows(nums[n-1], nums[n]) {
			n++
		}
		if n > 1 {
			folded += "-" + nums[n-1]
		}
		parts, nums = append(parts, folded), nums[n:]
	}
	return strings.Join(parts, ",")
}

// follows says whether b is the number after a, printed alike.
func follows(a, b string) bool {
	x, _ := strconv.Atoi(a) // nine digits at most
	y, _ := strconv.Atoi(b)
	return y == x+1 && (len(a) == len(b) || !zeros(a) && !zeros(b))
}
