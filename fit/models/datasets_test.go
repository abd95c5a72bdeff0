package models

import (
	"maps"
	"slices"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/params"
)

// datasets are what the conformance suite fits every model to.
func datasets() map[string]*dataset.Dataset {
	noisy := sparc()
	noisy.Between, noisy.Within = 0.01, 0.05
	noisy.Reps = 9
	pair := noisy
	pair.Hosts = 2
	once := noisy
	once.Rounds = 1
	switched := noisy
	switched.Switched = true
	exact := sparc()
	out := map[string]*dataset.Dataset{
		"sparc1994": noisy.Dataset(), "two hosts": pair.Dataset(), "one round": once.Dataset(),
		"switch": switched.Dataset(), "exact": exact.Dataset(),
		"wake-up": wakeups(4, map[string]float64{
			names.PhaseBlocking: 12e3, names.PhasePolling: 7e3, names.PhaseIdle: 40e3, names.PhaseIdleAwake: 14e3,
		}),
	}
	overlapping := overlappingPair()
	crowded := overlapping
	crowded.Shared, crowded.Rounds, crowded.Overhead, crowded.Penalty = true, 1, 1, 2
	overlapping.Between, overlapping.Within = 0.01, 0.02
	out["overlap"], out["overlap, crowded"] = overlapping.Dataset(), crowded.Dataset()
	maps.Copy(out, clusterDatasets())
	maps.Copy(out, settingsDatasets())
	maps.Copy(out, remapDatasets())
	return out
}

// remapDatasets are remaps alone, of one round, and beside LogGP.
func remapDatasets() map[string]*dataset.Dataset {
	noisy := remaps()
	noisy.Noise = 0.01
	once := noisy
	once.Rounds = 1
	port := port()
	beside := port.Dataset()
	beside.Samples = slices.DeleteFunc(beside.Samples, func(s dataset.Sample) bool { return s.Exp != names.PRTT })
	noisy.Add(beside)
	return map[string]*dataset.Dataset{"remaps": noisy.Dataset(), "remaps, one round": once.Dataset(),
		"remaps beside LogGP": beside}
}

// clusterDatasets are the cluster's part of the conformance suite.
func clusterDatasets() map[string]*dataset.Dataset {
	noisy := tableOne(40)
	noisy.Noise, noisy.Slack, noisy.Rounds = 0.01, 50e-6, 3
	pair := noisy
	pair.Hosts = 2
	once := noisy
	once.Rounds = 1
	exact := tableOne(40)
	exact.Hosts = 4
	hidden := noisy
	hidden.Or, hidden.Hosts = params.Cost{C0: 1e-9}, 4
	return map[string]*dataset.Dataset{
		"cluster": noisy.Dataset(), "cluster of two": pair.Dataset(), "cluster, one round": once.Dataset(),
		"cluster, exact": exact.Dataset(), "cluster, O_r hidden": hidden.Dataset(),
	}
}

// settingsDatasets are datasets for the conformance suite.
func settingsDatasets() map[string]*dataset.Dataset {
	noisy := port()
	noisy.Between, noisy.Within, noisy.Longest = 0.01, 0.02, 1024
	once := noisy
	once.Rounds, once.Nagle = 1, false
	never := noisy
	never.Buffer, never.Overflow, never.LongGap = 1e6, false, params.Cost{C0: 20e-6, C1: 120e-9}
	octets := noisy
	octets.Buffer, octets.Header = 40e3, 42
	exact := port()
	exact.Longest = 1024
	return map[string]*dataset.Dataset{
		"settings": noisy.Dataset(), "settings, one round": once.Dataset(), "settings, never full": never.Dataset(),
		"settings, bytes": octets.Dataset(), "settings, exact": exact.Dataset(),
	}
}
