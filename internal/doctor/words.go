package doctor

import (
	"net"
	"strings"
	"unicode"

	"calib/internal/units"
)

// What hosts say of themselves is printed, and part of commands that people copy into a shell: a host that means harm
// must neither command the terminal nor the shell.

// word is s where a shell takes it for text, and otherwise what stands for it.
func word(s, otherwise string) string {
	plain := func(r rune) bool {
		return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._:/@%+-", r))
	}
	if s == "" || s[0] == '-' || strings.ContainsFunc(s, func(r rune) bool { return !plain(r) && r != ' ' }) {
		return otherwise
	}
	return s
}

// oneLine is s on one line, without what a terminal obeys.
func oneLine(s string) string {
	return units.OneLine(strings.ReplaceAll(strings.TrimSpace(s), "\n", "; "))
}

func hostOf(addr string) string {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = addr
	}
	return word(host, "ADDRESS")
}

func portOf(addr string) string {
	if _, port, err := net.SplitHostPort(addr); err == nil {
		return word(port, "PORT")
	}
	return "PORT"
}

func orNIC(name string) string { return word(name, "INTERFACE") }
