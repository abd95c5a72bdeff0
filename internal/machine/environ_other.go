//go:build !linux

package machine

import "calib/internal/dataset"

func askDriver(string) (settings map[string]string, features map[string]bool) { return nil, nil }

func (collector) systemNow(*dataset.Now, map[string]string) {}
