package compare

import (
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"calib/internal/units"
	"calib/reports"
)

type (
	suite struct {
		XMLName    xml.Name   `xml:"testsuite"`
		Name       string     `xml:"name,attr"`
		Tests      int        `xml:"tests,attr"`
		Failures   int        `xml:"failures,attr"`
		Errors     int        `xml:"errors,attr"`
		Skipped    int        `xml:"skipped,attr"`
		Properties []property `xml:"properties>property,omitempty"`
		Cases      []testcase `xml:"testcase"`
	}
	property struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	testcase struct {
		Class   string  `xml:"classname,attr"`
		Name    string  `xml:"name,attr"`
		Failure *result `xml:"failure"`
		Error   *result `xml:"error"`
		Skipped *result `xml:"skipped"`
		Out     string  `xml:"system-out,omitempty"`
	}
	result struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes v as a test suite: a case for each parameter of the network, for each host and for each link with a
// finding, and one for all other links. A regression is a failure, an inconclusive case is skipped, and environments
// that are not comparable are the error of a case named "comparable".
func JUnit(w io.Writer, v *Verdict) error {
	s := suite{Name: "calib", Properties: []property{{"outcome", v.Outcome}, {"old", reports.Clean(strings.Join(v.Old.Runs, " "))},
		{"new", reports.Clean(strings.Join(v.New.Runs, " "))}}}
	if v.Outcome == NotComparable || len(v.changes) == 0 && len(v.Network)+len(v.Hosts)+len(v.Links) == 0 {
		why := reports.Clean(strings.Join(v.Why, "; "))
		s.Cases = append(s.Cases, testcase{Class: "calib", Name: "comparable", Error: &result{why, v.Outcome, why}})
	}
	for _, c := range v.Network {
		s.Cases = append(s.Cases, caseOf("calib.network", c.Name, []Change{c}))
	}
	if len(v.Dead) > 0 {
		dead := reports.Clean(strings.Join(v.Dead, ", "))
		s.Cases = append(s.Cases, testcase{Class: "calib.link", Name: "measured", Failure: &result{"not measured any more: " + dead, Regression, dead}})
	}
	s.group("calib.host", v.Hosts)
	s.group("calib.link", v.Links)
	if v.Tested.Links > 0 {
		s.Cases = append(s.Cases, testcase{Class: "calib.link", Name: "all other links",
			Out: fmt.Sprintf("%s of links tested", units.Plural(v.Tested.Links, "metric"))})
	}
	for _, c := range s.Cases {
		s.Tests++
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// group adds a case for each subject.
func (s *suite) group(class string, changes []Change) {
	by := map[string][]Change{}
	for _, c := range changes {
		by[c.Subject()] = append(by[c.Subject()], c)
	}
	for _, n := range slices.Sorted(maps.Keys(by)) {
		s.Cases = append(s.Cases, caseOf(class, n, by[n]))
	}
}

// caseOf is a case of changes of one subject: the worst of them counts.
func caseOf(class, name string, changes []Change) testcase {
	var lines, failed, open []string
	for _, c := range changes {
		lines = append(lines, reports.Clean(row(c, c.Scope)))
		switch c.State {
		case Regression:
			failed = append(failed, c.Name+" "+c.Says())
		case Inconclusive:
			open = append(open, c.Name)
		}
	}
	out := strings.Join(lines, "\n")
	t := testcase{Class: class, Name: reports.Clean(name)}
	switch {
	case len(failed) > 0:
		t.Failure = &result{reports.Clean(strings.Join(failed, ", ")), Regression, out}
	case len(open) > 0:
		t.Skipped = &result{"inconclusive: " + reports.Clean(strings.Join(open, ", ")), Inconclusive, out}
	default:
		t.Out = out
	}
	return t
}
