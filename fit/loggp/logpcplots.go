package loggp

import (
	"fmt"
	"slices"

	"calib/fit"
	"calib/internal/params"
)

// loGPCPlots are the remaps of a kind and size, measured and as the model has them.
func loGPCPlots(f *params.Fit) []params.Plot {
	type kind struct{ sync, bytes float64 }
	var kinds []kind
	of := map[kind][]params.Series{}
	for _, s := range f.Of(params.RemapTime) {
		k := kind{s.Factors["sync"], s.Factors["bytes"]}
		if !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
		of[k] = append(of[k], s)
	}
	var out []params.Plot
	for _, k := range kinds {
		which, name, id := "asynchronous", "inflation_async", "async"
		if k.sync != 0 {
			which, name, id = "synchronous", "inflation_sync", "sync"
		}
		size := int64(k.bytes)
		if _, ok := f.Parameters[name]; !ok || size != int64(f.Domain["bytes"][0]) {
			name += "_" + fit.SizeName(size)
		}
		says := []string{fit.ParameterWords(f, name)}
		line := ""
		if f.Quality != nil && f.Quality.MaxError > 0 {
			line = "LoGPC"
			says = append(says, fit.Misses("LoGPC, of the parameters of LogGP, is", of[k]...))
		}
		out = append(out, params.Plot{
			ID: fmt.Sprintf("logpc-%s-%d", id, size), Section: fit.SectionLoGPC, Title: "Time between injections of a " + which + " remap of " + fit.SizeWords(size),
			Says: fit.Sentences(says...), X: params.Axis{Name: "hosts"}, Y: fit.TimeAxis("time between injections", false),
			Series: fit.SeriesNames(of[k]), Line: line, Below: line != "",
		})
	}
	return out
}
