package fit

import (
	"calib/internal/dataset"
	"calib/internal/stats"
)

// labelSendBuffer is the parameter send_buffer in words.
const labelSendBuffer = "room the kernel keeps for what is sent; a send of less returns at once"

// addSendBuffer records send_buffer [B], the send buffer that the kernel had granted a connection by the end of ping-pong:
// the largest of each pair and round, since it grows with the messages, and the median of these. A blocking send returns
// when all but this much has left. Without kernel counters there is none. Source: Linux tcp(7), tcp_wmem.
func (f *Fit) addSendBuffer(d *dataset.Dataset) {
	type connection struct{ from, to, round int }
	at := map[connection]int{}
	var granted []float64
	for _, s := range d.Select("pingpong", "") {
		if s.TCP == nil || s.TCP.SndBuf <= 0 || len(s.Ranks) != 2 {
			continue
		}
		c := connection{s.Ranks[0], s.Ranks[1], s.Round}
		i, ok := at[c]
		if !ok {
			i = len(granted)
			at[c] = i
			granted = append(granted, 0)
		}
		granted[i] = max(granted[i], float64(s.TCP.SndBuf))
	}
	if len(granted) == 0 {
		return
	}
	v := stats.Median(granted)
	ci := [2]float64{v, v}
	if iv, ok := stats.MedianCI(granted); ok {
		ci = [2]float64{iv.Lo, iv.Hi}
	}
	f.found("send_buffer", "B", labelSendBuffer, v, ci)
}
