//go:build !linux

package agent

import (
	"calib/internal/units"
	"calib/transport"
)

func newMeshPlane(string, int, units.Bytes) (dataPlane, error) { return nil, transport.ErrUnsupported }
