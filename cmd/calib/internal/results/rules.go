package results

import (
	"fmt"
	"strconv"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/openmpi"
	"calib/internal/params"
	"calib/predict/tuned"
)

// ruleSizes are those at which rules of collectives begin.
const ruleSizes = "64..64KiB"

// rulesOf chooses the algorithms of Open MPI's collectives by the predictions from p.
func rulesOf(c *cli.Context, p *params.Params) ([]openmpi.Rules, []tuned.Decision, error) {
	hosts, sizes := strconv.Itoa(len(p.Run.Hosts)), ruleSizes
	if c.IsSet("hosts") {
		hosts = c.String("hosts")
	}
	if c.IsSet("bytes") {
		sizes = c.String("bytes")
	}
	s := tuned.Settings{Seed: p.Run.Seed}
	var err error
	if s.Hosts, err = numbers(hosts, 2, mostHosts); err != nil {
		return nil, nil, command.Usagef("--hosts: %w", err)
	}
	if s.Bytes, err = numbers(sizes, 1, 1<<30); err != nil {
		return nil, nil, command.Usagef("--bytes: %w", err)
	}
	rules, decisions, err := tuned.Rules(p, s)
	if err != nil {
		return nil, nil, fmt.Errorf("rules of collectives: %w", err)
	}
	return rules, decisions, nil
}

// hostsOf is the number of hosts that a target's system is to have; 0 is the run's own.
func hostsOf(c *cli.Context) (int, error) {
	if c.IsSet("bytes") {
		return 0, command.Usagef("--bytes goes with targets of rules, such as ompi")
	}
	if !c.IsSet("hosts") {
		return 0, nil
	}
	n, err := strconv.Atoi(c.String("hosts"))
	if err != nil || n < 2 {
		return 0, command.Usagef("--hosts %s: want a number of at least 2 hosts", c.String("hosts"))
	}
	return n, nil
}
