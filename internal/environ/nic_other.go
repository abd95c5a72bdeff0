//go:build !linux

package environ

import "errors"

func openDriver() (driver, error) {
	return nil, errors.New("asking a network driver for its settings needs linux")
}
