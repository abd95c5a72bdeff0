// Package arch holds no code. Its tests walk calib's own source and keep its shape: who may import whom, how long a file
// and a function may grow, and that packages are not wired together behind the reader's back.
//
// Its opinion: layers that only a document enforces are gone in a year. A failure says which rule, and why there is one.
package arch
