package machine

import (
	"os"
	"path/filepath"
	"testing"
)

// The request is four bytes of zero: no time to wake up is allowed.
func TestStayAwake(t *testing.T) {
	file := filepath.Join(t.TempDir(), "latency")
	if _, err := stayAwake(file); err == nil {
		t.Error("without the file: no error")
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	release, err := stayAwake(file)
	if err != nil {
		t.Fatal(err)
	}
	release()
	if b, err := os.ReadFile(file); err != nil || string(b) != "\x00\x00\x00\x00" {
		t.Errorf("wrote %x, %v", b, err)
	}
}
