//go:build !linux

package agent

import "calib/transport"

func newMeshPlane(string, Limits, func(error)) (dataPlane, error) {
	return nil, transport.ErrUnsupported
}
func tryCPU(string) (int, error) { return 0, transport.ErrUnsupported }
