// Package agent is the part of calib that runs on every host: a server that takes one run at a time and measures what
// it is told, and the client through which a coordinator tells it.
//
// Its opinion: control and data never share a connection. Control is JSON over HTTP/2 (wire.go), over
// whatever byte stream reaches the host, most often the standard streams of a process started by ssh; nothing on it is
// timed. What is measured goes over the raw sockets of package transport. An agent serves whoever started it, exits
// when that stream ends, and otherwise stays within limits that only its own command line can raise.
//
// Trust, in one place (docs/reference/security.md has the whole). A daemon hears only callers that are known: by their
// user on a unix socket, by their certificate on TCP (gate). Who prepares a run gets the secret of its lease, without
// which nothing else is done. A task is checked against limits and ranges before memory is taken, and its traffic goes
// to peers that gave their consent.
//
// Liveness, in one place. The client sends a keepalive every KeepAlive; an agent that hears nothing for Silence cancels
// its task and gives up the run (and, on standard streams, exits). A running task sends progress every second; a client
// that hears nothing for its Silence gives up the agent with ErrSilent. A task ends by its own deadline at the latest.
package agent
