package bench

import (
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// While the collector is off, what earlier points took is collected before it and the next would pass the limit
// together.
func TestGarbageOfEarlierPoints(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	collections := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumGC
	}
	r, before := NewRecorder(Task{Memory: 1000}), collections()
	for point, want := range []uint32{0, 0, 1, 1, 2} {
		r.Bytes(400)
		r.memory.garbage, r.memory.point = r.memory.garbage+r.memory.point, 0
		if n := collections() - before; n != want {
			t.Errorf("after point %d: %d collections, want %d", point, n, want)
		}
	}
}

func TestMemoryOfATask(t *testing.T) {
	r := NewRecorder(Task{Memory: 1000})
	for name, f := range map[string]func(){
		"times":    func() { r.Buffer(126) },
		"a lot":    func() { r.Buffer(1 << 60) },
		"message":  func() { r.Payload(1001) },
		"bytes":    func() { r.Bytes(1001) },
		"uncommon": func() { r.Charge(1 << 62) },
	} {
		if err := Caught(f); !errors.Is(err, ErrMemory) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Caught(func() { r.Bytes(-1) }); err == nil || errors.Is(err, ErrMemory) ||
		!strings.Contains(err.Error(), "-1 bytes") {
		t.Errorf("a negative size: %v", err)
	}
	if err := Caught(func() { r.Buffer(50); r.Payload(600) }); err != nil {
		t.Error(err)
	}
	if err := Caught(func() { r.Charge(1) }); !errors.Is(err, ErrMemory) {
		t.Errorf("byte 1001: %v", err)
	}
	r.memory.point = 0 // the next point
	if err := Caught(func() { r.Payload(600) }); err != nil {
		t.Error(err)
	}
	if err := Caught(func() { NewRecorder(Task{}).Bytes(10_000) }); err != nil {
		t.Errorf("without a limit: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("another panic was swallowed")
		}
	}()
	_ = Caught(func() { panic("of the experiment") })
}
