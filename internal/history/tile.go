package history

import (
	"encoding/binary"
	"fmt"
	"math"
)

// tileWidth is how many metrics share a tile: those of a strip, with neighbouring keys. A tile of so many numbers with
// their intervals stays within a page of SQLite's.
const tileWidth = 32

// withInterval marks, beside a slot, that bounds of an interval follow the value.
const withInterval = 0x80

// stripOf returns the strip of a metric, and its slot there.
func stripOf(metric int64) (strip int64, slot byte) {
	return metric / tileWidth, byte(metric % tileWidth)
}

// appendNumber adds a number to a tile: its slot in a byte, then the value and, where there is an interval, its two
// bounds, each in 8 bytes, the lowest first.
func appendNumber(tile []byte, slot byte, value float64, interval *[2]float64) []byte {
	if interval == nil {
		return appendFloats(append(tile, slot), value)
	}
	return appendFloats(append(tile, slot|withInterval), value, interval[0], interval[1])
}

func appendFloats(b []byte, v ...float64) []byte {
	for _, f := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
	}
	return b
}

// number is a number of a tile as it is stored; nothing of it is decoded before it is asked for.
type number struct {
	slot   byte
	floats []byte // of the value and, where there is an interval, of its bounds
}

// eachNumber calls f with the numbers of a tile. What is no tile is ErrDamaged.
func eachNumber(tile []byte, f func(number)) error {
	for len(tile) > 0 {
		n := number{slot: tile[0] &^ withInterval}
		size := 8
		if tile[0]&withInterval != 0 {
			size = 24
		}
		if n.slot >= tileWidth || len(tile) < 1+size {
			return fmt.Errorf("%w: numbers of a run cannot be read", ErrDamaged)
		}
		n.floats, tile = tile[1:1+size], tile[1+size:]
		f(n)
	}
	return nil
}

func (n number) float(i int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(n.floats[8*i:]))
}

func (n number) value() float64 { return n.float(0) }

// interval is nil where there is none.
func (n number) interval() *[2]float64 {
	if len(n.floats) == 8 {
		return nil
	}
	return &[2]float64{n.float(1), n.float(2)}
}
