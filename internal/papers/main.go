// Command papers rebuilds the tables and figures of the four papers that calib implements: with the product's formulas, and from
// calibrations of the lab's copies of their clusters. It writes docs/PAPERS.md. With -measure it runs the calibrations first and stores
// what they measured; without, it takes what is stored. One that was late is repeated up to twice and never counted.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"calib/internal/files"
)

// document is what it writes, from the project's root.
const document = "docs/PAPERS.md"

func main() {
	calib := flag.String("calib", "bin/calib", "the calib command")
	again := flag.Bool("measure", false, "run the calibrations in the lab, and store what they measured")
	kept := flag.String("kept", "", "keep the run directories here; without -measure, take what those measured")
	only := flag.String("runs", "", "only these runs, comma separated; none means all")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, ".", *calib, *kept, *again, strings.FieldsFunc(*only, func(r rune) bool { return r == ',' })); err != nil {
		fmt.Fprintln(os.Stderr, "papers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root, calib, kept string, again bool, only []string) error {
	calib, err := filepath.Abs(calib)
	if err != nil {
		return err
	}
	if !again {
		calib = ""
	}
	if again || kept != "" {
		if err := measure(ctx, root, calib, kept, only); err != nil {
			return err
		}
	}
	text, err := write(root)
	if err != nil {
		return err
	}
	return files.Replace(filepath.Join(root, document), []byte(text))
}

// write is the text of docs/PAPERS.md.
func write(root string) (string, error) {
	m, err := load(root)
	if err != nil {
		return "", err
	}
	all, err := papers(root, m)
	if err != nil {
		return "", err
	}
	return page(all, m), nil
}
