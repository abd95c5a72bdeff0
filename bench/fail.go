package bench

import "fmt"

// failure is the panic by which a task ends that cannot go on: a rank is gone, has sent what it may not, or there is no
// more memory. Caught makes it an error.
type failure struct{ error }

// Check ends the task with an error, where there is one.
func Check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Must returns v, or ends the task with an error.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

// Fail ends the task with an error of that text.
func Fail(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

// Caught calls f, and returns the error with which that ended the task. What runs on a thread of its own, and what a
// Group calls, is called by it: a panic must not pass them.
func Caught(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			failed, ok := p.(failure)
			if !ok {
				panic(p)
			}
			err = failed.error
		}
	}()
	f()
	return nil
}

// During calls f, and says of an error that ends the task in what it did.
func During(what string, f func()) {
	if err := Caught(f); err != nil {
		Fail("%s: %w", what, err)
	}
}
