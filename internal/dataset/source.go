package dataset

// Source is where the samples of a run are: in memory (Dataset), or on disk (File).
type Source interface {
	Head() *Header
	// Select returns the samples of one experiment and phase ("" is any phase), in file order. They must not be
	// changed.
	Select(exp, phase string) []*Sample
	// Survey counts all samples.
	Survey() *Survey
	// Err is why Select returned less than there is.
	Err() error
}

func (d *Dataset) Head() *Header { return &d.Header }

func (d *Dataset) Select(exp, phase string) []*Sample {
	var out []*Sample
	for i := range d.Samples {
		s := &d.Samples[i]
		if s.Exp == exp && (phase == "" || s.Phase == phase) {
			out = append(out, s)
		}
	}
	return out
}

func (d *Dataset) Survey() *Survey {
	s := newSurvey()
	for i := range d.Samples {
		s.add(&d.Samples[i])
	}
	return s
}

func (d *Dataset) Err() error { return nil }
