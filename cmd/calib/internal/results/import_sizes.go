package results

import (
	"strings"

	"calib/cmd/calib/internal/command"
	"calib/internal/units"
)

// messageSizes reads --bytes for n files: none, one for all, or one for each.
func messageSizes(list string, n int) ([]int64, error) {
	out := make([]int64, n)
	if list == "" {
		return out, nil
	}
	words := strings.Split(list, ",")
	if len(words) != 1 && len(words) != n {
		return nil, command.Usagef("--bytes %q: %d sizes for %d files: want one, or one for each file", list, len(words), n)
	}
	for i := range out {
		b, err := units.ParseBytes(words[min(i, len(words)-1)])
		if err != nil {
			return nil, command.Usagef("--bytes: %w", err)
		}
		if b < 1 {
			return nil, command.Usagef("--bytes %q: want at least 1 byte", list)
		}
		out[i] = int64(b)
	}
	return out, nil
}
