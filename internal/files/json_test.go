package files

import (
	"testing"
	"time"
)

type innerPart struct {
	Names []string  `json:"names" yaml:"names"`
	When  time.Time `json:"when" yaml:"-"`
}

type outer struct {
	innerPart
	Size  float64           `json:"size" yaml:"size"`
	Count uint64            `json:"count" yaml:"count"`
	On    *bool             `json:"on" yaml:"on"`
	Part  innerPart         `json:"part" yaml:"part"`
	By    map[string]string `json:"by" yaml:"by"`
}

// A fault says where it is, what stands there and what belongs there, and no word of Go's.
func TestFaults(t *testing.T) {
	for text, want := range map[string]string{
		`[]`: "an array where an object belongs", " \n": "it is empty",
		`{"names":3}`:             "names: a number where an array belongs",
		`{"part":{"names":[{}]}}`: "part.names: an object where a string belongs",
		`{"part":7}`:              "part: a number where an object belongs",
		`{"count":-1}`:            "count: the number -1 where a whole number from 0 on belongs",
		`{"on":"x"}`:              "on: a string where true or false belongs",
		`{"by":true}`:             "by: true or false where an object belongs",
		"{\n\"size\":!}":          "line 2: invalid character '!' looking for beginning of value",
		`{"size":1`:               "unexpected end of JSON input",
	} {
		if err := JSON([]byte(text), new(outer)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
