// Package printable makes text safe to print: a name in a file of other people must not control a terminal.
package printable

import (
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Controls reports a character that controls what prints it: of C0 and C1, DEL, and those that set the direction of
// text.
func Controls(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point)
}

// Line is s as one line: blanks for tabs and the ends of lines, and a dot for any other character that controls.
func Line(s string) string { return strings.NewReplacer("\n", " ", "\t", " ").Replace(Text(s)) }

// Text is s with a dot for each character that controls, but for tabs and the ends of lines.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		if Controls(r) && r != '\n' && r != '\t' {
			return '·'
		}
		return r
	}, s)
}

// Writer writes text to To, which may be a terminal, as Text makes it, and the ends of lines as they are. Any goroutine
// may write.
type Writer struct {
	To   io.Writer
	mu   sync.Mutex
	held string // of a character whose end is still to come
}

// Raw is what a Writer writes to, for text that is known to be printable, and controls the terminal by itself; any
// other w is itself.
func Raw(w io.Writer) io.Writer {
	if p, ok := w.(*Writer); ok {
		return p.To
	}
	return w
}

func (w *Writer) Write(b []byte) (int, error) {
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
		lines[i] = Text(l)
	}
	_, err := io.WriteString(w.To, strings.Join(lines, "\r\n"))
	return len(b), err
}
