package html

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"
)

// Plotly is plotly.js-cartesian-dist-min 4.1.1 as npm serves it, compressed; its licence lies beside it.
//
//go:embed assets
var files embed.FS

// assets is what every page holds, and the policy that lets a browser run it.
type assets struct {
	page   *template.Template
	style  template.CSS
	script template.JS
	plotly template.HTML // in an element that a browser does not run: the page does, when a figure is drawn
	policy string
}

// load reads the assets once.
var load = sync.OnceValues(func() (*assets, error) {
	read := func(name string) (string, error) {
		b, err := files.ReadFile("assets/" + name)
		return strings.TrimSpace(string(b)), err
	}
	style, err := read("report.css")
	if err != nil {
		return nil, err
	}
	var script strings.Builder
	for _, name := range []string{"format.js", "draw.js", "page.js"} {
		part, err := read(name)
		if err != nil {
			return nil, err
		}
		script.WriteString(part + "\n")
	}
	plotly, err := unpack("assets/plotly-cartesian.min.js.gz")
	if err != nil {
		return nil, err
	}
	page, err := template.ParseFS(files, "assets/page.gohtml")
	if err != nil {
		return nil, err
	}
	return &assets{page: page, style: template.CSS(style), script: template.JS(script.String()), plotly: template.HTML(plotly),
		policy: policy([]string{script.String(), plotly}, []string{style, ""})}, nil
})

func unpack(name string) (string, error) {
	b, err := files.ReadFile(name)
	if err != nil {
		return "", err
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return string(text), nil
}

// policy is the content security policy of a page: these scripts and styles by their hashes, pictures that the page holds
// itself (Plotly paints the cells of a heat map into one), and nothing else: no request, no form, no frame.
//
// The empty styles are Plotly's: it adds an empty element and fills it through the object model, which the policy does not
// concern, and it clears style attributes. The hash of nothing allows both, so 'unsafe-inline' is not needed; what
// 'unsafe-hashes' adds is attributes without content.
func policy(scripts, styles []string) string {
	return "default-src 'none'; script-src " + hashes(scripts) + "; style-src " + hashes(styles) +
		"; style-src-attr 'unsafe-hashes' " + hashes([]string{""}) + "; img-src data:; base-uri 'none'; form-action 'none'"
}

func hashes(texts []string) string {
	out := make([]string, len(texts))
	for i, s := range texts {
		sum := sha256.Sum256([]byte(s))
		out[i] = "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return strings.Join(out, " ")
}
