package command

import (
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"calib/reports"
)

// Document makes the schema of one kind of document.
type Document func() (*jsonschema.Schema, error)

// DocumentOf is the document of type T: version is what its member "schema" says, or empty.
func DocumentOf[T any](name, version, description string) Document {
	return func() (*jsonschema.Schema, error) { return reports.SchemaOf[T](name, version, description, nil) }
}

// DataOf is the data of one command's result.
func DataOf[T any](command string) Document {
	return DocumentOf[T]("data-"+strings.ReplaceAll(command, " ", "-"), "", "Member data of what calib "+command+" --json prints.")
}
