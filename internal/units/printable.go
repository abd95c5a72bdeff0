package units

import (
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A name in a file of other people must not control the terminal that it is printed on.

// Controls reports a character that controls what prints it: of C0 and C1, DEL, and those that set the direction of
// text.
func Controls(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point)
}

// OneLine is s as one line: blanks for tabs and the ends of lines, and a dot for any other character that controls.
func OneLine(s string) string { return strings.NewReplacer("\n", " ", "\t", " ").Replace(Printable(s)) }

// Printable is s with a dot for each character that controls, but for tabs and the ends of lines.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if Controls(r) && r != '\n' && r != '\t' {
			return '·'
		}
		return r
	}, s)
}

// PrintableWriter writes text to To, which may be a terminal, as Printable makes it, and the ends of lines as they are. Any goroutine
// may write.
type PrintableWriter struct {
	To   io.Writer
	mu   sync.Mutex
	held string // of a character whose end is still to come
}

// RawWriter is what a PrintableWriter writes to, for text that is known to be printable, and controls the terminal by itself; any
// other w is itself.
func RawWriter(w io.Writer) io.Writer {
	if p, ok := w.(*PrintableWriter); ok {
		return p.To
	}
	return w
}

func (w *PrintableWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.held + string(b)
	end := len(s)
	for i := max(0, end-utf8.UTFMax+1); i < end; i++ {
		if utf8.RuneStart(s[i]) && !utf8.FullRuneInString(s[i:]) || s[i:] == "\r" {
			end = i
		}
	}
	w.held = s[end:]
	lines := strings.Split(s[:end], "\r\n")
	for i, l := range lines {
		lines[i] = Printable(l)
	}
	_, err := io.WriteString(w.To, strings.Join(lines, "\r\n"))
	return len(b), err
}
