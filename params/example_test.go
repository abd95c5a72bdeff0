package params_test

import (
	"fmt"
	"log"

	"calib/params"
)

// What a simulator or a selector reads of a run.
func Example() {
	p, err := params.Load("testdata/params.json")
	if err != nil {
		log.Fatal(err)
	}
	a, _ := p.Get("a")
	g, _ := p.Cost("g_s", 1024, 8)
	_, why := p.Get("b")
	fmt.Printf("a = %.4g s\ng_s(1 KiB) = %.4g s\n%v\n", a, g, why)
	// Output:
	// a = 0.0008595 s
	// g_s(1 KiB) = 7.042e-05 s
	// b: no value: unidentifiable: b ≤ b_c: the medium is the bottleneck at n=1
}
