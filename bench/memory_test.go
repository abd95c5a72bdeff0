package bench

import (
	"errors"
	"strings"
	"testing"
)

func TestMemoryOfATask(t *testing.T) {
	r := NewRecorder(Task{Memory: 1000})
	take := func(f func()) error { return charged(func() error { f(); return nil }) }
	for name, f := range map[string]func(){
		"times":    func() { r.Buffer(126) },
		"a lot":    func() { r.Buffer(1 << 60) },
		"message":  func() { r.Payload(1001) },
		"bytes":    func() { r.Bytes(1001) },
		"uncommon": func() { r.Charge(1 << 62) },
	} {
		if err := take(f); !errors.Is(err, ErrMemory) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := take(func() { r.Bytes(-1) }); err == nil || errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "-1 bytes") {
		t.Errorf("a negative size: %v", err)
	}
	if err := take(func() { r.Buffer(50); r.Payload(600) }); err != nil {
		t.Error(err)
	}
	if err := take(func() { r.Charge(1) }); !errors.Is(err, ErrMemory) {
		t.Errorf("byte 1001: %v", err)
	}
	r.memory.point = 0 // the next point
	if err := take(func() { r.Payload(600) }); err != nil {
		t.Error(err)
	}
	if err := take(func() { NewRecorder(Task{}).Bytes(10_000) }); err != nil {
		t.Errorf("without a limit: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("another panic was swallowed")
		}
	}()
	_ = take(func() { panic("of the experiment") })
}
