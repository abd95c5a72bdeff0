// Package yaml reads YAML within bounds: the time that the library takes grows with the square of what they bound.
package yaml

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"

	"calib/internal/files"
)

const (
	Max       = 1 << 20 // of a file [B]
	maxDepth  = 100     // of nesting, in brackets and on one line
	maxTokens = 100_000 // words and signs
	maxShown  = 1 << 14 // of a text that is shown with its faults [B]
)

// Decode decodes text into v. A field that v has not is an error.
func Decode(text []byte, v any) (err error) {
	defer func() {
		if r := recover(); r != nil { // the library panics on some texts, such as a tag before a number where a list belongs
			err = fmt.Errorf("not YAML that can be read (%v)", r)
		}
	}()
	if err := check(string(text)); err != nil {
		return err
	}
	var at yaml.Error
	if err = yaml.UnmarshalWithOptions(text, v, yaml.Strict()); !errors.As(err, &at) {
		return err
	}
	says, kind, over := at.GetMessage(), (*yaml.TypeError)(nil), (*yaml.OverflowError)(nil)
	if errors.As(err, &kind) {
		says = files.Mismatch(strconv.Quote(kind.Token.Value), kind.DstType)
	} else if errors.As(err, &over) {
		says = files.Mismatch(over.SrcNum, over.DstType)
	}
	return errors.New(strings.TrimSpace(yaml.FormatErrorWithToken(says, at.GetToken(), false, len(text) < maxShown)))
}

// Embedded reads, once, a text that is a part of the program.
func Embedded[T any](text []byte) func() T {
	return sync.OnceValue(func() (v T) {
		if err := Decode(text, &v); err != nil {
			panic(err)
		}
		return v
	})
}

// check refuses a text beyond the bounds, and one with aliases, which can stand for more than fits into memory.
func check(text string) error {
	brackets, line, inLine := 0, 0, 0
	for i, t := range lexer.Tokenize(text) {
		if t.Position.Line != line || t.Type == token.CollectEntryType { // which is a comma between brackets
			line, inLine = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets--
		case token.SequenceEntryType, token.MappingKeyType, token.MappingValueType, token.TagType, token.AnchorType:
			inLine++
		}
		fault := ""
		switch {
		case t.Type == token.AliasType:
			fault = "an alias: write what it stands for"
		case brackets+inLine > maxDepth:
			fault = fmt.Sprintf("nested deeper than %d", maxDepth)
		case i == maxTokens:
			fault = fmt.Sprintf("more than %d words and signs", maxTokens)
		default:
			continue
		}
		return fmt.Errorf("[%d:%d] %s", line, t.Position.Column, fault)
	}
	return nil
}
