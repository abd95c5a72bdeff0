// Package harness holds calib against what is known: networks of known parameters, other programs, and the numbers of
// the papers. It has tests only. `make test` passes the quick ones; those with the tag harness (long_test.go) need a
// lab, root, other programs, or hours, and are behind make accuracy, budgets, papers, bench and scale:
//
//	go test -tags harness -count=1 -timeout 12h -v -run '^TestAccuracy$/^paired$' ./harness -args -calib bin/calib
//
// A slash and another expression choose among the cases: networks, then seeds. What a whole suite measured is written
// to docs/results/NAME.md, with the date, the build and the machine.
//
// To add a network or a plan: a row of the table suites (suites_test.go). To add a paper's number: a row in that
// paper's file.
package harness
