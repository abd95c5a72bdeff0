package launch

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// FuzzAnswer: whatever a shell, a login script or a launcher says, an answer is the words behind the first marker that
// begins no empty line of them, or an error, and no more than a greeting is read.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		"calib-launch uname Linux x86_64\n", "Welcome\ncalib-launch need\n", "calib-launch\ncalib-launch have\nrest",
		"calib-launch have", "\x00\xff\n",
		"\x1b[2Jcalib-launch fail\n", strings.Repeat("x", 5000) + "calib-launch have\n",
	} {
		f.Add([]byte(seed))
	}
	r, w, err := os.Pipe() // whose deadlines answer sets; nothing passes through it
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { r.Close(); w.Close() })
	f.Fuzz(func(t *testing.T, b []byte) {
		said := bytes.NewReader(b)
		words, err := (&Process{stdin: w, stdout: r, out: bufio.NewReader(said)}).answer(time.Minute)
		if read := len(b) - said.Len(); read > 2*maxGreeting {
			t.Errorf("%d bytes were read", read)
		}
		if err != nil {
			if len(words) > 0 || errors.Is(err, os.ErrDeadlineExceeded) || !errors.Is(err, io.EOF) && len(b) < maxGreeting {
				t.Errorf("%q, %v", words, err)
			}
			return
		}
		if len(words) == 0 || !bytes.Contains(b, []byte(marker)) {
			t.Errorf("words %q, of a text without an answer", words)
		}
		for _, word := range words {
			if word == "" || strings.ContainsAny(word, " \n\t") || !bytes.Contains(b, []byte(word)) {
				t.Errorf("word %q", word)
			}
		}
	})
}

// A far side that never comes to an end is not listened to for ever.
func TestEndlessGreeting(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	endless := strings.NewReader(strings.Repeat("long greeting\n", maxGreeting))
	words, err := (&Process{stdin: w, stdout: r, out: bufio.NewReader(endless)}).answer(time.Minute)
	if err == nil || !strings.Contains(err.Error(), "bytes of other text before the shell's answer") || len(words) > 0 {
		t.Errorf("%q, %v", words, err)
	}
}
