package launch

import (
	"strings"
	"testing"
)

// TestReasonOfACrash: of what a Go program writes as it dies, the reason is quoted and not the registers, however the
// text is cut up.
func TestReasonOfACrash(t *testing.T) {
	text := "{\"msg\":\"prepared\"}\nruntime: out of memory: cannot allocate 4194304-byte block (3899392 in use)\n" +
		"fatal error: out of memory\n\n" +
		"goroutine 1 [running]:\n" + strings.Repeat("main.f(0x1)\n\t/x/y.go:3 +0x1\n", 400) +
		"r13    0x2d10aae60b40\ngs     0x0\n"
	for _, step := range []int{1, 7, len(text)} {
		var out tail
		for rest := text; rest != ""; rest = rest[min(step, len(rest)):] {
			if n, err := out.Write([]byte(rest[:min(step, len(rest))])); err != nil || n == 0 {
				t.Fatal(n, err)
			}
		}
		got := out.String()
		if !strings.HasPrefix(got, "runtime: out of memory: cannot") ||
			!strings.Contains(got, "\nfatal error: out of memory") || strings.Contains(got, "r13") {
			t.Errorf("in steps of %d: %q", step, got)
		}
		if hint := why("exit status 2", got); !strings.Contains(hint, "memory") {
			t.Errorf("hint %q", hint)
		}
	}
	var plain tail
	if _, err := plain.Write([]byte("Permission denied (publickey).\n")); err != nil ||
		plain.String() != "Permission denied (publickey)." {
		t.Errorf("%q, %v", plain.String(), err)
	}
	if why("exit status 255", "Permission denied (publickey).") != "" || why("signal: killed", "") == "" {
		t.Error("hints")
	}
}
