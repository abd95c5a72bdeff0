package reports

// Grid is a part in rows and columns.
type Grid struct {
	Columns []Column
	Rows    [][]string
}

// Column heads a column of a Grid.
type Column struct {
	Name string
	Kind Kind
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

func newGrid(columns ...Column) Grid { return Grid{Columns: columns} }

func (t *Grid) add(cells ...string) { t.Rows = append(t.Rows, cells) }
