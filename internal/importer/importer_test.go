package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"calib/internal/dataset"
)

var update = flag.Bool("update", false, "write the golden files")

// optionsOf are those under which a file of testdata is read: its name begins with its format. Files of netpipe, iperf3
// and sockperf are what the tools printed over a veth pair; those of osu and imb are made up in the tools' format.
func optionsOf(path string) Options {
	name := filepath.Base(path)
	format, _, _ := strings.Cut(name, ".")
	o := Options{Format: format, File: name}
	switch {
	case format == "csv":
		o.Time = Half
	case name == "sockperf.summary.txt":
		o.Bytes = 64
	}
	return o
}

// inputs lists the files of testdata that are another tool's.
func inputs(t testing.TB) []string {
	all, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(p string) bool { return strings.HasSuffix(p, ".golden") || p == "testdata/fuzz" })
}

func readFile(t testing.TB, path string, o Options) (*dataset.Dataset, []string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return read(bytes.NewReader(b), o)
}

func read(r io.Reader, o Options) (*dataset.Dataset, []string, error) {
	var im Import
	err := im.Read(r, o)
	return im.Dataset("", 0), im.Notes, err
}

// What every file becomes: notes and samples, or the error.
func TestGolden(t *testing.T) {
	files := inputs(t)
	if len(files) < 14 {
		t.Fatalf("%d inputs only", len(files))
	}
	for _, path := range files {
		d, notes, err := readFile(t, path, optionsOf(path))
		if bad := strings.Contains(path, "bad-"); bad != (err != nil) || err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", path, err)
		}
		var got bytes.Buffer
		if err != nil {
			got.WriteString("error: " + err.Error() + "\n")
		} else {
			write(t, &got, d, notes)
		}
		golden := path + ".golden"
		if *update {
			if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s (-want +got; -update writes it):\n%s", path, diff)
		}
	}
}

func write(t *testing.T, w *bytes.Buffer, d *dataset.Dataset, notes []string) {
	for _, n := range notes {
		w.WriteString("note: " + n + "\n")
	}
	e := json.NewEncoder(w)
	for _, v := range []any{d.Header} {
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range d.Samples {
		if len(s.NS) > 12 {
			s.NS = s.NS[:12] // enough to see
		}
		if err := e.Encode(s); err != nil {
			t.Fatal(err)
		}
	}
}

// What a transfer loses is part of what iperf3 measured: no interval is marked as one that fits leave out.
func TestLossyIntervalsCount(t *testing.T) {
	const path = "testdata/iperf3.omit-half.json"
	d, _, err := readFile(t, path, optionsOf(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range d.Samples {
		if s.TCP.Retrans == 0 || len(s.Flags) > 0 {
			t.Errorf("interval %v: %d segments sent again, flags %v", s.Aux["batch"], s.TCP.Retrans, s.Flags)
		}
	}
}

// Every input looks like its own format and no other.
func TestSniff(t *testing.T) {
	for _, path := range inputs(t) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := sniff(string(b)), optionsOf(path).Format; got != want {
			t.Errorf("%s looks like %q, want %q", path, got, want)
		}
	}
	for _, s := range []string{"", "\n", "hello", "{}", "1 2", "a,b\n1,2\n"} {
		if got := sniff(s); got != "" {
			t.Errorf("%q looks like %q", s, got)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name, in string
		o        Options
		want     string
	}{
		{"time of a tool", "", Options{Format: "osu", Time: Half}, "has its own meaning of a time"},
		{"bad time", "", Options{Format: "csv", Time: "whole"}, `time "whole": want half or full`},
		{"empty", "", Options{Format: "netpipe", File: "np.out"}, "np.out: no measurement in it: not readable as netpipe"},
		{"wrong format", "# OSU MPI Latency Test v7\n", Options{Format: "netpipe"},
			"line 1: 6 columns, want the three of NetPIPE 3"},
		{"wrong format, guessed", "# OSU MPI Latency Test v7\n", Options{Format: "netpipe"}, "it looks like osu: --from osu"},
		{"netpipe 5", "1 0.1 0.1 0.1 25.8\n", Options{Format: "netpipe"}, "line 1: 5 columns"},
		{"netpipe rate", "1 9.0 0.0000258\n", Options{Format: "netpipe"}, "1 bytes in 25800 ns are not 9.0 Mbps"},
		{"netpipe both ways", "64 48.828 0.00002\n", Options{Format: "netpipe"}, "line 1: both ways at once (-2), want " +
			"NPtcp without -2"},
		{"netpipe time", "1 0.29 -1\n", Options{Format: "netpipe"}, `"-1", want a time above 0`},
		{"osu collective", "# OSU MPI Allgather Latency Test v5.8\n", Options{Format: "osu"},
			"benchmark Allgather Latency is left out: only Latency, Bandwidth"},
		{"osu both ways", "# OSU MPI Bi-Directional Bandwidth Test v5.9\n# Size Bandwidth (MB/s)\n1 4.44\n",
			Options{Format: "osu"},
			"benchmark Bi-Directional Bandwidth is left out: only Latency, Bandwidth, Multiple Bandwidth / Message Rate are " +
				"read"},
		{"osu pairs", "# OSU MPI Multiple Bandwidth / Message Rate Test v5.9\n# [ pairs: 4 ] [ window size: 64 ]\n" +
			"# Size                  MB/s        Messages/s\n1 8.36 8361985.11\n", Options{Format: "osu"},
			"Multiple Bandwidth / Message Rate with 4 pairs is left out: want 1"},
		{"osu row", "# OSU MPI Multiple Bandwidth / Message Rate Test v5.9\n# Size MB/s Messages/s\n1 8.36\n",
			Options{Format: "osu"}, "line 3: 2 columns, the heading has 3"},
		{"osu no title", "# Size Latency (us)\n1 2\n", Options{Format: "osu"}, "a table without a title"},
		{"osu heading", "# OSU MPI Latency Test\n# Size Bandwidth (MB/s)\n", Options{Format: "osu"}, `line 2: heading "Bandwidth (MB/s)" of osu_latency, want a column of times in µs`},
		{"osu value", "# OSU MPI Latency Test\n# Size Latency (us)\n1 nan\n", Options{Format: "osu"}, `line 3: "nan", want a latency`},
		{"imb no title", "#bytes #repetitions t[usec] Mbytes/sec\n", Options{Format: "imb"}, "a table without a title"},
		{"imb columns", "# Benchmarking PingPong\n#bytes #repetitions t[usec] Mbytes/sec\n1 1000 2\n", Options{Format: "imb"},
			"line 3: 3 columns, the heading has 4"},
		{"imb other only", "# Benchmarking Bcast\n#bytes #repetitions t_avg[usec]\n1 1000 2\n", Options{Format: "imb"},
			"benchmark Bcast is left out: only PingPong"},
		{"iperf3 text", "{\n\"start\": 1,\n}", Options{Format: "iperf3"}, "line 3: invalid character"},
		{"iperf3 paced", `{"start":{"test_start":{"protocol":"TCP","blksize":1,"target_bitrate":5}},"end":{}}`, Options{Format: "iperf3"}, "paced to 5 bit/s"},
		{"iperf3 both ways", `{"start":{"test_start":{"protocol":"TCP","blksize":1,"bidir":1}},"end":{}}`, Options{Format: "iperf3"}, "both ways at once"},
		{"sockperf size", "sockperf: Summary: Latency is 2.2 usec\n", Options{Format: "sockperf"}, "give it (--bytes N)"},
		{"sockperf other size", "--msg-size=64\n", Options{Format: "sockperf", Bytes: 32},
			"messages of 64 B, but 32 were given"},
		{"sockperf stamps", "packet, txTime(sec), rxTime(sec), latency(usec)\n0, 2.0, 1.9, 1\n",
			Options{Format: "sockperf", Bytes: 1}, "line 2"},
		{"csv heading", "size,us\n1,2\n", Options{Format: "csv", Time: Half}, "want bytes and one of s, seconds, ms, us, ns"},
		{"csv two times", "bytes,us,ns\n", Options{Format: "csv", Time: Half}, "two columns of time"},
		{"csv one host", "bytes,us,from\n", Options{Format: "csv", Time: Half}, "want both of from and to"},
		{"csv value", "bytes,us\n1,2\n1,x\n", Options{Format: "csv", Time: Half}, `line 3: time "x"`},
		{"csv ragged", "bytes,us\n1\n", Options{Format: "csv", Time: Half}, "wrong number of fields"},
	} {
		_, _, err := read(strings.NewReader(c.in), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// A full round trip is halved, and what a summary, a log and a table say of one run agrees.
func TestHalves(t *testing.T) {
	for _, c := range []struct {
		in   string
		o    Options
		want int64
	}{
		{"bytes,us\n64,20\n", Options{Format: "csv", Time: Full}, 10000},
		{"bytes,s\n64,20e-6\n", Options{Format: "csv", Time: Full}, 10000},
		{"bytes,us\n64,20\n", Options{Format: "csv", Time: Half}, 20000},
		{"sockperf: Summary: Latency is 20.0 usec\n", Options{Format: "sockperf", Bytes: 64}, 20000},
		{"sockperf: Summary: Round trip is 20.0 usec\n", Options{Format: "sockperf", Bytes: 64}, 10000},
		{"packet, txTime(sec), rxTime(sec), rtt(usec)\n0, 1.000000000, 1.000020000, 20.0\n",
			Options{Format: "sockperf", Bytes: 64}, 10000},
		{"\ufeffbytes,us\n64,20\n", Options{Format: "csv", Time: Half}, 20000},
		{"64 24.414 0.00002\n", Options{Format: "netpipe"}, 20000},
		{"64 0.10 0.005\n", Options{Format: "netpipe"}, 5_000_000},
		{"64 0.00 0.9\n", Options{Format: "netpipe"}, 900_000_000},
		{"# OSU MPI Latency Test v5.9\n# Size Latency (us)\n64 20\n\n# OSU MPI_Put Latency Test v5.9\n" +
			"# Size Latency (us)\n64 45\n", Options{Format: "osu"}, 20000},
	} {
		d, _, err := read(strings.NewReader(c.in), c.o)
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if s := d.Samples[0]; len(d.Samples) != 1 || s.Exp != "pingpong" || s.Point["bytes"] != 64 || s.NS[0] != c.want {
			t.Errorf("%q: %+v, want %d ns", c.in, s, c.want)
		}
	}
}

// Files that repeat each other become rounds; files of other sizes do not; hosts are joined by name.
func TestMerge(t *testing.T) {
	var im Import
	const in = "sockperf: == version #3.7 ==\nsockperf: Summary: Latency is 2 usec\n"
	ab, bc := [2]string{"a", "b"}, [2]string{"b", "c"}
	for _, f := range []Options{{Bytes: 64, Hosts: ab}, {Bytes: 1024, Hosts: ab}, {Bytes: 64, Hosts: ab},
		{Bytes: 64, Hosts: bc},
		{Bytes: 1024, Hosts: ab}} {
		f.Format = "sockperf"
		if err := im.Read(strings.NewReader(in), f); err != nil {
			t.Fatal(err)
		}
	}
	d := im.Dataset("r", 7)
	var got []string
	for _, s := range d.Samples {
		from, to := d.Header.Hosts[s.Ranks[0]].Name, d.Header.Hosts[s.Ranks[1]].Name
		got = append(got, s.Point.Key()+from+to+string(rune('0'+s.Round)))
	}
	want := []string{"bytes=64ab0", "bytes=1024ab0", "bytes=64bc0", "bytes=64ab1", "bytes=1024ab1"}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if d.Header.Run != "r" || d.Header.Seed != 7 || d.Header.Plan != "imported:sockperf" || len(d.Header.Hosts) != 3 ||
		d.Header.Hosts[0].Env[EnvTool] != "sockperf 3.7" {
		t.Errorf("%+v", d.Header)
	}
	if last := d.Samples[4]; last.Slot != 1 || last.Part != 1 || last.Parts != 2 {
		t.Errorf("slots: %+v", last)
	}
}
