package needs

// Allocations is for a test that counts allocations. It is skipped under the race detector, which allocates in what it
// watches.
func Allocations(t T) {
	if raceDetector {
		t.Skip("allocations are not counted under the race detector, which allocates itself; go test without -race counts them")
	}
}
