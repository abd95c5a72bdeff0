package importer

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"calib/internal/dataset"
)

// FuzzRead: whatever the input, a parser ends, and what it reads can be written and read again as samples.jsonl.
func FuzzRead(f *testing.F) {
	for i := range formats {
		for _, path := range inputs(f) {
			b, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			if len(b) > 2000 {
				b = b[:2000]
			}
			f.Add(byte(i), b)
		}
	}
	f.Add(byte(0), []byte("1 0.295705 0.00002580\n"))
	f.Add(byte(3), []byte(`{"start":{"test_start":{"protocol":"TCP","blksize":9}},"intervals":[{"sum":{"end":1,"seconds":1,"bytes":1e15}}],"end":{}}`))
	f.Add(byte(5), []byte("bytes,ns,round\n1,1,1048576\n"))
	f.Fuzz(func(t *testing.T, which byte, in []byte) {
		o := Options{Format: Formats()[int(which)%len(formats)], Bytes: 64}
		if o.Format == "csv" {
			o.Time = Full
		}
		d, _, err := read(bytes.NewReader(in), o)
		if err != nil {
			return
		}
		for i := range d.Samples {
			s := &d.Samples[i]
			if len(s.NS) == 0 || s.Point["bytes"] < 1 || len(s.Ranks) != 2 || s.Ranks[0] == s.Ranks[1] {
				t.Fatalf("%+v", s)
			}
			for _, ns := range s.NS {
				if ns < 1 {
					t.Fatalf("%+v", s)
				}
			}
		}
		var file bytes.Buffer
		e := json.NewEncoder(&file)
		if err := e.Encode(d.Header); err != nil {
			t.Fatal(err)
		}
		for i := range d.Samples {
			if err := e.Encode(&d.Samples[i]); err != nil {
				t.Fatal(err)
			}
		}
		again, err := dataset.Read(&file)
		if err != nil || len(again.Samples) != len(d.Samples) {
			t.Fatalf("%d samples written, %v", len(d.Samples), err)
		}
	})
}
