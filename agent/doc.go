// Package agent is the part of calib that runs on every host: a server that takes one run at a time and measures what
// it is told, and the client through which a coordinator tells it. Control is JSON over HTTP/2 (wire.go), over whatever
// byte stream reaches the host; what is measured goes over the sockets of package transport. Whom an agent obeys, and
// within which limits: docs/reference/security.md.
//
// The client sends a keepalive every KeepAlive; an agent that hears nothing for Silence cancels its task and gives up
// the run (and, on standard streams, exits). A running task sends progress every second; a client that hears nothing
// for its Silence gives up the agent with ErrSilent. A task ends by its own deadline at the latest.
package agent
