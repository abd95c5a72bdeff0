package agent

import (
	"fmt"
	"slices"

	"calib/agent/internal/controlv1"
	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/plane"
	"calib/internal/units"
)

// The functions here are the only translations between calib's types and the messages of the control protocol.

func sessionToWire(s plane.Session, secret []byte) *controlv1.PrepareRequest {
	p := &controlv1.PrepareRequest{
		Protocol: Protocol, Run: s.Run, Self: uint32(s.Self), Secret: secret,
		Socket: &controlv1.Socket{
			SndBuf: int64(s.Socket.SndBuf), RcvBuf: int64(s.Socket.RcvBuf), Congestion: s.Socket.Congestion,
			NoEor: s.Socket.NoEOR, Nagle: s.Socket.Nagle,
		},
	}
	for _, q := range s.Peers {
		p.Peers = append(p.Peers, &controlv1.Peer{
			Host: uint32(q.Host), Name: q.Name, Addr: q.Addr, Machine: q.Machine, Clock: q.Clock, Consent: q.Consent,
		})
	}
	for _, t := range s.Tickets {
		p.Tickets = append(p.Tickets, &controlv1.Ticket{
			A: uint32(t.A), B: uint32(t.B), Key: slices.Clone(t.Key[:]), MaxBytes: int64(t.MaxBytes), Expires: t.Expires,
		})
	}
	return p
}

func sessionFromWire(p *controlv1.PrepareRequest) (plane.Session, error) {
	s := plane.Session{Run: p.Run, Self: int(p.Self)}
	if k := p.Socket; k != nil {
		s.Socket = plane.Socket{
			SndBuf: units.Bytes(k.SndBuf), RcvBuf: units.Bytes(k.RcvBuf), Congestion: k.Congestion,
			NoEOR: k.NoEor, Nagle: k.Nagle,
		}
	}
	for _, q := range p.Peers {
		s.Peers = append(s.Peers, plane.Peer{
			Host: int(q.Host), Name: q.Name, Addr: q.Addr, Machine: q.Machine, Clock: q.Clock, Consent: q.Consent,
		})
	}
	for i, t := range p.Tickets {
		k := plane.Ticket{A: int(t.A), B: int(t.B), MaxBytes: units.Bytes(t.MaxBytes), Expires: t.Expires}
		if copy(k.Key[:], t.Key) != len(k.Key) || len(t.Key) != len(k.Key) {
			return s, fmt.Errorf("ticket %d: key of %d bytes, want %d", i, len(t.Key), len(k.Key))
		}
		s.Tickets = append(s.Tickets, k)
	}
	return s, nil
}

func limitsToWire(l Limits) *controlv1.Limits {
	return &controlv1.Limits{
		MaxTaskNs: int64(l.Task), MaxBytes: int64(l.Bytes), MaxMemory: int64(l.Memory), MaxPeers: uint32(l.Peers),
		MaxTicketNs: int64(l.Life),
	}
}

func taskToWire(t bench.Task, secret []byte) *controlv1.RunRequest {
	r := &controlv1.RunRequest{
		Run: t.Run, Slot: uint32(t.Slot), Round: uint32(t.Round), Exp: t.Exp, Rank: uint32(t.Rank), Reps: t.Reps,
		DeadlineNs: int64(t.Deadline), RecvNs: int64(t.Recv), Epoch: uint32(t.Epoch), Secret: secret,
	}
	for _, h := range t.Team {
		r.Team = append(r.Team, uint32(h))
	}
	for _, p := range t.Points {
		r.Points = append(r.Points, &controlv1.Point{Factors: p})
	}
	return r
}

func taskFromWire(r *controlv1.RunRequest) bench.Task {
	t := bench.Task{
		Run: r.Run, Slot: int(r.Slot), Round: int(r.Round), Exp: r.Exp, Rank: int(r.Rank), Reps: r.Reps,
		Deadline: units.Nanos(r.DeadlineNs), Recv: units.Nanos(r.RecvNs), Epoch: int(r.Epoch),
	}
	for _, h := range r.Team {
		t.Team = append(t.Team, int(h))
	}
	for _, p := range r.Points[:min(len(r.Points), maxPoints+1)] { // more are refused
		t.Points = append(t.Points, pointFromWire(p))
	}
	return t
}

func pointFromWire(p *controlv1.Point) bench.Point {
	if p.GetFactors() == nil {
		return bench.Point{}
	}
	return p.Factors
}

func sampleToWire(s dataset.Sample) *controlv1.Sample {
	w := &controlv1.Sample{
		Exp: s.Exp, Phase: s.Phase, Point: &controlv1.Point{Factors: s.Point}, Round: uint32(s.Round), Slot: uint32(s.Slot),
		Flags: s.Flags, Aux: s.Aux, Ns: s.NS,
	}
	for _, r := range s.Ranks {
		w.Ranks = append(w.Ranks, uint32(r))
	}
	if t := s.TCP; t != nil {
		w.Tcp = &controlv1.TCP{
			SegsOut: t.SegsOut, SegsIn: t.SegsIn, DataSegsOut: t.DataSegsOut, DataSegsIn: t.DataSegsIn, Retrans: t.Retrans,
			RwndLimitedUs: t.RwndLimited, SndbufLimitedUs: t.SndbufLimit, BusyUs: t.Busy, Cwnd: t.Cwnd, Mss: t.MSS,
			RttUs: t.RTT, MinRttUs: t.MinRTT, Involuntary: t.Involuntary, StealTicks: t.StealTicks,
			Congestion: t.Congestion, SndBuf: t.SndBuf, RcvBuf: t.RcvBuf, Port: t.Port,
		}
	}
	return w
}

// sampleFromWire refuses a sample that does not belong to the task: an agent speaks for its own slot and team only.
func sampleFromWire(w *controlv1.Sample, t bench.Task) (dataset.Sample, error) {
	s := dataset.Sample{
		Exp: w.Exp, Phase: w.Phase, Point: pointFromWire(w.Point), Round: int(w.Round), Slot: int(w.Slot),
		Ranks: make([]int, len(w.Ranks)), Flags: w.Flags, Aux: w.Aux, NS: w.Ns,
	}
	if s.Slot != t.Slot || s.Round != t.Round || s.Exp == "" {
		return s, fmt.Errorf("sample of experiment %q, slot %d, round %d in answer to slot %d, round %d",
			s.Exp, s.Slot, s.Round, t.Slot, t.Round)
	}
	for i, r := range w.Ranks {
		if !slices.Contains(t.Team, int(r)) {
			return s, fmt.Errorf("sample of host %d, which is not in the team %v", r, t.Team)
		}
		s.Ranks[i] = int(r)
	}
	if s.NS == nil {
		s.NS = []int64{}
	}
	if k := w.Tcp; k != nil {
		s.TCP = &dataset.TCP{
			SegsOut: k.SegsOut, SegsIn: k.SegsIn, DataSegsOut: k.DataSegsOut, DataSegsIn: k.DataSegsIn, Retrans: k.Retrans,
			RwndLimited: k.RwndLimitedUs, SndbufLimit: k.SndbufLimitedUs, Busy: k.BusyUs, Cwnd: k.Cwnd, MSS: k.Mss,
			RTT: k.RttUs, MinRTT: k.MinRttUs, Involuntary: k.Involuntary, StealTicks: k.StealTicks,
			Congestion: k.Congestion, SndBuf: k.SndBuf, RcvBuf: k.RcvBuf, Port: k.Port,
		}
	}
	return s, nil
}
