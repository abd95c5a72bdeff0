package export

import (
	"bytes"
	"math"

	"github.com/goccy/go-yaml"
)

// readAtlahs reads a configuration.
func readAtlahs(file []byte) (simulator, error) {
	var c struct {
		L       *int64   `yaml:"L"`
		O       *int64   `yaml:"o"`
		G       *int64   `yaml:"g"`
		GB      *float64 `yaml:"G"`
		PerByte *int64   `yaml:"O"`
		S       *int64   `yaml:"S"`
	}
	if err := yaml.NewDecoder(bytes.NewReader(file), yaml.Strict()).Decode(&c); err != nil {
		return simulator{}, syntax("%v", err)
	}
	for _, v := range []*int64{c.L, c.O, c.G, c.PerByte, c.S} {
		if v == nil || *v < 0 || *v > math.MaxInt32 {
			return simulator{}, syntax("L, o, g, O and S must all be there, each from 0 to 2^31−1")
		}
	}
	if c.GB == nil || !(*c.GB > 0) || *c.GB > math.MaxInt32 {
		return simulator{}, syntax("G must be there, positive, and below 2^31")
	}
	return simulator{logGOPS{l: *c.L, o: *c.O, g: *c.G, perByte: *c.PerByte, gb: *c.GB, unit: nanosecond}, true}, nil
}

func checkAtlahs(file []byte, in *input) error {
	q, err := readAtlahs(file)
	if err != nil {
		return err
	}
	m := logGPOf(in)
	if err := in.err; err != nil {
		return err
	}
	m.perByte = 0 // ATLAHS has O 0
	return q.compare(m)
}
