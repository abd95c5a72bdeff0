package yaml

import (
	"reflect"
	"strings"
	"testing"
)

// A fault says where it is, what stands there and what belongs there, and no word of Go's.
func TestFaults(t *testing.T) {
	for text, want := range map[string]string{
		"size: fast":     "[1:7] \"fast\" where a number belongs\n",
		"part: 1\non: 3": "[2:5] \"3\" where true or false belongs\n",
		"count: 1e99":    "[1:8] 1e99 where a whole number from 0 on belongs\n",
		"size: 1\nx: 1":  "[2:1] unknown field \"x\"\n",
		"size: [":        "[1:7] sequence end token ']' not found\n",
	} {
		err := Decode([]byte(text), &struct {
			Size  float64 `yaml:"size"`
			Part  int     `yaml:"part"`
			Count uint64  `yaml:"count"`
			On    bool    `yaml:"on"`
		}{})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if err := Decode([]byte("a: b: "+strings.Repeat("x", 1<<16)), new(any)); err == nil || len(err.Error()) > 100 {
		t.Errorf("a long line is shown: %.100v", err)
	}
}

// What would take the library minutes is refused before it begins.
func TestDepth(t *testing.T) {
	const n = 100_000
	for text, want := range map[string]string{
		strings.Repeat("[", n):                       "[1:101] nested deeper than 100",
		strings.Repeat("[#]\n", n):                   "[101:1] nested deeper than 100",
		"a: " + strings.Repeat("{b: ", n):            " nested deeper than 100",
		strings.Repeat("- ", n) + "x":                "[1:201] nested deeper than 100",
		strings.Repeat("? ", n) + "x":                "[1:201] nested deeper than 100",
		strings.Repeat("a: ", n):                     " nested deeper than 100",
		strings.Repeat("!!seq ", n):                  " nested deeper than 100",
		"[" + strings.Repeat("1,", n) + "]":          " more than 100000 words and signs",
		"a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b, *b]": "[2:8] an alias: write what it stands for",
	} {
		if err := Decode([]byte(text), new(any)); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%.12q: %.200v, want %s", text, err, want)
		}
	}
	var v any
	text := strings.Repeat("[", maxDepth) + `"[[#"` + strings.Repeat("]", maxDepth)
	if err := Decode([]byte(text), &v); err != nil {
		t.Error(err)
	}
	rows := "x:\n" + strings.Repeat("- {a: 1, b: [1, 2], c: 3}\n", 1000)
	if err := Decode([]byte(rows), &v); err != nil || !reflect.DeepEqual(len(v.(map[string]any)["x"].([]any)), 1000) {
		t.Error(err)
	}
}
