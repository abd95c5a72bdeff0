package params

// Kind is what a network behaves like.
type Kind string

// Kinds of network.
const (
	Switch  Kind = "switch"    // pairs of hosts do not disturb each other
	Shared  Kind = "shared"    // pairs of hosts share one medium
	Unknown Kind = "not known" // the data cannot tell
)

// Network is the kind of network, for messages of one packet and for streams: a switch whose uplink is narrow is a
// switch to the first and shared by the second.
type Network struct {
	Packets Kind `json:"packets"`
	Streams Kind `json:"streams"`
}

// PacketKind says what the network of p behaves like for messages of one packet. Where that is not known, guessed is
// true, and the kind is what it looks more like: shared where the pairs that were measured delay each other by a share
// of their time that matters, which is then delay; else a switch.
func (p *Params) PacketKind() (kind Kind, guessed bool, delay float64) {
	if p.Network == nil {
		return Switch, false, 0
	}
	if p.Network.Packets != Unknown {
		return p.Network.Packets, false, 0
	}
	for _, f := range p.AllFindings(Note) {
		if v := f.Values; f.Code == NetworkUnknown && v["packets"] > v["margin"] && v["margin"] > 0 {
			return Shared, true, v["packets"]
		}
	}
	return Switch, true, 0
}

// Words says what the network behaves like, as a clause that goes on from "the network"; "" where nothing is known.
func (n *Network) Words() string {
	if n == nil {
		return ""
	}
	switch *n {
	case Network{Switch, Switch}:
		return "behaves like a switch: T does not depend on n; the port's cost sits in a"
	case Network{Switch, Shared}:
		return "behaves like a switch for messages of one packet (a_c is zero or negligible), but streams share capacity: b' rises with n"
	case Network{Shared, Shared}:
		return "behaves like a shared medium"
	case Network{Shared, Switch}:
		return "behaves like a shared medium for messages of one packet; streams did not reach its limit"
	case Network{Shared, Unknown}:
		return "behaves like a shared medium for messages of one packet; whether streams share capacity is not known"
	case Network{Switch, Unknown}:
		return "behaves like a switch for messages of one packet; whether streams share capacity is not known"
	case Network{Unknown, Switch}:
		return "behaves like a switch for streams; whether messages of one packet disturb each other is not known"
	case Network{Unknown, Shared}:
		return "behaves like a shared medium for streams; whether messages of one packet disturb each other is not known"
	}
	return ""
}
