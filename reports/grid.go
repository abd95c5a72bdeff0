package reports

// Grid is a part in rows and columns.
type Grid struct {
	Header []string
	Kinds  []Kind // of the columns; those beyond the last are text
	Rows   [][]string
}

// Kind says what the cells of a column hold, for those who set them.
type Kind string

// Kinds of columns. The HTML report has a style for each, by this name.
const (
	KindText     Kind = ""
	KindWords    Kind = "words"  // sentences that may be wrapped
	KindNumber   Kind = "number" // aligned to the right
	KindInterval Kind = "interval"
	KindSymbol   Kind = "symbol" // of a parameter or function
	KindStatus   Kind = "status" // of a parameter
	KindCode     Kind = "code"   // a file or a command
	KindForm     Kind = "form"   // what a function is, and under it its formula
	KindLines    Kind = "lines"  // one line for each value
	KindBreaks   Kind = "breaks" // lines that may be broken further
)

// Kind is what column i holds.
func (t *Grid) Kind(i int) Kind {
	if i < len(t.Kinds) {
		return t.Kinds[i]
	}
	return KindText
}

// column heads a column of a Grid.
type column struct {
	name string
	kind Kind
}

func newGrid(columns ...column) Grid {
	var g Grid
	for _, c := range columns {
		g.Header, g.Kinds = append(g.Header, c.name), append(g.Kinds, c.kind)
	}
	return g
}

func (t *Grid) add(cells ...string) { t.Rows = append(t.Rows, cells) }
