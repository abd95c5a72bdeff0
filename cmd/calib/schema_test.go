package main

import (
	"encoding/json"
	"testing"

	"calib/internal/dataset"
	"calib/internal/doctor"
)

// Every schema that is published can be used.
func TestSchemasResolve(t *testing.T) {
	all, err := schemas()
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

// What calib doctor prints, where all is well and where nothing is, is what its schema says.
func TestDoctorConforms(t *testing.T) {
	all, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	schema, err := all["data-doctor"].Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	host := func(name string) doctor.Host {
		return doctor.Host{Bound: 1,
			Host: dataset.Host{Name: name, Addr: "10.0.0.1:7100", Env: map[string]string{"virt": "kvm"}}}
	}
	works := doctor.Pair{Hosts: [2]int{0, 1}, Ways: [2]doctor.Way{{Trip: 1e-5, Sent: 8, Received: 8},
		{Trip: 1e-5, Sent: 8, Received: 8}}}
	for name, f := range map[string]doctor.Facts{
		"nothing": {},
		"two":     {Hosts: []doctor.Host{host("a"), host("b")}, Pairs: []doctor.Pair{works}},
		"cut": {Hosts: []doctor.Host{host("a"), host("b"), {Host: dataset.Host{Name: "c"}, Lost: "x"}},
			Pairs: []doctor.Pair{{Hosts: [2]int{0, 1}, Errors: [2]string{"x", ""}}}},
	} {
		text, err := json.Marshal(doctor.Examine(f))
		if err != nil {
			t.Fatal(err)
		}
		var doc any
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}
