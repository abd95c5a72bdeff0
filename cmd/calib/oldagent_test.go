package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/encoding/protowire"
)

// oldAgent is a daemon of a calib that does not exist yet: it answers Hello, the one call that every version has, with
// another version of the protocol. It listens on old.sock of its directory, whose path it prints.
func oldAgent() {
	path, err := filepath.Abs("old.sock")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(path)
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	answer := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 99)
	answer = protowire.AppendString(protowire.AppendTag(answer, 2, protowire.BytesType), "v9.8.7")
	answer = protowire.AppendString(protowire.AppendTag(answer, 3, protowire.BytesType), "0123456789abcdef")
	srv := &http.Server{Protocols: p, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/calib.v1.Control/Hello" {
			http.Error(w, "no such call", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/proto")
		_, _ = w.Write(answer) // a client that has gone needs none
	})}
	fmt.Fprintln(os.Stderr, srv.Serve(l))
	os.Exit(1)
}
