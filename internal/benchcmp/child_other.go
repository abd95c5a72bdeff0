//go:build !linux

package main

import "calib/transport"

func child() error { return transport.ErrUnsupported }
