package hosts

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestExpand(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"gate", "gate"},
		{"node[01-03,20]", "node01 node02 node03 node20"},
		{"node[9-11]", "node9 node10 node11"},
		{"node[009-011]", "node009 node010 node011"},
		{"node[0-10/5]", "node0 node5 node10"},
		{"n[1-8/3]", "n1 n4 n7"},
		{"n[5]", "n5"},
		{"n[5-5]", "n5"},
		{"n[007]", "n007"},
		{"n[099-1000/450]", "n099 n549 n999"},
		{"n[0999-1000]", "n0999 n1000"},
		{"n[1,01,001]", "n1 n01 n001"},
		{"r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2"},
		{"a,b[1-2],c", "a b1 b2 c"},
		{"a,a,b[1-2],b2", "a b1 b2"},
		{"n[3,1,2,1]", "n3 n1 n2"},
		{"[1-2].example.org", "1.example.org 2.example.org"},
		{"a..b", "a..b"},
		{"10.0.0.[1-2]", "10.0.0.1 10.0.0.2"},
		{"_x-[98-101]_", "_x-98_ _x-99_ _x-100_ _x-101_"},
	} {
		got, err := Expand(c.in)
		if s := strings.Join(got, " "); err != nil || s != c.want {
			t.Errorf("Expand(%q) = %q, %v; want %q", c.in, s, err, c.want)
		}
	}
}

func TestExpandFaults(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", `column 1: a host name is missing`},
		{"a,,b", `column 3: a host name is missing`},
		{"a,", `column 3: a host name is missing`},
		{"n[1-2", `column 2: '[' without ']'`},
		{"n1-2]", `column 5: ']' in a host name`},
		{"n[1-2]]", `column 7: ']' in a host name`},
		{"n[[1-2]]", `column 3: "[1-2" in brackets: want a number, 1-16 or 1-16/2`},
		{"n[]", `column 3: "" in brackets: want a number, 1-16 or 1-16/2`},
		{"n[1,]", `column 5: "" in brackets`},
		{"n[a-c]", `column 3: "a-c" in brackets`},
		{"n[1-2-3]", `column 3: "1-2-3" in brackets`},
		{"n[-1-3]", `column 3: "-1-3" in brackets`},
		{"n[1-9/0]", `column 3: "1-9/0" in brackets`},
		{"n[1/2]", `column 3: "1/2" in brackets`},
		{"n[1..3]", `column 3: "1..3" in brackets`},
		{"n[1-1234567890]", `column 3: "1-1234567890" in brackets`},
		{"n[1,9-3]", `column 5: range 9-3 runs backwards: write 3-9`},
		{"n[001-99]", `column 3: range 001-99: a number with leading zeros needs as many digits at both ends: write 001-099`},
		{"n[1-05]", `column 3: range 1-05: a number with leading zeros`},
		{"n{1,2}", `column 2: '{' in a host name: want letters, digits, '.', '_' and '-', and ranges as in node[01-16]`},
		{"n*", `column 2: '*' in a host name`},
		{"@racks", `column 1: '@' in a host name`},
		{"a;reboot", `column 2: ';' in a host name: want letters, digits, '.', '_' and '-'`},
		{"nöde", `column 2: 'ö' in a host name`},
		{"-v", `column 1: "-v" is no host name: it begins with '-'`},
		{"a,-v[1-2]", `column 3: "-v1" is no host name: it begins with '-'`},
		{"..", `column 1: ".." is no host name: it has no letter or digit`},
		{strings.Repeat("x", 254), `column 1: a host name of 254 bytes: the limit is 253`},
		{"n[1-65537]", `column 3: more than 65536 hosts in all`},
		{"n[1-300]m[1-300]", `column 10: more than 65536 hosts in all`},
		{"n[1-40000],m[1-40000]", `column 13: more than 65536 hosts in all`},
		{"n[1-999999999]m[1-999999999]", `more than 65536 hosts in all`},
	} {
		got, err := Expand(c.in)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Expand(%.40q) = %d hosts, %v; want %s", c.in, len(got), err, c.want)
		}
	}
}

func TestExpandLimit(t *testing.T) {
	got, err := Expand("n[1-65536]")
	if err != nil || len(got) != MaxHosts || got[MaxHosts-1] != "n65536" {
		t.Fatalf("%d hosts, %v", len(got), err)
	}
	if s := Fold(got); s != "n[1-65536]" {
		t.Errorf("folded: %.60s", s)
	}
}

func TestFold(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"a", "a"},
		{"node01 node02 node03 node20", "node[01-03,20]"},
		{"n8 n9 n10 n11", "n[8-11]"},
		{"n08 n09 n10", "n[08-10]"},
		{"n09 n10 n99 n100", "n[09-10,99-100]"},
		{"n1 n01", "n[1,01]"},
		{"n3 n1 n2", "n[3,1-2]"},
		{"r1n1 r1n2 r2n1 r2n2", "r1n[1-2],r2n[1-2]"},
		{"node01-ib0 node02-ib0", "node[01-02]-ib0"},
		{"b a1 a2 c", "b,a[1-2],c"},
		{"x1234567890 x1234567891", "x1234567890,x1234567891"},
		{"10.0.0.1 10.0.0.2", "10.0.0.[1-2]"},
	} {
		if got := Fold(strings.Fields(c.in)); got != c.want {
			t.Errorf("Fold(%s) = %s, want %s", c.in, got, c.want)
		}
	}
}

// TestExpandFold: Fold loses nothing, for names that resemble those of a cluster, in any order.
func TestExpandFold(t *testing.T) {
	name := rapid.StringMatching(`[a-c]{0,1}[0-9]{1,3}([.-][a-b][0-9]{0,2}){0,2}`)
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(name, 1, 40, rapid.ID[string]).Draw(t, "names")
		if rapid.Bool().Draw(t, "sorted") {
			slices.Sort(names)
		}
		folded := Fold(names)
		got, err := Expand(folded)
		if err != nil || !slices.Equal(got, names) {
			t.Fatalf("Fold(%q) = %s, which expands to %q, %v", names, folded, got, err)
		}
	})
}

// TestFoldExpand: an arbitrary range comes back as the same hosts.
func TestFoldExpand(t *testing.T) {
	text := rapid.StringMatching(`(n\[[0-9]{1,2}(-[0-9]{1,2}(/[1-4])?)?(,[0-9]{1,3})?\]x?|h[0-9]|a\[1-3\]b\[08-10\])(,q[1-4]){0,3}`)
	rapid.Check(t, func(t *rapid.T) {
		in := text.Draw(t, "range")
		names, err := Expand(in)
		if err != nil {
			return // not every text of this shape is a range: 9-1
		}
		got, err := Expand(Fold(names))
		if err != nil || !slices.Equal(got, names) {
			t.Fatalf("%s: %q came back from %s as %q, %v", in, names, Fold(names), got, err)
		}
	})
}

func FuzzExpand(f *testing.F) {
	for _, s := range []string{"node[01-16,20]", "a,b[1-2]", "n[1-9/3]m[2]", "[", "]", "n[1-99999]n[1-99999]", "{1..9}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		names, err := Expand(s)
		if err != nil {
			return
		}
		if len(names) == 0 || len(names) > MaxHosts {
			t.Fatalf("%d names", len(names))
		}
		for _, n := range names {
			if !validName(n) {
				t.Fatalf("name %q", n)
			}
		}
		back, err := Expand(Fold(names))
		if err != nil || !slices.Equal(back, names) {
			t.Fatalf("%d names came back as %d, %v", len(names), len(back), err)
		}
	})
}
