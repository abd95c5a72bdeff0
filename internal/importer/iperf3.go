package importer

import (
	"encoding/json"
	"fmt"
	"math"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/files"
)

// iperf3 -J over TCP: each interval is a timing of one stream, its bytes over its seconds; parallel streams between the
// same two hosts are one stream of their sum. Without -O the first interval is left out: it holds slow start and the
// filling of the send buffer. Intervals are the client's: what it handed to its kernel, or with -R what it received.
// Those with retransmissions count like the others: a bulk transfer on that path has them. Source: iperf3(1) and what iperf3 3.12 prints.
type iperfReport struct {
	Error string `json:"error"`
	Start struct {
		Version string `json:"version"`
		MSS     int64  `json:"tcp_mss_default"`
		Bitrate int64  `json:"target_bitrate"`
		Test    struct {
			Protocol string `json:"protocol"`
			Streams  int    `json:"num_streams"`
			Block    int64  `json:"blksize"`
			Omit     float64
			Reverse  int   `json:"reverse"`
			Both     int   `json:"bidir"`
			Bitrate  int64 `json:"target_bitrate"`
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

const iperfAgree = 0.02 // by how much an interval's start and end may disagree with its length

type iperfPart struct {
	Start   float64 `json:"start"`
	End     float64 `json:"end"`
	Seconds float64 `json:"seconds"`
	Bytes   float64 `json:"bytes"`
	Retrans *int64  `json:"retransmits"`
	Window  int64   `json:"snd_cwnd"`
	RTT     int64   `json:"rtt"`
	Omitted bool    `json:"omitted"`
}

func looksIperf3(t text) bool {
	var r struct {
		Start     json.RawMessage `json:"start"`
		Intervals json.RawMessage `json:"intervals"`
		End       json.RawMessage `json:"end"`
	}
	return json.Unmarshal(t.raw, &r) == nil && r.Start != nil && r.End != nil
}

func readIperf3(t text, c *collector) {
	var r iperfReport
	if err := files.JSON(t.raw, &r); err != nil {
		c.want(false, "%v: want the document of iperf3 -J", err)
		return
	}
	test := r.Start.Test
	c.want(r.Error == "", "the run failed: iperf3 says %q", r.Error)
	c.want(test.Protocol == "TCP", "a test of protocol %q, want TCP: the rate of datagrams is what -b asked for",
		test.Protocol)
	c.want(test.Bitrate <= 0 && r.Start.Bitrate <= 0, "paced to %d bit/s (-b), want the rate the path gives",
		max(test.Bitrate, r.Start.Bitrate))
	c.want(test.Both == 0, "both ways at once (--bidir), want one way")
	c.want(test.Block >= 1 && test.Block <= maxBytes, "start.test_start.blksize %d, want the bytes of a write", test.Block)
	c.tool = r.Start.Version
	sum := c.intervals(&r)
	c.note("each of iperf3's intervals is one timing of a stream: its bytes over its seconds")
	if n := test.Streams; n > 1 {
		c.note("%d parallel streams between the same two hosts count as one stream of their sum", n)
	}
	if test.Reverse == 0 {
		c.note("iperf3's intervals count what the sender handed to its kernel")
	}
	rate := sum.bytes / sum.seconds
	if sum.lossy > 0 {
		c.note("%s: %d of %d intervals had retransmissions (%d segments, %.2g%%): a transfer has them, and they count", c.o.File,
			sum.lossy, len(c.samples), sum.lost, 100*float64(sum.lost)*float64(max(1, r.Start.MSS))/sum.bytes)
	}
	if e := r.End.Received; e.Seconds > 0 && e.Bytes > 0 && sum.seconds > 0 {
		if off := e.Bytes/e.Seconds/rate - 1; off < -0.02 || off > 0.02 {
			c.note("%s: the receiver's rate over the whole run is %+.1f%% off that of the intervals", c.o.File, 100*off)
		}
	}
}

type iperfSum struct {
	lossy          int   // intervals with retransmissions
	lost           int64 // segments
	bytes, seconds float64
}

// intervals makes a sample of each interval that counts, all of one round: a file holds one run, and Merge counts the
// files.
func (c *collector) intervals(r *iperfReport) (sum iperfSum) {
	skipFirst := len(r.Intervals) > 1
	for i := range r.Intervals {
		part := r.Intervals[i].Sum
		if n := len(r.Intervals[i].Streams); n > 0 {
			part.Window, part.RTT = r.Intervals[i].Streams[n-1].Window, r.Intervals[i].Streams[n-1].RTT
		}
		if part.Omitted {
			skipFirst = false
		}
		if part.Omitted || skipFirst && i == 0 {
			continue
		}
		where := fmt.Sprintf("intervals[%d].sum", i)
		c.want(part.Seconds > 0 && part.Seconds < maxSeconds, "%s.seconds is %g, want a time", where, part.Seconds)
		c.want(part.Bytes >= 0 && part.Bytes <= 1e15, "%s.bytes is %g, want bytes", where, part.Bytes)
		switch {
		case part.Seconds < 0.01 || part.Bytes < 1:
			c.note("%s is left out: %g B in %g s", where, part.Bytes, part.Seconds) // the end of a run leaves such a rest
			continue
		case math.Abs(part.End-part.Start-part.Seconds) > iperfAgree*part.Seconds:
			c.note("%s: %s is left out: from %g to %g s are not its %.4g s (where -O ends within an interval iperf3 counts the "+
				"bytes of a part of it)", c.o.File, where, part.Start, part.End, part.Seconds)
			continue
		}
		s := streamSample(r.Start.Test.Block, int64(part.Bytes), part.Seconds)
		s.Aux[names.AuxBatch], s.Aux[names.AuxStreams] = float64(len(c.samples)), float64(max(1, r.Start.Test.Streams))
		s.TCP = &dataset.TCP{MSS: max(0, r.Start.MSS), RTT: part.RTT, Congestion: r.End.Congestion}
		if part.Retrans != nil && *part.Retrans > 0 {
			s.TCP.Retrans = *part.Retrans
			sum.lossy++
			sum.lost += *part.Retrans
		}
		if r.Start.MSS > 0 {
			s.TCP.Cwnd = part.Window / r.Start.MSS
		}
		if r.Start.Test.Reverse != 0 {
			s.Ranks = []int{1, 0}
		}
		c.samples = append(c.samples, s)
		sum.bytes += s.Aux[names.AuxChunk]
		sum.seconds += float64(s.NS[0]) * 1e-9
	}
	if skipFirst {
		c.note("the first interval is left out: it includes slow start and the filling of the send buffer (iperf3 -O leaves it out too)")
	}
	return sum
}
