// Package files writes files and reads those that somebody else has written.
//
// A regular file is replaced whole, or not at all: readers, and a crash at any moment, see the old content or the new.
// What is no regular file is never replaced: a device or FIFO that the user names is written to. What is read has a
// bound, and never blocks the process when it is opened.
package files

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"calib/internal/lists"
	"calib/internal/units"
)

// Write writes a file that the user has named. A regular file is replaced, through links that lead to it. A character
// device, a FIFO that is being read and what is this process's standard output are written to. Anything else is an
// error.
func Write(path string, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	out, _ := os.Stdout.Stat()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ReplaceBy(path, write)
	case err != nil:
	case out != nil && os.SameFile(info, out):
		err = writeTo(os.Stdout, write)
	case info.Mode()&(fs.ModeCharDevice|fs.ModeNamedPipe) == 0:
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return ReplaceBy(path, write)
		}
	default:
		var f *os.File
		if f, err = os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil { // a FIFO nobody reads must not block
			err = errors.Join(writeTo(f, write), f.Close())
		}
	}
	return failed(path, err)
}

func writeTo(f *os.File, write func(io.Writer) error) error {
	b := bufio.NewWriter(f)
	return cmp.Or(write(b), b.Flush())
}

func failed(path string, err error) error {
	if errors.Is(err, syscall.ENXIO) {
		err = errors.New("nobody reads it; start what reads it first, or choose another file")
	}
	if err != nil {
		err = fmt.Errorf("write %s: %w", path, Reason(err))
	}
	return err
}

// Replace writes b beside path, syncs it and renames it to path. On an error path is as it was, and nothing is left
// beside it. It is for files that calib names: where there is no regular file but a link, which may lead anywhere, or a
// device, that is an error.
func Replace(path string, b []byte) error {
	return ReplaceBy(path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// ReplaceBy is Replace for what is written bit by bit, and never held whole: write writes it, and an error of write
// leaves path as it was.
func ReplaceBy(path string, write func(io.Writer) error) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("write %s: it is %s, which is not replaced; move it away, or choose another file",
			path, kinds[info.Mode().Type()])
	}
	dir, name := filepath.Split(path)
	// The umask is kept. Others may never write: run.json says what a run that goes on executes.
	beside := dir + "." + name + "." + rand.Text()[:8]
	f, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o664)
	if err != nil {
		return failed(path, err)
	}
	if err = writeTo(f, write); err == nil {
		err = f.Sync()
	}
	if err = cmp.Or(err, f.Close()); err == nil {
		err = os.Rename(beside, path)
	}
	if err != nil {
		os.Remove(beside)
		return failed(path, err)
	}
	return syncDir(filepath.Clean(dir + "."))
}

// syncDir makes a rename durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, Reason(err))
	}
	return nil
}

// Reason takes the path off an error that will be printed with it.
func Reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// Alone is an error where dir is no directory of this user's, or where others have one of these permissions in it.
func Alone(dir string, others fs.FileMode) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	dir = filepath.Clean(dir)
	owner, known := info.Sys().(*syscall.Stat_t)
	switch mode := info.Mode().Perm(); {
	case !info.IsDir():
		return fmt.Errorf("%s is no directory (a link is not followed)", dir)
	case !known || int(owner.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to another user than %d, as whom this process runs", dir, os.Geteuid())
	case mode&others != 0:
		return fmt.Errorf("%s is open to others (mode %04o): chmod %04o %s", dir, mode, mode&^others, dir)
	}
	return nil
}

// Lock returns what open opens, under a lock of the kernel, which ends with the process at the latest. Whoever holds it
// may remove path: then it is opened again. Where the kernel gives no lock, the file comes with the error.
func Lock(path string, how int, open func() (*os.File, error)) (*os.File, error) {
	for {
		f, err := open()
		if err != nil {
			return nil, err
		}
		if err = syscall.Flock(int(f.Fd()), how); err != nil {
			return f, err
		}
		held, err := f.Stat()
		there, gone := os.Lstat(path)
		if err == nil && gone == nil && os.SameFile(held, there) {
			return f, nil
		}
		f.Close()
	}
}

// Open opens a regular file to read, or a pipe without a name, as a shell's <(command) gives. Anything else may have no
// end or block for ever, and is an error.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		if _, err := filepath.EvalSymlinks(path); err == nil || info.Mode()&fs.ModeNamedPipe == 0 {
			return nil, &fs.PathError{Op: "open", Path: path,
				Err: fmt.Errorf("it is %s; give a regular file", kinds[info.Mode().Type()])}
		}
	}
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO that has just replaced it must not block either
}

// Read reads what Open opens, of at most limit bytes.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it is larger than %d MiB", limit>>20)}
	}
	return b, err
}

var kinds = map[fs.FileMode]string{
	fs.ModeDir: "a directory", fs.ModeSymlink: "a symbolic link", fs.ModeNamedPipe: "a FIFO", fs.ModeSocket: "a socket",
	fs.ModeDevice | fs.ModeCharDevice: "a character device", fs.ModeDevice: "a block device",
}

// SHA256 returns the hash of a file's content in hexadecimal, and its size [B].
func SHA256(path string) (sum string, size int64, err error) { return SHA256First(path, math.MaxInt64) }

// SHA256First is SHA256 of the first bytes of a file, most of them at most.
func SHA256First(path string, most int64) (sum string, size int64, err error) {
	f, err := Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	if size, err = io.Copy(h, io.LimitReader(f, most)); err != nil {
		return "", 0, fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}

// Sheet writes tables as CSV that people open in a spreadsheet. A text there must stay text: a spreadsheet takes a cell
// that begins with =, +, -, @, a tab or a carriage return for a formula and computes it, and the names of hosts, runs
// and labels come from files of other people. Source: OWASP, CSV Injection.
type Sheet struct{ *csv.Writer }

func NewSheet(w io.Writer) Sheet { return Sheet{csv.NewWriter(w)} }

func (w Sheet) Write(row []string) error {
	return w.Writer.Write(lists.Map(row, cell))
}

func (w Sheet) WriteAll(rows [][]string) error {
	for _, row := range rows {
		_ = w.Write(row) // its error stays
	}
	w.Flush()
	return w.Error()
}

// cell is s as a spreadsheet reads it for text: with ' before it, where it would begin a formula, and without
// characters that control. Numbers stay as they are.
func cell(s string) string {
	s = units.Printable(s)
	if s == "" || !strings.ContainsRune("=+-@\t", rune(s[0])) {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + s
}

func JSON(text []byte, v any) error { return Fault(text, json.Unmarshal(text, v)) }

// Fault puts an error that encoding/json gave for text into our words.
func Fault(text []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err != nil && len(bytes.TrimSpace(text)) == 0:
		return errors.New("it is empty")
	case errors.As(err, &syntax) && bytes.Contains(text, []byte("\n")):
		return fmt.Errorf("line %d: %w", 1+bytes.Count(text[:max(syntax.Offset-1, 0)], []byte("\n")), err)
	case errors.As(err, &kind):
		// The path has the types of embedded structs in it. No member has capital letters.
		path := slices.DeleteFunc(strings.Split(kind.Field, "."), func(s string) bool {
			return s == "" || strings.ContainsFunc(s, unicode.IsUpper)
		})
		fault := strings.Join(path, ".") + ": " + Mismatch(cmp.Or(words[kind.Value], "the "+kind.Value), kind.Type)
		return errors.New(strings.TrimPrefix(fault, ": "))
	}
	return err
}

// words are those of kinds of values, by the names that encoding/json and package reflect give them.
var words = map[string]string{"struct": "an object", "map": "an object", "object": "an object", "slice": "an array",
	"array": "an array", "bool": "true or false", "string": "a string", "number": "a number", "float": "a number",
	"int": "a whole number", "uint": "a whole number from 0 on"}

// Mismatch says what stands where a value of a type belongs.
func Mismatch(found string, want reflect.Type) string {
	for want.Kind() == reflect.Pointer {
		want = want.Elem()
	}
	return found + " where " + words[strings.TrimRight(want.Kind().String(), "0123456789")] + " belongs"
}
