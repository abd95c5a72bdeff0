package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func testHeader() Header {
	return Header{
		Run: "20260101-000000-ab12", Seed: 42, Plan: "quick", Hosts: []Host{
			{Name: "node01", Addr: "10.0.0.1", Version: "v1", Build: "c0ffee",
				Env: map[string]string{"kernel": "6.1", "nic.mtu": "1500"}, CPU: "2"},
			{Name: "node02", Addr: "fd00::2", Version: "v1", Build: "c0ffee", Arch: "arm64"},
		},
	}
}

// The first two lines of a samples.jsonl are its format: other programs read them.
const (
	goldenHeader = `{"schema":"calib.samples/1","run":"20260101-000000-ab12","seed":42,"plan":"quick","hosts":[` +
		`{"name":"node01","addr":"10.0.0.1","version":"v1","build":"c0ffee","env":{"kernel":"6.1","nic.mtu":"1500"},"cpu":"2"},` +
		`{"name":"node02","addr":"fd00::2","version":"v1","build":"c0ffee","arch":"arm64"}]}` + "\n"
	goldenSample = `{"exp":"paired","phase":"burst","point":{"bytes":1,"pairs":3},"ranks":[0,1],"round":2,"slot":17,"part":0,"parts":1,` +
		`"flags":["retrans"],"tcp":{"segs_out":7,"retrans":1},"thread":{"host":1,"cpu":0,"cpu_before":3},"aux":{"dir":1},"ns":[1306120,-5]}` + "\n"
)

func goldenSlot() []Sample {
	return []Sample{{
		Exp: "paired", Phase: "burst", Point: Point{"pairs": 3, "bytes": 1}, Ranks: []int{0, 1}, Round: 2, Slot: 17,
		Flags: []string{FlagRetrans}, TCP: &TCP{SegsOut: 7, Retrans: 1}, Thread: &Thread{Host: 1, Before: 3},
		Aux: map[string]float64{"dir": 1}, NS: []int64{1306120, -5},
	}}
}

func TestGolden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "samples.jsonl")
	w, err := Create(path, testHeader())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Append(goldenSlot()), w.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(goldenHeader+goldenSample, string(text)); d != "" {
		t.Errorf("samples.jsonl (-want +got):\n%s", d)
	}
	d, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := &Dataset{Header: testHeader(), Samples: goldenSlot()}
	want.Header.Schema, want.Samples[0].Parts = Schema, 1
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

func TestRead(t *testing.T) {
	sample := `{"exp":"x","point":{},"ranks":[0],"round":0,"slot":0,"ns":[]}` + "\n"
	for _, c := range []struct {
		name, text string
		samples    int
		is         error
		want       string
	}{
		{"empty", "", 0, ErrNoHeader, "line 1: no calib.samples header"},
		{"not JSON", "hello\n", 0, ErrNoHeader, "line 1"},
		{"null", "null\n", 0, ErrNoHeader, "line 1"},
		{"no schema", "{}\n", 0, ErrNoHeader, "line 1"},
		{"another schema", `{"schema":"calib.samples/2"}` + "\n", 0, nil, `line 1: schema "calib.samples/2", this build reads "calib.samples/1"`},
		{"header cut off", goldenHeader[:40], 0, ErrNoHeader, "line 1"},
		{"header without its end", goldenHeader[:len(goldenHeader)-1], 0, ErrNoHeader, "line 1"},
		{"header alone", goldenHeader, 0, nil, ""},
		{"no parts", goldenHeader + sample, 1, nil, ""},
		{"cut off", goldenHeader + sample + sample[:20], 1, ErrTorn, "line 3: last line is cut off"},
		{"without its end", goldenHeader + sample + sample[:len(sample)-1], 1, ErrTorn, "line 3"},
		{"zeros, as a power cut leaves them", goldenHeader + sample + "\x00\x00\x00", 1, ErrTorn, "line 3"},
		{"empty line", goldenHeader + "\n" + sample, 0, nil, "line 2: it is empty"},
		{"two values", goldenHeader + sample[:len(sample)-1] + sample, 0, nil, ": invalid character"},
		{"a bracket too many", goldenHeader + sample[:len(sample)-1] + "}\n", 0, nil, ": invalid character"},
		{"null sample", goldenHeader + "null\n", 0, nil, "line 2: sample without exp"},
		{"wrong type", goldenHeader + sample + `{"exp":1}` + "\n", 1, nil, "line 3: exp: a number where a string belongs"},
		{"rank too large", goldenHeader + `{"exp":"x","ranks":[0,2]}` + "\n", 0, nil, "line 2: rank 2, but the header lists 2 hosts"},
		{"negative rank", goldenHeader + `{"exp":"x","ranks":[-1]}` + "\n", 0, nil, "line 2: rank -1"},
		{"thread of no host", goldenHeader + `{"exp":"x","ranks":[0,1],"thread":{"host":2}}` + "\n", 0, nil,
			"line 2: thread of host 2, but the header lists 2 hosts"},
		{"thread before all hosts", goldenHeader + `{"exp":"x","thread":{"host":-1}}` + "\n", 0, nil, "line 2: thread of host -1"},
		{"negative slot", goldenHeader + `{"exp":"x","slot":-1}` + "\n", 0, nil, "line 2: sample with a negative"},
		{"a whole block", goldenHeader + strings.Repeat(sample, block), block, nil, ""},
		{"at fault in the second block", goldenHeader + strings.Repeat(sample, block+1) + "null\n" + sample + "{\n",
			block + 1, nil,
			fmt.Sprintf("line %d: sample without exp", block+3)},
		{"cut off in the second block", goldenHeader + strings.Repeat(sample, block+1) + sample[:20], block + 1, ErrTorn,
			fmt.Sprintf("line %d: last line", block+3)},
		{"a time of 11 years", goldenHeader + sample + `{"exp":"x","ns":[5,346896000000000000]}` + "\n", 1, nil,
			"line 3: a time of 346896000000000000 ns in ns: want -3600000000000 to 315360000000000000"},
		{"less than no time", goldenHeader + `{"exp":"x","ns":[-3600000000001]}` + "\n", 0, nil, "line 2: a time of -3600000000001 ns"},
		{"a difference of clocks", goldenHeader + `{"exp":"x","ns":[-3600000000000]}` + "\n", 1, nil, ""},
		{"an offset of clocks", goldenHeader + `{"exp":"clock","phase":"offset","ns":[-300000000000000000]}` + "\n", 1, nil, ""},
		{"clocks that drift", goldenHeader + `{"exp":"x","flags":["drift"],"ns":[-7200000000000]}` + "\n", 1, nil, ""},
		{"negative bytes", goldenHeader + `{"exp":"x","point":{"bytes":-1}}` + "\n", 0, nil, "line 2: bytes=-1 in point: want 0 to 1125899906842624"},
		{"too many bytes", goldenHeader + `{"exp":"x","point":{"bytes":1125899906842625}}` + "\n", 0, nil, "line 2: bytes=1125899906842625"},
		{"a negative offset of sizes", goldenHeader + `{"exp":"x","point":{"offset":-1}}` + "\n", 1, nil, ""},
		{"negative segment", goldenHeader + `{"exp":"x","tcp":{"mss":-1}}` + "\n", 0, nil, "line 2: mss=-1 in tcp: want 0 to"},
		{"part out of parts", goldenHeader + `{"exp":"x","part":2,"parts":2}` + "\n", 0, nil, "line 2: sample with a negative or impossible"},
	} {
		d, err := Read(strings.NewReader(c.text))
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		case c.is != nil && !errors.Is(err, c.is), c.is == nil && (errors.Is(err, ErrTorn) || errors.Is(err, ErrNoHeader)):
			t.Errorf("%s: got %v, want the class %v", c.name, err, c.is)
		case len(d.Samples) != c.samples:
			t.Errorf("%s: %d samples, want %d", c.name, len(d.Samples), c.samples)
		}
	}
	broken := errors.New("broken")
	if _, err := Read(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("got %v, want the reader's error", err)
	}
	if d, err := Read(iotest.OneByteReader(strings.NewReader(goldenHeader))); err != nil || len(d.Header.Hosts) != 2 {
		t.Errorf("byte by byte: %v", err)
	}
}

// endless is a line that does not end.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	e.read += len(b)
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

func TestReadBounded(t *testing.T) {
	e := &endless{}
	if _, err := Read(e); err == nil || !strings.Contains(err.Error(), "line 1: longer than") || e.read > maxLine+4<<20 {
		t.Errorf("%v after %d bytes", err, e.read)
	}
}

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "samples.jsonl")
	if _, err := ReadFile(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	write(t, path, goldenHeader+goldenSample+goldenSample[:9])
	if d, err := ReadFile(path); err != nil || len(d.Samples) != 1 {
		t.Errorf("torn: %v", err)
	}
	write(t, path, "x")
	if _, err := ReadFile(path); !errors.Is(err, ErrNoHeader) || !strings.Contains(err.Error(), path) {
		t.Errorf("no header: %v", err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// FuzzRead: no text panics, and what is read without an error is what is read again after it was written.
func FuzzRead(f *testing.F) {
	f.Add([]byte(goldenHeader + goldenSample))
	f.Add([]byte(goldenHeader + goldenSample + goldenSample[:50]))
	f.Add([]byte(`{"schema":"calib.samples/1","hosts":null}` + "\n" + `{"exp":"x","ns":[1e3]}` + "\n"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Read(bytes.NewReader(text))
		if err != nil && !errors.Is(err, ErrTorn) {
			return
		}
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		if err := enc.Encode(d.Header); err != nil {
			t.Fatal(err)
		}
		for i := range d.Samples {
			if err := enc.Encode(d.Samples[i]); err != nil {
				t.Fatal(err)
			}
		}
		again, err := Read(&out)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}
