//go:build !linux

package agent

import "calib/transport"

func newMeshPlane(string, int, Limits, func(error)) (dataPlane, error) {
	return nil, transport.ErrUnsupported
}
