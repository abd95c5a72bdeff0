package command

import (
	"github.com/urfave/cli/v2"
)

func JSONFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print one JSON document; progress as JSON lines on standard error"}
}

func QuietFlag() cli.Flag { return &cli.BoolFlag{Name: "quiet", Usage: "no progress"} }

func Join(sets ...[]cli.Flag) []cli.Flag {
	var all []cli.Flag
	for _, s := range sets {
		all = append(all, s...)
	}
	return all
}
