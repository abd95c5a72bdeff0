package launch

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/jsonschema-go/jsonschema"
)

const daemonSet = "../../examples/kubernetes/daemonset.yaml"

// The example's manifest is one that Kubernetes takes: by its published schema, which names every property.
func TestKubernetesManifest(t *testing.T) {
	schema := kubernetesSchema(t)
	text, err := os.ReadFile(daemonSet)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(document(t, string(text))); err != nil {
		t.Error(err)
	}
	for right, wrong := range map[string]string{
		"readOnlyRootFilesystem: true": "readOnlyRootFileSystem: true",
		"runAsUser: 65532":             "runAsUser: nobody",
		"mountPath: /cache":            "path: /cache",
	} {
		if !strings.Contains(string(text), right) {
			t.Errorf("%s has no %q", daemonSet, right)
		}
		if schema.Validate(document(t, strings.Replace(string(text), right, wrong, 1))) == nil {
			t.Errorf("the schema takes %q", wrong)
		}
	}
	for line := range strings.Lines(string(text)) {
		if _, command, ok := strings.Cut(line, "--launch '"); ok {
			prefix, _, _ := strings.Cut(command, "'")
			if _, err := template(t, prefix, amd64).command(Host{Name: "calib-x7k2p"}); err != nil {
				t.Errorf("the prefix of the example: %v", err)
			}
		}
	}
}

func kubernetesSchema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	text, err := os.ReadFile("testdata/daemonset.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// document reads YAML as what it is in JSON.
func document(t *testing.T, text string) (doc any) {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = json.Unmarshal(raw, &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	return doc
}
