// Package reports shows a params.json to people: a short table for the terminal, the whole plain-text report, the
// forecast of a plan.
//
// The opinion of this package: the finding comes first, the evidence after it, the warnings before anyone could quote a
// number without them. Digits are bought by intervals: no value is printed finer than its interval allows. A parameter
// the data do not determine is printed as its bound with the reason, never as a number. The same Params give the same
// bytes on every machine and in every locale; colour is bold and three hues on top, never information of its own.
package reports
