package transport

import (
	"context"
	"testing"
	"time"
)

// An address that does not answer leaves the others some of the time.
func TestPartOf(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	whole, _ := ctx.Deadline()
	part, end := partOf(ctx, 2)
	defer end()
	if until, ok := part.Deadline(); !ok || !until.Before(whole) {
		t.Errorf("the first of two addresses has until %v, both have until %v", until, whole)
	}
	all, end := partOf(t.Context(), 2)
	defer end()
	if _, bounded := all.Deadline(); bounded {
		t.Error("a dial without an end has one")
	}
}
