// Package files replaces a file whole, or not at all: readers, and a crash at any moment, see the old content or the new.
// A half-written file that carries its final name is the one thing it exists to prevent.
package files

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
)

// Replace writes b beside path, syncs it and renames it to path. On an error path is as it was, and nothing is left beside it.
func Replace(path string, b []byte) error {
	return ReplaceBy(path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// ReplaceBy is Replace for what is written bit by bit, and never held whole: write writes it, and an error of write leaves path as it was.
func ReplaceBy(path string, write func(io.Writer) error) error {
	dir, name := filepath.Split(path)
	f, err := os.CreateTemp(filepath.Clean(dir+"."), "."+name+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, Reason(err))
	}
	b := bufio.NewWriter(f)
	if err = write(b); err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, Reason(err))
	}
	return syncDir(filepath.Clean(dir + "."))
}

// syncDir makes a rename durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, Reason(err))
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", dir, Reason(err))
	}
	return nil
}

// Reason takes the path off an error that will be printed with it.
func Reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// SHA256 returns the hash of a file's content in hexadecimal, and its size [B].
func SHA256(path string) (sum string, size int64, err error) { return SHA256First(path, math.MaxInt64) }

// SHA256First is SHA256 of the first bytes of a file, most of them at most.
func SHA256First(path string, most int64) (sum string, size int64, err error) {
	f, err := os.Open(path)
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
