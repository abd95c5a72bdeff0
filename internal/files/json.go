package files

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// JSON decodes text into v.
func JSON(text []byte, v any) error { return Fault(text, json.Unmarshal(text, v)) }

// Fault puts an error that encoding/json gave for text into our words.
func Fault(text []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err != nil && len(bytes.TrimSpace(text)) == 0:
		return errors.New("it is empty")
	case errors.As(err, &syntax) && bytes.Contains(text, []byte("\n")):
		return fmt.Errorf("line %d: %w", 1+bytes.Count(text[:max(syntax.Offset-1, 0)], []byte("\n")), err)
	case errors.As(err, &kind):
		// The path has the types of embedded structs in it. No member has capital letters.
		path := slices.DeleteFunc(strings.Split(kind.Field, "."), func(s string) bool { return s == "" || strings.ContainsFunc(s, unicode.IsUpper) })
		return errors.New(strings.TrimPrefix(strings.Join(path, ".")+": "+Mismatch(cmp.Or(words[kind.Value], "the "+kind.Value), kind.Type), ": "))
	}
	return err
}

// words are those of kinds of values, by the names that encoding/json and package reflect give them.
var words = map[string]string{"struct": "an object", "map": "an object", "object": "an object", "slice": "an array", "array": "an array",
	"bool": "true or false", "string": "a string", "number": "a number", "float": "a number", "int": "a whole number",
	"uint": "a whole number from 0 on"}

// Mismatch says what stands where a value of a type belongs.
func Mismatch(found string, want reflect.Type) string {
	for want.Kind() == reflect.Pointer {
		want = want.Elem()
	}
	return found + " where " + words[strings.TrimRight(want.Kind().String(), "0123456789")] + " belongs"
}
