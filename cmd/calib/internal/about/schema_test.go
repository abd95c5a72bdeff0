package about

import (
	"testing"
)

// Every schema that is published can be used.
func TestSchemasResolve(t *testing.T) {
	all, err := Schemas()
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range all {
		if _, err := s.Resolve(nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if s.ID == "" || s.Description == "" {
			t.Errorf("%s has no ID or no description", name)
		}
	}
}
