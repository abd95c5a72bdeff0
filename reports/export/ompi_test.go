package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rules are choices of every kind: for neighbouring and distant numbers of ranks, with segments and a fan-out, and with
// none.
func rules() []Rules {
	find := func(name string) Collective {
		c, err := findCollective(name)
		if err != nil {
			panic(err)
		}
		return c
	}
	return []Rules{
		{Collective: find("allreduce"), Ranks: 16, Until: 127, Rules: []Rule{{Bytes: 64}}},
		{Collective: find("bcast"), Ranks: 4, Until: 131071, Rules: []Rule{
			{Bytes: 64, Note: "the default is the fastest"},
			{Bytes: 1024, Algorithm: 3, Segment: 1024, Note: "1 s instead of 2 s"},
			{Bytes: 65536, Algorithm: 2, Fanout: 4, Segment: 8192}}},
		{Collective: find("bcast"), Ranks: 5, Until: 2047,
			Rules: []Rule{{Bytes: 64, Algorithm: 7}, {Bytes: 128, Algorithm: 7}, {Bytes: 1024, Note: "not\nsure"}}},
		{Collective: find("gather"), Ranks: 8, Until: 16383, Rules: []Rule{{Bytes: 0, Algorithm: 1}, {Bytes: 8192}}},
	}
}

// said is what a file says of messages: the algorithm, the fan-out and the segment.
type said [3]int

// want is what the rules say.
func want(in *input, id, ranks, bytes int) said {
	for _, of := range in.Rules {
		if of.Collective.ID != id || of.Ranks != ranks || bytes > of.Until {
			continue
		}
		for _, r := range slices.Backward(of.Rules) {
			if bytes >= r.Bytes {
				return said{r.Algorithm, r.Fanout, r.Segment}
			}
		}
	}
	return said{}
}

// ask compares what a file says of every collective, number of ranks and size near those of the rules with what they
// say.
func ask(in *input, says func(id, ranks, bytes int) said) error {
	for _, c := range Collectives() {
		for ranks := 2; ranks < 20; ranks++ {
			for bits := range 22 {
				for _, bytes := range []int{0, 1<<bits - 1, 1 << bits, 1<<bits + 1} {
					got, want := says(c.ID, ranks, bytes), want(in, c.ID, ranks, bytes)
					if got[0] != want[0] || want[0] != 0 && got != want {
						return fmt.Errorf("%s of %d bytes on %d ranks: %v, want %v: %w", c.Name, bytes, ranks, got, want, errMismatch)
					}
				}
			}
		}
	}
	return nil
}

// classic is a classic file as Open MPI 4 and 5 read it.
type classic map[int][]classicRanks

type classicRanks struct {
	ranks int
	rows  []classicRow
}

type classicRow struct {
	bytes int
	said  said
}

// readClassic reads numbers as ompi_coll_base_file_getnext_long does, and checks what the reader of coll/tuned does.
func readClassic(file []byte) (classic, error) {
	var numbers []int
	for line := range strings.Lines(string(file)) {
		line, _, _ = strings.Cut(line, "#")
		for _, f := range strings.Fields(line) {
			n, err := strconv.ParseInt(f, 10, 32)
			if err != nil || n < 0 {
				return nil, syntax("%q is no number", f)
			}
			numbers = append(numbers, int(n))
		}
	}
	short := false
	next := func() int {
		if len(numbers) == 0 {
			short = true
			return 0
		}
		n := numbers[0]
		numbers = numbers[1:]
		return n
	}
	out := classic{}
	const collectives = 22
	for range min(next(), collectives+1) {
		id := next()
		if id >= collectives {
			return nil, syntax("collective %d", id)
		}
		out[id] = nil
		for range next() {
			of := classicRanks{ranks: next()}
			for i := range next() {
				row := classicRow{next(), said{next(), next(), next()}}
				if i == 0 && row.bytes != 0 {
					return nil, syntax("the first message size is %d, want 0", row.bytes)
				}
				if short {
					return nil, syntax("the file ends before its rules do")
				}
				of.rows = append(of.rows, row)
			}
			if short {
				return nil, syntax("the file ends before its rules do")
			}
			out[id] = append(out[id], of)
		}
	}
	if short || len(numbers) > 0 {
		return nil, syntax("%d numbers too many, or too few", len(numbers))
	}
	return out, nil
}

// says looks up as ompi_coll_tuned_get_com_rule_ptr and ompi_coll_tuned_get_target_method_params do.
func (c classic) says(id, ranks, bytes int) said {
	if len(c[id]) == 0 {
		return said{}
	}
	best := c[id][0]
	for _, of := range c[id] {
		if of.ranks > ranks {
			break
		}
		best = of
	}
	var out said
	for i, row := range best.rows {
		if i > 0 && row.bytes > bytes {
			break
		}
		out = row.said
	}
	return out
}

func checkOmpi(file []byte, in *input) error {
	c, err := readClassic(file)
	if err != nil {
		return err
	}
	return ask(in, c.says)
}

func checkOmpiJSON(file []byte, in *input) error {
	says, err := readOmpiJSON(file)
	if err != nil {
		return err
	}
	return ask(in, says)
}

// readOmpiJSON reads a file as Open MPI 6 does, for communicators of one rank on a node.
func readOmpiJSON(file []byte) (func(id, ranks, bytes int) said, error) {
	d := json.NewDecoder(bytes.NewReader(file))
	d.DisallowUnknownFields()
	var f ompiRules
	if err := d.Decode(&f); err != nil {
		return nil, syntax("%v", err)
	}
	if f.Version != 3 || f.Module != "tuned" || f.Collectives == nil {
		return nil, syntax("version %d of module %q", f.Version, f.Module)
	}
	numbers := map[int]map[string]int{}
	for name, lists := range f.Collectives {
		c, err := findCollective(name)
		if err != nil {
			return nil, syntax("%v", err)
		}
		numbers[c.ID] = map[string]int{}
		for _, of := range lists {
			for _, r := range of.Rules {
				n := slices.Index(c.Algorithms, r.Algorithm)
				if n < 1 {
					return nil, syntax("%s has no algorithm %q", name, r.Algorithm)
				}
				numbers[c.ID][r.Algorithm] = n
			}
		}
	}
	return func(id, ranks, bytes int) said {
		for name, lists := range f.Collectives {
			if c, err := findCollective(name); err != nil || c.ID != id {
				continue
			}
			for _, of := range lists {
				if ranks < of.Min || ranks > of.Max {
					continue
				}
				for _, r := range of.Rules {
					if bytes >= r.Min && bytes <= r.Max {
						return said{numbers[id][r.Algorithm], r.Fanout, r.Segment}
					}
				}
				break // the first list that fits is taken
			}
		}
		return said{}
	}, nil
}

// FuzzClassic: no text makes the reader of these tests fail otherwise than by an error, and what it accepts it can look
// up.
func FuzzClassic(f *testing.F) {
	file, _, err := lookup(f, "ompi").Export(fixture(), Options{Rules: rules()})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	f.Add([]byte("1 7 1 0 1 0 6 0 1024 # one rule"))
	f.Add([]byte("1\n7 1\n2 1\n64 1 0 0\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := readClassic(text)
		if err != nil {
			if !errors.Is(err, errSyntax) {
				t.Fatal(err)
			}
			return
		}
		for id := range c {
			if got := c.says(id, 8, math.MaxInt32); got[0] < 0 {
				t.Errorf("collective %d: %v", id, got)
			}
		}
	})
}
