package command

import (
	"errors"
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

// DataOfEither is DataOf for a command that prints one of two kinds of data.
func DataOfEither[A, B any](name string) Document {
	d := DataOf[A](name)
	return Document{d.Name, func() (*jsonschema.Schema, error) {
		s, err := d.Schema()
		a, errA := jsonschema.For[A](nil)
		b, errB := jsonschema.For[B](nil)
		if err := errors.Join(err, errA, errB); err != nil {
			return nil, err
		}
		return &jsonschema.Schema{Schema: s.Schema, ID: s.ID, Title: s.Title, Description: s.Description, AnyOf: []*jsonschema.Schema{a, b}}, nil
	}}
}

// DataOf is the data in the result of the command called name.
func DataOf[T any](name string) Document {
	return DocumentOf[T]("data-"+strings.ReplaceAll(name, " ", "-"), "", "Member data of what calib "+name+" --json prints.")
}
