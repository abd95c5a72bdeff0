//go:build !linux

package agent

import (
	"os"

	"calib/transport"
)

func newMeshPlane(string, transport.Options) (dataPlane, error) {
	return nil, transport.ErrUnsupported
}
func tryCPU(string) (int, error) { return 0, transport.ErrUnsupported }

// peerUser is not asked of the kernel here: no agent measures, and a coordinator relies on the socket's mode.
func peerUser(int) (uint32, error) { return uint32(os.Geteuid()), nil }
