package loggp

// Formulas are the parameters of LogGP: times [s] and a time per byte [s/B], or in cycles.
type Formulas struct{ L, Os, Or, G float64 }

// ShortMessage is o_s + L + C_n + o_r, the time of a short message (eq. 8).
func (p Formulas) ShortMessage(cn float64) float64 { return p.Os + p.L + cn + p.Or }

// LongMessage is o_s + (B−1)·G + L + C_n, until a long message is there (eq. 1, 10): its interrupt is hidden.
func (p Formulas) LongMessage(bytes, cn float64) float64 { return p.Os + (bytes-1)*p.G + p.L + cn }

// PipelinedMessage is o_s + L + max(o_r + a·G + B·G_m, (B−1)·G), where a message is moved to memory at G_m a byte once
// the interrupt that its first a bytes raise has been taken (eq. 2).
func (p Formulas) PipelinedMessage(bytes, first, memory float64) float64 {
	return p.Os + p.L + max(p.Or+first*p.G+bytes*memory, (bytes-1)*p.G)
}

// SyncRemap is 2(o_s + L + C_n + o_r) + C_r, one iteration of a synchronous remap of short messages (section 5.1.1).
func (p Formulas) SyncRemap(cn, cr float64) float64 { return 2*p.ShortMessage(cn) + cr }

// AsyncRemap is o_s + o_r, one iteration of an asynchronous remap of short messages (section 5.1.2).
func (p Formulas) AsyncRemap() float64 { return p.Os + p.Or }

// LongRemap is 2GB, about what one iteration of a remap of long messages takes without contention, where a host's
// interface moves one message at a time, in or out (section 5.1.3).
func (p Formulas) LongRemap(bytes float64) float64 { return 2 * p.G * bytes }

// HandlerContention is LoPC's estimate of C_r where processors do nothing but serve messages: the time of a handler
// that replies, o_r + o_s (section 5.1.1). Source: Frank, Agarwal, Vernon 1997.
func (p Formulas) HandlerContention() float64 { return p.Or + p.Os }
