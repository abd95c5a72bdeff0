package lsq

import (
	"flag"
	"log"
	"os"
	"testing"
)

// TestMain seeds the property tests, so that a run repeats unless -rapid.seed asks for another.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f.Value.String() == f.DefValue {
		if err := f.Value.Set("1994"); err != nil {
			log.Fatal(err)
		}
	}
	os.Exit(m.Run())
}
