package machine

import (
	"testing"

	"calib/internal/plane"

	"pgregory.net/rapid"
)

func TestLeap(t *testing.T) {
	for n := 1; n <= 10000; n++ {
		stride := strideOf(n)
		if stride < 1 || gcd(stride, n) != 1 || n > 64 && (stride < n/2 || stride > n*2/3) {
			t.Fatalf("%d of %d", stride, n)
		}
	}
}

// One pass of a rotation takes every block of both halves' windows once, without overlap, inside the half, and never a
// neighbour of the block before.
func TestRotationPass(t *testing.T) {
	for _, bytes := range []int{1, 64, 127, 128, 129, 1448, 4096, 65536, window, window + 1, 2 * window} {
		r := &rotation{memory: make([]byte, 16*window)}
		r.setBlockSize(bytes)
		seen := map[int]bool{}
		half, last := -1, -1
		for {
			at, read := r.take()
			if half >= 0 && read != half {
				break // the next pass, with the halves in each other's place
			}
			half = read
			if at < 0 || at%spacing != 0 || at+bytes > r.half() || seen[at] {
				t.Fatalf("%d B: block at %d", bytes, at)
			}
			if d := at - last; r.blocks > 8 && last >= 0 && d <= r.gap && -d <= r.gap && d != 0 && r.left != r.blocks-1 {
				t.Fatalf("%d B: %d follows its neighbour %d", bytes, at, last)
			}
			seen[at], last = true, at
		}
		if want := r.half() / r.span * r.blocks; len(seen) != want {
			t.Errorf("%d B: %d blocks, want %d", bytes, len(seen), want)
		}
		if used := len(seen) * r.gap; 4*used < 3*r.half() {
			t.Errorf("%d B: %d B of %d are gone through", bytes, used, r.half())
		}
	}
}

// Whatever sizes and kinds follow one another, a cold block was last touched before at least half as much other memory
// as there is in all, less what the last windows before a change of size and the end of a half leave out.
func TestRotationIsCold(t *testing.T) {
	const memory = 32 * window
	rapid.Check(t, func(t *rapid.T) {
		r := &rotation{memory: make([]byte, memory)}
		const line = 1 << 10
		touched := make([]int, memory/line) // when, in bytes touched until then; memory is made from first to last
		clock := 0
		for i := range touched {
			touched[i] = i * line
		}
		clock = memory
		for range rapid.IntRange(1, 6).Draw(t, "changes") {
			bytes := rapid.SampledFrom([]int{4096, 65536, 300_000}).Draw(t, "bytes")
			c := plane.Copy{ColdFrom: rapid.Bool().Draw(t, "from")}
			c.ColdTo = !c.ColdFrom || rapid.Bool().Draw(t, "to")
			r.setBlockSize(bytes)
			for range rapid.IntRange(1, 3*memory/bytes).Draw(t, "n") {
				at, read := r.take()
				for side, cold := range []bool{c.ColdFrom, c.ColdTo} {
					if !cold {
						continue
					}
					first := at + (read^side)*r.half()
					for b := first; b < first+bytes; b += line {
						if since := clock - touched[b/line]; since < memory/2-8*window {
							t.Fatalf("%d B at %d: touched %d B ago", bytes, first, since)
						}
					}
					for b := first; b < first+bytes; b += line {
						touched[b/line] = clock
					}
					clock += bytes
				}
			}
		}
	})
}

// The copies do copy: after one pass from the first half to the second, every block that was gone through is the same
// in both, whichever way it is done.
func TestRotationCopies(t *testing.T) {
	for _, loop := range []bool{false, true} {
		r := &rotation{memory: make([]byte, 4*window)}
		for i := range r.half() {
			r.memory[i] = byte(i*7 + i>>8)
		}
		const bytes = 1000
		r.setBlockSize(bytes)
		n := r.half() / window * r.blocks
		r.copies(plane.Copy{Bytes: bytes, ColdFrom: true, ColdTo: true, Loop: loop}, nil, nil, n)
		for i := range r.half() {
			inBlock := i%window < r.blocks*r.gap && i%window%r.gap < bytes
			if got := r.memory[r.half()+i]; inBlock && got != r.memory[i] || !inBlock && got != 0 {
				t.Fatalf("loop %v: byte %d is %d, in a block: %v", loop, i, got, inBlock)
			}
		}
	}
}
