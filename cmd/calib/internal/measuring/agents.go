package measuring

import (
	"fmt"
	"io/fs"

	"calib/internal/launch"
)

// packedAgents are the agents that are a part of this calib, one for each system and processor, so that it can copy them
// to hosts: those that make build and make release put here, under the build tag agents. A calib that was built
// otherwise has none, and copies itself.
func packedAgents() ([]launch.Binary, error) { return unpackAgents(packed) }

func unpackAgents(files fs.FS) ([]launch.Binary, error) {
	list, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, err
	}
	var out []launch.Binary
	for _, f := range list {
		text, err := fs.ReadFile(files, f.Name())
		if err != nil {
			return nil, err
		}
		b, err := launch.Unpack(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		out = append(out, b)
	}
	return out, nil
}
