package loggp

// RingDistance is k_d of k nodes in a dimension whose channels go one way and end around, (k−1)/2 (section 4).
func RingDistance(k int) float64 { return float64(k-1) / 2 }

// MeshDistance is k_d of k nodes in a dimension without end-around channels, (k²−1)/3k, destinations being drawn (eq.
// 11).
func MeshDistance(k int) float64 { return (float64(k)*float64(k) - 1) / (3 * float64(k)) }

// TorusDistance is k_d of k nodes in a dimension whose channels go both ways and end around: k/4 for even k, (k−1/k)/4
// for odd k.
// Source: Agarwal 1991.
func TorusDistance(k int) float64 {
	if k%2 == 0 {
		return float64(k) / 4
	}
	return (float64(k) - 1/float64(k)) / 4
}

// Mesh is a cube whose dimensions have those lengths, without end-around channels: k_d is the mean of theirs (eq. 11).
func Mesh(lengths ...int) Cube {
	sum := 0.0
	for _, k := range lengths {
		sum += MeshDistance(k)
	}
	return Cube{Dimension: float64(len(lengths)), Distance: sum / float64(len(lengths))}
}

// NeighbourHops is the mean number of hops between nodes of successive numbers in a mesh of x by y, numbered along x:
// n·k_dl of a processor i that sends to i+1 or i−1 (eq. 12). Those that the first and the last node lack are taken, as
// the paper's 1.875 of 8 by 4 is, as the nodes that a further row would have.
func NeighbourHops(x, y int) float64 {
	hops := func(p, q int) int {
		row := func(i int) int {
			if i < 0 {
				return -1
			}
			return i / x
		}
		abs := func(i int) int { return max(i, -i) }
		return abs((p-row(p)*x)-(q-row(q)*x)) + abs(row(p)-row(q))
	}
	sum := 0
	for p := range x * y {
		sum += hops(p, p-1) + hops(p, p+1)
	}
	return float64(sum) / 2 / float64(x*y)
}
