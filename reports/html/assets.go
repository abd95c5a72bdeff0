package html

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
)

// The assets of a page. They are part of the program: none can be missing.
var (
	//go:embed assets/page.gohtml
	source string
	//go:embed assets/report.css
	style string
	//go:embed assets/read.js
	script string

	layout = template.Must(template.New("page").Parse(source))
	// policy is the content security policy of a page: this script and this style by their hashes, pictures that the
	// page holds itself (the cells of a heat map are one), and nothing else: no request, no form, no frame.
	policy = "default-src 'none'; script-src " + hash(script) + "; style-src " + hash(style) +
		"; img-src data:; base-uri 'none'; form-action 'none'"
)

// hash names a text in a policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
