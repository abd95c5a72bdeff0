package transport

// Foreign is what has reached a mesh and was not of its run.
type Foreign struct {
	Strays  int64  // datagrams from elsewhere
	Refused int64  // connections without a valid ticket
	Why     string // of the last refused
}
