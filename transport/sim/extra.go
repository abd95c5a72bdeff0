package sim

import (
	"errors"

	"calib/internal/plane"
	"calib/internal/units"
)

var errNotYet = errors.New("not in the simulator yet")

func (g *Group) RecvAny([]byte) (from, n int, at units.Nanos, err error) { return 0, 0, 0, errNotYet }
func (g *Group) Pending(int) (int, error)                                { return 0, errNotYet }
func (g *Group) SendSome(int, []byte, units.Nanos) (int, error)          { return 0, errNotYet }
func (g *Group) Reopen(plane.Socket) error                               { return errNotYet }
func (g *Group) SendDatagram(int, []byte) error                          { return errNotYet }
func (g *Group) RecvDatagram([]byte, units.Nanos) (plane.Datagram, error) {
	return plane.Datagram{}, errNotYet
}
func (g *Group) Machine() plane.Machine { return nil }
