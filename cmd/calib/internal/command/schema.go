package command

import (
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"calib/reports"
)

// Document is a kind of document, by the name of its schema.
type Document struct {
	Name   string
	Schema func() (*jsonschema.Schema, error)
}

// DocumentOf is the document of type T. version is the value of its member "schema", or empty.
func DocumentOf[T any](name, version, description string) Document {
	return Document{name, func() (*jsonschema.Schema, error) { return reports.SchemaOf[T](name, version, description, nil) }}
}

// DataOf is the data in the result of the command called name.
func DataOf[T any](name string) Document {
	return DocumentOf[T]("data-"+strings.ReplaceAll(name, " ", "-"), "", "Member data of what calib "+name+" --json prints.")
}
