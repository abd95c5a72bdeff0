package predict

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"calib/fit/overlap"
	"calib/internal/lists"
	"calib/internal/yaml"
	"calib/params"
)

// ErrTyped reports parameters that cannot be read.
var ErrTyped = errors.New("typed parameters")

// typedNumbers are the numbers that can be typed, with the model that has each and the unit.
var typedNumbers = map[string][2]string{
	"a": {"hyperbolic-network", "s"}, "b": {"hyperbolic-network", "s/B"},
	"a_c": {"hyperbolic-network", "s"}, "b_c": {"hyperbolic-network", "s/B"},
	"alpha": {"hockney", "s"}, "beta": {"hockney", "s/B"},
	"o_s": {"loggp", "s"}, "o_r": {"loggp", "s"}, "g": {"loggp", "s"}, "G": {"loggp", "s/B"}, "L": {"loggp", "s"},
	"B_L": {"cluster-buffer", "packets"}, "packet": {"cluster", "B"},
}

// typedFunctions are the costs by size that can be typed.
var typedFunctions = map[string]string{"O_s": "cluster-overhead", "U_r": "cluster-overhead", "O_r": "cluster-overhead",
	"g_s": "cluster-gap", "g_r": "cluster-gather", "L_cluster": "cluster"}

// Typed reads parameters that somebody typed, as those of a paper: a name and a value a line,
//
//	hosts: 16
//	a: 859.52us
//	b: 1.42us/B
//	g_s: {floor: 6.73us, c0: 3.027us, c1: 79.6ns/B}
//	L_cluster: {l0: 16.684us, l1: 1.556us, tau: 82.6ns/B, N: 90B/us}
//	overlap: {bytes: 4096, f: 0.9, overhead: 0.2ms, exchange: 0.6ms}
//
// L with coefficients is L_cluster, as older files have it. With a_c and b_c the network is a shared medium: for
// packets unless a_c is zero, for streams unless b_c is, and there it is a switch. None has an interval. Errors are of
// class ErrTyped.
func Typed(text []byte) (*params.Params, error) {
	lines := map[string]any{}
	if err := yaml.Decode(text, &lines); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTyped, err)
	}
	p := &params.Params{Schema: params.Schema,
		Parameters: map[string]params.Parameter{}, Functions: map[string]params.Function{}}
	hosts, errs := 2, []error{}
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		parts, several := lines[name].(map[string]any)
		if name == "L" && several {
			if name = "L_cluster"; lines[name] != nil {
				errs = append(errs, errors.New("both L with coefficients and L_cluster are given: want one, they are the same"))
			}
		}
		one, number := typedNumbers[name]
		of, function := typedFunctions[name]
		var err error
		switch {
		case name == "hosts":
			hosts, err = strconv.Atoi(fmt.Sprint(lines[name]))
			if err != nil || hosts < 2 || hosts > 1<<20 {
				err = fmt.Errorf("hosts: %v: want a number of hosts, 2 or more", lines[name])
			}
		case name == "overlap" && several:
			err = typeOverlap(p, parts)
		case function && several:
			err = typeFunction(p, name, of, parts)
		case number && !several:
			var v float64
			if v, err = quantity(lines[name], one[1]); err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
			p.Parameters[name] = params.Parameter{Value: &v, Unit: one[1], Model: one[0], Status: params.StatusOK}
		case function && !number:
			err = fmt.Errorf("%s: want coefficients, as {c0: 3us, c1: 80ns/B}", name)
		default:
			all := append(slices.Sorted(maps.Keys(typedNumbers)), slices.Sorted(maps.Keys(typedFunctions))...)
			err = fmt.Errorf("%s: want hosts, overlap, or one of %s", name, strings.Join(all, ", "))
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTyped, err)
	}
	aC, bC := p.Parameters["a_c"].Value, p.Parameters["b_c"].Value
	if aC != nil && bC != nil {
		kind := map[bool]params.Kind{true: params.Shared, false: params.Switch}
		p.Network = &params.Network{Packets: kind[*aC > 0], Streams: kind[*bC > 0]}
	}
	g, perByte := p.Parameters["g"].Value, p.Parameters["G"].Value
	if g != nil && perByte != nil { // the gap by the size, which LogGP has in no other way
		p.Functions["gap"] = typed(params.Line, "loggp", map[string]float64{"c0": *g - *perByte, "c1": *perByte})
	}
	p.Run.Hosts = lists.Map(lists.Upto(hosts), func(i int) string { return fmt.Sprintf("host-%d", i+1) })
	return p, nil
}

func typed(form, model string, coeff map[string]float64) params.Function {
	return params.Function{Form: form, Coeff: coeff, Unit: "s", Model: model, Status: params.StatusOK}
}

// shapes are the forms of functions by their coefficients.
var shapes = map[string]string{"c0 c1": params.Line, "c0 c1 floor": params.Floored, "l0 l1 tau": params.Bilinear,
	"N l0 l1 tau": params.Limited, "floor l0 l1 tau": params.FlooredBilinear, "N floor l0 l1 tau": params.FlooredLimited}

func typeFunction(p *params.Params, name, model string, parts map[string]any) error {
	coefficients := strings.Join(slices.Sorted(maps.Keys(parts)), " ")
	form, known := shapes[coefficients]
	switch wide := strings.Contains(coefficients, "tau"); {
	case name == "L_cluster" && !(known && wide):
		return fmt.Errorf("function L_cluster has %s: want l0, l1 and tau; N, where the network is limited; floor, where "+
			"there is one", coefficients)
	case name != "L_cluster" && (!known || wide):
		return fmt.Errorf("function %s has %s: want c0 and c1; floor, where there is one", name, coefficients)
	}
	fn := typed(form, model, map[string]float64{})
	for coeff := range parts {
		fn.Coeff[coeff] = 0 // their units depend on all of them
	}
	for coeff, says := range parts {
		v, err := quantity(says, fn.CoeffUnit(coeff))
		if err != nil {
			return fmt.Errorf("%s, %s: %w", name, coeff, err)
		}
		fn.Coeff[coeff] = v
	}
	p.Functions[name] = fn
	return nil
}

// typeOverlap takes an implementation of latency hiding at one size: the fraction f of the computation that hides
// communication, its overhead ω, the time of the exchange t_com, and by how much it slows that.
func typeOverlap(p *params.Params, parts map[string]any) error {
	of := map[string]float64{"f": 1, "penalty": 1}
	for name, says := range parts {
		unit, ok := map[string]string{"bytes": "B", "f": "1", "penalty": "1", "overhead": "s", "exchange": "s"}[name]
		if !ok {
			return fmt.Errorf("overlap has %s: want bytes, exchange, f, overhead and penalty", name)
		}
		v, err := quantity(says, unit)
		if err != nil {
			return fmt.Errorf("overlap, %s: %w", name, err)
		}
		of[name] = v
	}
	if of["bytes"] < 1 || of["exchange"] <= 0 || of["f"] > 1 || of["penalty"] <= 0 {
		return errors.New("overlap: want bytes from 1, an exchange and a penalty above 0, and f up to 1")
	}
	x := overlap.Fixed{F: of["f"], Overhead: of["overhead"], Penalty: of["penalty"]}
	overlap.Typed(p, int64(of["bytes"]), of["exchange"], x)
	return nil
}

var timeUnits = map[string]float64{"s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "ps": 1e-12}

// quantity reads a number with its unit: s, s/B and B/s may have a part of a second in place of the second. A number
// alone is in the unit.
func quantity(says any, unit string) (float64, error) {
	text := strings.ReplaceAll(fmt.Sprint(says), " ", "")
	digits := strings.TrimRightFunc(text, func(r rune) bool { return !('0' <= r && r <= '9' || r == '.') })
	v, err := strconv.ParseFloat(digits, 64)
	has := text[len(digits):]
	if err != nil || v < 0 || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q: want a number from 0 on, in %s", text, unit)
	}
	if has == "" || has == unit {
		return v, nil
	}
	for t, size := range timeUnits {
		switch {
		case unit == "s" && has == t, unit == "s/B" && has == t+"/B":
			return v * size, nil
		case unit == "B/s" && has == "B/"+t:
			return v / size, nil
		}
	}
	return 0, fmt.Errorf("%q: want it in %s", text, unit)
}
