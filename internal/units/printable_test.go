package units

import (
	"bytes"
	"strings"
	"testing"
)

func TestWriter(t *testing.T) {
	for in, want := range map[string]string{
		"plain µ×│ 生\t\r\nline\n":                     "plain µ×│ 生\t\r\nline\n",
		"h\x1b[31mX\x1b]0;t\a\r1\x7f":                 "h·[31mX·]0;t··1·",
		"c1 \u009b2J\u0085 \x9b2J":                    "c1 ·2J· \uFFFD2J",
		"bidi \u202eab\u202c\u2066\u200f\u061c\u2028": "bidi ·ab·····",
	} {
		for size := 1; size <= len(in); size++ { // wherever the text is cut into writes
			var b bytes.Buffer
			w := &PrintableWriter{To: &b}
			for rest := in; rest != ""; rest = rest[min(size, len(rest)):] {
				if n, err := w.Write([]byte(rest[:min(size, len(rest))])); err != nil || n != min(size, len(rest)) {
					t.Fatal(n, err)
				}
			}
			if b.String() != want {
				t.Errorf("%q in pieces of %d: %q, want %q", in, size, b.String(), want)
			}
		}
		if got, one := OneLine(in), strings.NewReplacer("\r\n", "· ", "\n", " ", "\t", " ").Replace(want); got != one {
			t.Errorf("%q as a line: %q, want %q", in, got, one)
		}
	}
	var b bytes.Buffer
	if RawWriter(&PrintableWriter{To: &b}) != &b || RawWriter(&b) != &b {
		t.Error("Raw is not what is written to")
	}
}
