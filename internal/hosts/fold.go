package hosts

import (
	"regexp"
	"strconv"
	"strings"
)

// Fold prints names in ClusterShell's compact form: node01, node02, node03, gate is "node[01-03],gate". It keeps their
// order, folding only names that follow each other, so that Expand gives back what Fold was given (each name once).
func Fold(names []string) string {
	var b strings.Builder
	for len(names) > 0 {
		pre, suf, nums := family(names)
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		if len(nums) < 2 {
			b.WriteString(names[0])
			names = names[1:]
			continue
		}
		b.WriteString(pre + "[" + foldNumbers(nums) + "]" + suf)
		names = names[len(nums):]
	}
	return b.String()
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
	var b strings.Builder
	for i := 0; i < len(nums); {
		j := i
		for j+1 < len(nums) && follows(nums[j], nums[j+1]) {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(nums[i])
		if j > i {
			b.WriteString("-" + nums[j])
		}
		i = j + 1
	}
	return b.String()
}

// follows says whether b is the number after a, printed alike.
func follows(a, b string) bool {
	x, _ := strconv.Atoi(a) // nine digits at most
	y, _ := strconv.Atoi(b)
	return y == x+1 && (len(a) == len(b) || !zeros(a) && !zeros(b))
}
