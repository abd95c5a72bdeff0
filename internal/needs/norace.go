//go:build !race

package needs

const raceDetector = false
