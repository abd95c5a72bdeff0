package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
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
	srv := &http.Server{Protocols: p, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/calib/hello" {
			http.Error(w, "no such call", http.StatusNotFound)
			return
		}
		// A client that has gone needs no answer.
		_, _ = io.WriteString(w, `{"Hello": {"Protocol": 99, "version": "v9.8.7", "build": "0123456789abcdef"}}`)
	})}
	fmt.Fprintln(os.Stderr, srv.Serve(l))
	os.Exit(1)
}
