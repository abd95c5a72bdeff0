// Package transport is the measured data plane: TCP sockets as the kernel gives them, with nothing in between.
//
// Its opinion is that what is measured must be the network, not the tool. Go's net package parks a goroutine in the
// poller for every blocking read, which costs more than the loopback latency itself; so a Conn is a blocking
// descriptor, read and written through system calls on a thread the caller has locked (runtime.LockOSThread) and
// perhaps pinned. The calls are those that tell the Go scheduler, so that a thread blocked in one does not hold
// up the collector of the whole process. Send and Recv allocate nothing and take no lock.
//
// Three layers, each usable alone:
//
//   - Conn: one TCP connection. Messages are kept apart with MSG_EOR, silence is bounded by socket timeouts, and
//     cancelling is shutdown(2) from another goroutine.
//   - Mesh: an agent's listener and its connections to the other hosts of one run, each opened by a handshake that
//     proves a ticket on both sides before a byte of payload moves (handshake_linux.go has the protocol).
//   - Group: one rank's view of a team, with the method set experiments use: messages, receiving from any rank
//     (RecvAny), sending with a time limit (SendSome), connections with other options (Reopen), and datagrams.
//
// Datagrams use one socket of the mesh, on the port of the listener's number. The same ticket covers them: they go to
// the other end of a connection on which the ticket was shown, once that end has shown that the port is its own
// (OpenDatagrams), both ends count them against the ticket's bytes, and only those from the address of a connected rank
// are received. A rate limit (Mesh.Limit) applies to everything that is sent, whatever an experiment or a coordinator
// asks for: the kernel paces each connection, and datagrams wait for their time.
//
// Below them is package kernel: the system calls, the monotonic clock and exact waiting (Now, WaitUntil), thread
// pinning and a quiet runtime (Pin, Quiet).
//
// Measuring needs Linux. Elsewhere the package has its errors only, of which ErrUnsupported says so.
package transport
