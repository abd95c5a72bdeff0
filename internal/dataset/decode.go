package dataset

import (
	"bytes"
	"strconv"
)

// parser reads lines of samples.jsonl as Append writes them, several times as fast as encoding/json and into less
// memory: equal points, ranks, counters, auxiliary values and words are kept once. It takes a line only where
// encoding/json would read the same from it; another program's line may be written otherwise, and is left to
// encoding/json. A parser is for one goroutine, its samples must not be changed.
type parser struct {
	b      []byte
	at     int
	words  map[string]string
	points known[Point]
	ranks  known[[]int]
	tcps   known[*TCP]
	auxes  known[map[string]float64]
}

func newParser() *parser {
	return &parser{words: map[string]string{}, points: known[Point]{}, ranks: known[[]int]{}, tcps: known[*TCP]{}, auxes: known[map[string]float64]{}}
}

// known are values that were read before, by their text.
type known[V any] map[string]V

// mostKnown bounds them: what differs in every line is not worth keeping.
const mostKnown = 1 << 15

// once reads a value, whose text ends with the first end, or takes it from those that were read before.
func once[V any](p *parser, before known[V], end byte, to *V, read func(*V) bool) bool {
	n := bytes.IndexByte(p.b[p.at:], end)
	if n < 0 {
		return false
	}
	text := p.b[p.at : p.at+n+1]
	if v, ok := before[string(text)]; ok {
		p.at += len(text)
		*to = v
		return true
	}
	from := p.at
	if !read(to) {
		return false
	}
	if len(before) < mostKnown && p.at == from+len(text) {
		before[string(text)] = *to
	}
	return true
}

// sample reads line into s. Where it returns false, s is not set.
func (p *parser) sample(line []byte, s *Sample) bool {
	p.b, p.at = line, 0
	var out Sample
	ok := p.is(`{"exp":`) && p.word(&out.Exp) &&
		(!p.is(`,"phase":`) || p.word(&out.Phase)) &&
		p.is(`,"point":`) && once(p, p.points, '}', &out.Point, p.point) &&
		p.is(`,"ranks":`) && once(p, p.ranks, ']', &out.Ranks, func(to *[]int) bool { return ints(p, to) }) &&
		p.is(`,"round":`) && integer(p, &out.Round) &&
		p.is(`,"slot":`) && integer(p, &out.Slot) &&
		p.is(`,"part":`) && integer(p, &out.Part) &&
		p.is(`,"parts":`) && integer(p, &out.Parts) &&
		(!p.is(`,"flags":`) || p.flags(&out.Flags)) &&
		(!p.is(`,"tcp":`) || once(p, p.tcps, '}', &out.TCP, p.tcp)) &&
		(!p.is(`,"aux":`) || once(p, p.auxes, '}', &out.Aux, p.aux)) &&
		p.is(`,"ns":`) && ints(p, &out.NS) && p.is("}") && p.at == len(line)
	if ok {
		*s = out
	}
	return ok
}

// is goes past what comes next, if it is that text.
func (p *parser) is(text string) bool {
	if len(p.b)-p.at < len(text) || string(p.b[p.at:p.at+len(text)]) != text {
		return false
	}
	p.at += len(text)
	return true
}

// quoted returns a string that is written as it is.
func (p *parser) quoted() ([]byte, bool) {
	if !p.is(`"`) {
		return nil, false
	}
	n := bytes.IndexByte(p.b[p.at:], '"')
	if n < 0 {
		return nil, false
	}
	text := p.b[p.at : p.at+n]
	for _, c := range text {
		if c < ' ' || c > '~' || c == '\\' {
			return nil, false
		}
	}
	p.at += n + 1
	return text, true
}

// word reads a string that many lines have.
func (p *parser) word(to *string) bool {
	text, ok := p.quoted()
	if !ok {
		return false
	}
	*to = p.kept(text)
	return true
}

func (p *parser) kept(text []byte) string {
	w, before := p.words[string(text)]
	if !before {
		w = string(text)
		p.words[w] = w
	}
	return w
}

func integer[T int | int64](p *parser, to *T) bool {
	i, negative := p.at, false
	if i < len(p.b) && p.b[i] == '-' {
		negative = true
		i++
	}
	from, v := i, int64(0)
	for i < len(p.b) && '0' <= p.b[i] && p.b[i] <= '9' {
		v = 10*v + int64(p.b[i]-'0')
		i++
	}
	const mostDigits = 18
	if n := i - from; n == 0 || n > mostDigits || n > 1 && p.b[from] == '0' {
		return false
	}
	if negative {
		v = -v
	}
	p.at, *to = i, T(v)
	return true
}

func ints[T int | int64](p *parser, to *[]T) bool {
	if !p.is("[") {
		return false
	}
	if p.is("]") {
		*to = []T{}
		return true
	}
	end := bytes.IndexByte(p.b[p.at:], ']')
	if end < 0 {
		return false
	}
	out := make([]T, bytes.Count(p.b[p.at:p.at+end], []byte{','})+1)
	for i := range out {
		if i > 0 && !p.is(",") || !integer(p, &out[i]) {
			return false
		}
	}
	*to = out
	return p.is("]")
}

// object reads a JSON object; value reads the value of a name.
func (p *parser) object(value func(name []byte) bool) bool {
	if !p.is("{") {
		return false
	}
	if p.is("}") {
		return true
	}
	for {
		name, ok := p.quoted()
		if !ok || !p.is(":") || !value(name) {
			return false
		}
		if p.is("}") {
			return true
		}
		if !p.is(",") {
			return false
		}
	}
}

func (p *parser) point(to *Point) bool {
	out := Point{}
	ok := p.object(func(name []byte) bool {
		var v int64
		if !integer(p, &v) {
			return false
		}
		out[string(name)] = v
		return true
	})
	*to = out
	return ok
}

func (p *parser) flags(to *[]string) bool {
	if !p.is("[") {
		return false
	}
	for {
		var f string
		if !p.word(&f) {
			return false
		}
		*to = append(*to, f)
		if p.is("]") {
			return true
		}
		if !p.is(",") {
			return false
		}
	}
}

func (p *parser) tcp(to **TCP) bool {
	out, next := &TCP{}, 0
	ok := p.object(func(name []byte) bool {
		for ; next < len(tcpFields); next++ { // in the order in which they are written: none comes twice
			f := &tcpFields[next]
			if f.name != string(name) {
				continue
			}
			next++
			if f.number != nil {
				return integer(p, f.number(out))
			}
			return p.word(f.text(out))
		}
		return false
	})
	*to = out
	return ok
}

func (p *parser) aux(to *map[string]float64) bool {
	out := map[string]float64{}
	ok := p.object(func(name []byte) bool {
		v, ok := p.float()
		if !ok {
			return false
		}
		out[p.kept(name)] = v
		return true
	})
	*to = out
	return ok
}

// float reads a number, which JSON lets begin and end with a digit.
func (p *parser) float() (float64, bool) {
	i := p.at
	digits := func() bool {
		from := i
		for i < len(p.b) && '0' <= p.b[i] && p.b[i] <= '9' {
			i++
		}
		return i > from
	}
	next := func(chars string) bool {
		if i < len(p.b) && bytes.IndexByte([]byte(chars), p.b[i]) >= 0 {
			i++
			return true
		}
		return false
	}
	next("-")
	if zero := next("0"); !zero && !digits() {
		return 0, false
	}
	if next(".") && !digits() {
		return 0, false
	}
	if next("eE") {
		next("+-")
		if !digits() {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(string(p.b[p.at:i]), 64)
	if err != nil {
		return 0, false
	}
	p.at = i
	return v, true
}
