package main

import (
	"crypto/x509"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/certs"
	"calib/internal/exit"
	"calib/internal/lists"
)

func certCommand() *cli.Command {
	ca := &cli.StringFlag{Name: "ca", Required: true, Usage: "`DIR` of the authority that calib cert init has made"}
	return &cli.Command{
		Name: "cert", Category: command.Tools, Usage: "make and revoke certificates of daemons and their users",
		Description: "calib cert init DIR                                keep DIR secret\n" +
			"calib cert issue --ca DIR --agent node3 OUT        for the daemon called node3\n" +
			"calib cert issue --ca DIR --coordinator alice OUT  for who may use all daemons\n" +
			"calib cert revoke --ca DIR alice                   then copy DIR/crl.pem\n" +
			"OUT goes to the daemon's host (calib agent --listen host:port --cert OUT) or to alice\n" +
			"(calib run --cert OUT). Directories have mode 0700, and keys are never printed.",
		Subcommands: []*cli.Command{
			{Name: "init", Usage: "make a certificate authority in a new directory", ArgsUsage: "DIR", Action: initCA,
				Description: "calib cert init ca", Flags: []cli.Flag{
					&cli.StringFlag{Name: "name", Value: "calib", Usage: "`NAME` of the authority"}, command.JSONFlag()}},
			{Name: "issue", Usage: "make a key and a certificate in a new directory", ArgsUsage: "OUT",
				Description: "calib cert issue --ca ca --agent node3 node3-cert", Flags: []cli.Flag{ca,
					&cli.StringFlag{Name: "agent", Usage: "for the daemon of the host `NAME`"},
					&cli.StringSliceFlag{Name: "addr", Usage: "another name or `ADDR` of the daemon; repeatable"},
					&cli.StringFlag{Name: "coordinator", Usage: "for the user `NAME`, who may use all daemons"},
					&cli.IntFlag{Name: "days", Value: 365, Usage: "for `N` days"}, command.JSONFlag(),
				}, Action: onCA("the directory to make", issueCert)},
			{Name: "revoke", Usage: "revoke all certificates of a name, or the one with a serial number",
				ArgsUsage: "NAME|SERIAL", Flags: []cli.Flag{ca, command.JSONFlag()},
				Description: "calib cert revoke --ca ca node3",
				Action:      onCA("the name or serial number of what to revoke", revokeCert)},
			{Name: "list", Usage: "list what was issued", Description: "calib cert list --ca ca",
				Flags: []cli.Flag{ca, command.JSONFlag()}, Action: onCA("", listCerts)},
		},
		Action: command.Group,
	}
}

type certificate struct {
	Name    string     `json:"name"`
	Role    certs.Role `json:"role"`
	Addrs   []string   `json:"addrs,omitempty"`
	Serial  string     `json:"serial"`
	Until   time.Time  `json:"until"`
	Revoked bool       `json:"revoked,omitempty"`
	Dir     string     `json:"dir,omitempty"` // where its key is, for one that was made just now
}

func describeCert(c *x509.Certificate, revoked bool) certificate {
	addrs := append(c.DNSNames, lists.Map(c.IPAddresses, net.IP.String)...)
	return certificate{Name: c.Subject.CommonName, Role: certs.RoleOf(c), Addrs: addrs, Serial: certs.Serial(c),
		Until: c.NotAfter.UTC(), Revoked: revoked}
}

func initCA(c *cli.Context) error {
	dir, err := command.OneArg(c, "the directory to make")
	if err != nil {
		return err
	}
	a, err := certs.Init(dir, c.String("name"), time.Now())
	if err != nil {
		return fmt.Errorf("cert init: %w", err)
	}
	return command.AnswerLines(c, "cert init", map[string]string{"dir": dir, "crl": a.RevocationList()},
		"The certificate authority is in "+dir+". Whoever can read it can use every daemon.",
		"Next: calib cert issue --ca "+dir+" --agent HOST OUT")
}

// onCA is the action of a command on the authority of --ca. Its one argument is called what; "" is none.
func onCA(what string, f func(c *cli.Context, a *certs.Authority, arg string) error) cli.ActionFunc {
	return func(c *cli.Context) (err error) {
		var arg string
		if what != "" {
			if arg, err = command.OneArg(c, what); err != nil {
				return err
			}
		}
		a, err := certs.Open(c.String("ca"))
		if err == nil {
			err = f(c, a, arg)
		}
		if err != nil {
			err = fmt.Errorf("cert %s: %w", c.Command.Name, err)
		}
		return err
	}
}

func issueCert(c *cli.Context, a *certs.Authority, out string) error {
	r := certs.Request{Name: c.String("coordinator"), Role: certs.Coordinator,
		Life: time.Duration(c.Int("days")) * 24 * time.Hour}
	use := "calib run --hosts hosts.txt --cert " + out
	host, addrs := c.String("agent"), c.StringSlice("addr")
	switch {
	case c.Int("days") < 1:
		return exit.Usagef("--days %d: want 1 or more", c.Int("days"))
	case host != "" && r.Name != "":
		return exit.Usagef("give --agent or --coordinator, not both: each has its own certificate")
	case host != "":
		r.Name, r.Role, r.Addrs = host, certs.Agent, append([]string{host}, addrs...)
		use = "on " + host + ": calib agent --listen " + net.JoinHostPort(host, "7433") + " --cert " + out
	case len(addrs) > 0:
		return exit.Usagef("--addr is for --agent: nobody connects to a coordinator")
	case r.Name == "":
		return exit.Usagef("give --agent HOST or --coordinator NAME")
	}
	made, err := a.Issue(r, out, time.Now())
	if err != nil {
		return err
	}
	shown := describeCert(made, false)
	shown.Dir = out
	return command.AnswerLines(c, "cert issue", shown,
		fmt.Sprintf("%s: a certificate for the %s %s, serial %s, until %s", out, r.Role, r.Name,
			shown.Serial, shown.Until.Format(time.DateOnly)), "Next: "+use)
}

func revokeCert(c *cli.Context, a *certs.Authority, name string) error {
	found, err := a.Revoke(name, time.Now())
	if err != nil {
		return err
	}
	shown := lists.Map(found, func(x *x509.Certificate) certificate { return describeCert(x, true) })
	lines := lists.Map(shown, func(d certificate) string {
		return fmt.Sprintf("revoked: the %s %s, serial %s", d.Role, d.Name, d.Serial)
	})
	return command.AnswerLines(c, "cert revoke", shown, append(lines,
		"It takes effect where the list is: copy "+a.RevocationList()+
			" into the --cert directory of every daemon and user. Daemons read it again by themselves.")...)
}

func listCerts(c *cli.Context, a *certs.Authority, _ string) error {
	all, revoked, err := a.Issued()
	if err != nil {
		return err
	}
	shown := append([]certificate{}, lists.Map(all, func(x *x509.Certificate) certificate {
		return describeCert(x, certs.Revoked(revoked, x))
	})...)
	headings := []string{"role", "name", "addresses", "until", "revoked", "serial"}
	return command.AnswerTable(c, "cert list", shown, headings, func(t command.Table) {
		for _, d := range shown {
			t.Row(string(d.Role), d.Name, strings.Join(d.Addrs, " "), d.Until.Format(time.DateOnly), d.Revoked, d.Serial)
		}
	})
}
