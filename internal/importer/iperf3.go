package importer

import (
	"fmt"
	"math"
	"time"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/files"
)

// iperf3 -J over TCP: each interval is a timing of one stream, its bytes over its seconds; parallel streams between the
// same two hosts are one stream of their sum. Without -O the first interval is left out: it holds slow start and the
// filling of the send buffer. Intervals are the client's: what it handed to its kernel, or with -R what it received.
// Those with retransmissions count like the others: a bulk transfer on that path has them. Source: iperf3(1) and what
// iperf3 3.12 prints.
type iperfReport struct {
	Error string `json:"error"`
	Start struct {
		Version string `json:"version"`
		MSS     int64  `json:"tcp_mss_default"`
		Bitrate int64  `json:"target_bitrate"`
		At      struct {
			Seconds int64 `json:"timesecs"`
		} `json:"timestamp"`
		Test struct {
			Protocol string `json:"protocol"`
			Streams  int    `json:"num_streams"`
			Block    int64  `json:"blksize"`
			Reverse  int    `json:"reverse"`
			Both     int    `json:"bidir"`
			Bitrate  int64  `json:"target_bitrate"`
			Pace     int64  `json:"fqrate"`
		} `json:"test_start"`
	} `json:"start"`
	Intervals []struct {
		Streams []iperfPart `json:"streams"`
		Sum     iperfPart   `json:"sum"`
	} `json:"intervals"`
	End struct {
		Received   iperfPart `json:"sum_received"`
		Congestion string    `json:"sender_tcp_congestion"`
	} `json:"end"`
}

// iperfAgree is by how much an interval's start and end may disagree with its length, and the receiver's rate with that
// of the intervals.
const iperfAgree = 0.02

type iperfPart struct {
	Start   float64 `json:"start"`
	End     float64 `json:"end"`
	Seconds float64 `json:"seconds"`
	Bytes   float64 `json:"bytes"`
	Retrans int64   `json:"retransmits"`
	Window  int64   `json:"snd_cwnd"`
	RTT     int64   `json:"rtt"`
	Omitted bool    `json:"omitted"`
}

func readIperf3(text string, in *input) {
	var r iperfReport
	if err := files.JSON([]byte(text), &r); err != nil {
		in.want(false, "%v: want the document of iperf3 -J", err)
		return
	}
	test := r.Start.Test
	in.want(r.Error == "", "the run failed: iperf3 says %q", r.Error)
	in.want(test.Protocol == "TCP", "a test of protocol %q, want TCP: the rate of datagrams is what -b asked for",
		test.Protocol)
	in.want(test.Bitrate <= 0 && r.Start.Bitrate <= 0, "paced to %d bit/s (-b), want the rate the path gives",
		max(test.Bitrate, r.Start.Bitrate))
	in.want(test.Pace <= 0, "paced to %d bit/s (--fq-rate), want the rate the path gives", test.Pace)
	in.want(test.Both == 0, "both ways at once (--bidir), want one way")
	in.want(test.Block >= 1 && test.Block <= maxBytes, "start.test_start.blksize %d, want the bytes of a write",
		test.Block)
	in.tool = r.Start.Version
	if at := r.Start.At.Seconds; at > 0 && at < 1<<32 {
		in.started = time.Unix(at, 0).UTC()
	}
	skipFirst := len(r.Intervals) > 1 && !r.Intervals[0].Sum.Omitted
	for i, interval := range r.Intervals {
		if !interval.Sum.Omitted && (i > 0 || !skipFirst) {
			in.interval(&r, interval.Sum, interval.Streams, fmt.Sprintf("intervals[%d].sum", i))
		}
	}
	if skipFirst {
		in.note("the first interval is left out: it includes slow start and the filling of the send buffer (iperf3 -O " +
			"leaves it out too)")
	}
	in.note("each of iperf3's intervals is one timing of a stream: its bytes over its seconds")
	if n := test.Streams; n > 1 {
		in.note("%d parallel streams between the same two hosts count as one stream of their sum", n)
	}
	if test.Reverse == 0 {
		in.note("iperf3's intervals count what the sender handed to its kernel")
	}
	var lossy, lost int64 // intervals with retransmissions; segments
	var bytes, seconds float64
	for _, s := range in.samples {
		lossy, lost = lossy+min(1, s.TCP.Retrans), lost+s.TCP.Retrans
		bytes, seconds = bytes+s.Aux[names.AuxChunk], seconds+float64(s.NS[0])*1e-9
	}
	if lossy > 0 {
		in.note("%s: %d of %d intervals had retransmissions (%d segments, %.2g%%): a transfer has them, and they "+
			"count", in.File, lossy, len(in.samples), lost, 100*float64(lost)*float64(max(1, r.Start.MSS))/bytes)
	}
	if e := r.End.Received; e.Seconds > 0 && e.Bytes > 0 && seconds > 0 {
		if off := e.Bytes/e.Seconds/(bytes/seconds) - 1; math.Abs(off) > iperfAgree {
			in.note("%s: the receiver's rate over the whole run is %+.1f%% off that of the intervals", in.File, 100*off)
		}
	}
}

// interval makes a sample of an interval that counts. All are of one round: a file holds one run, and Import counts the
// files.
func (in *input) interval(r *iperfReport, sum iperfPart, streams []iperfPart, where string) {
	in.want(sum.Seconds > 0 && sum.Seconds < maxSeconds, "%s.seconds is %g, want a time", where, sum.Seconds)
	in.want(sum.Bytes >= 0 && sum.Bytes <= 1e15, "%s.bytes is %g, want bytes", where, sum.Bytes)
	switch {
	case sum.Seconds < 0.01 || sum.Bytes < 1:
		in.note("%s is left out: %g B in %g s", where, sum.Bytes, sum.Seconds) // the end of a run leaves such a rest
		return
	case math.Abs(sum.End-sum.Start-sum.Seconds) > iperfAgree*sum.Seconds:
		in.note("%s: %s is left out: from %g to %g s are not its %.4g s (where -O ends within an interval iperf3 counts "+
			"the bytes of a part of it)", in.File, where, sum.Start, sum.End, sum.Seconds)
		return
	}
	s := streamSample(r.Start.Test.Block, int64(sum.Bytes), sum.Seconds)
	s.Aux[names.AuxBatch], s.Aux[names.AuxStreams] = float64(len(in.samples)), float64(max(1, r.Start.Test.Streams))
	if n := r.Start.Test.Streams; n > 1 {
		s.Point[names.FactorConnections] = int64(n)
	}
	s.TCP = &dataset.TCP{MSS: max(0, r.Start.MSS), Retrans: max(0, sum.Retrans), Congestion: r.End.Congestion}
	if n := len(streams); n > 0 && s.TCP.MSS > 0 {
		s.TCP.RTT, s.TCP.Cwnd = streams[n-1].RTT, streams[n-1].Window/s.TCP.MSS
	}
	if r.Start.Test.Reverse != 0 {
		s.Ranks = []int{1, 0}
	}
	in.samples = append(in.samples, s)
}
