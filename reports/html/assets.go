package html

import (
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
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

// load reads the assets once. They are part of the program: none can be missing.
var load = sync.OnceValue(func() *assets {
	style := read("report.css")
	script := read("format.js") + "\n" + read("draw.js") + "\n" + read("page.js") + "\n"
	plotly := unpack("plotly-cartesian.min.js.gz")
	return &assets{page: template.Must(template.ParseFS(files, "assets/page.gohtml")), style: template.CSS(style), script: template.JS(script),
		plotly: template.HTML(plotly), policy: policy([]string{script, plotly}, []string{style, ""})}
})

// read is the text of an embedded file.
func read(name string) string {
	b, err := files.ReadFile("assets/" + name)
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(string(b))
}

// unpack is the text of a compressed embedded file.
func unpack(name string) string {
	f, err := files.Open("assets/" + name)
	if err != nil {
		panic(err)
	}
	r, err := gzip.NewReader(f)
	if err != nil {
		panic(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// policy is the content security policy of a page: these scripts and styles by their hashes, pictures that the page
// holds itself (Plotly paints the cells of a heat map into one), and nothing else: no request, no form, no frame.
//
// The empty styles are Plotly's: it adds an empty element and fills it through the object model, which the policy does
// not concern, and it clears style attributes. The hash of nothing allows both, so 'unsafe-inline' is not needed; what
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
