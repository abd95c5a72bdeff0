package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"calib/internal/needs"
)

const sshdConf = `Port 22
HostKey %[1]s/host
AuthorizedKeysFile %[1]s/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
MaxStartups 3
SetEnv XDG_CACHE_HOME=%[1]s/cache.%[2]s WORK=%[3]s
`

const sshConf = `IdentitiesOnly yes
IdentityFile %[1]s/user
UserKnownHostsFile %[1]s/known_hosts
StrictHostKeyChecking yes
User %[2]s
`

// cmdSSHD starts eight hosts with an sshd each, which takes few logins at once, and a cache of its own each. hosts.txt
// has their addresses, and "ssh -F $SSH_CONFIG" reaches them, also by the aliases c1 and on.
func cmdSSHD(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 0, neg, "sshd")
	t := ts.Value(testKey{}).(testscript.T)
	needs.Root(t, "start sshd on port 22 of namespaces")
	needs.Namespaces(t)
	keygen, sshd := needs.Program(t, "ssh-keygen"), needs.Program(t, "sshd")
	needs.Program(t, "ssh")
	me, err := user.Current()
	ts.Check(err)
	ts.Check(os.MkdirAll("/run/sshd", 0o755)) // sshd as root insists on it
	s := newCluster(ts, 8)
	for _, key := range []string{"host", "user"} {
		ts.Check(exec.Command(keygen, "-q", "-t", "ed25519", "-N", "", "-f", s.dir+"/"+key).Run())
	}
	var hosts, aliases strings.Builder
	for i := range s.nodes {
		name := fmt.Sprintf("10.55.0.%d", i+1)
		fmt.Fprintln(&hosts, name)
		fmt.Fprintf(&aliases, "Host c%d\nHostName %s\n", i+1, name)
		conf := fmt.Sprintf("%s/sshd.%d", s.dir, i)
		ts.Check(os.WriteFile(conf, fmt.Appendf(nil, sshdConf, s.dir, name, ts.Getenv("WORK")), 0o600))
		s.daemon(s.within(s.node(i), sshd, "-D", "-e", "-f", conf)...)
	}
	known := "10.55.0.* " + ts.ReadFile(s.dir+"/host.pub")
	for path, text := range map[string]string{
		s.dir + "/known_hosts": known, s.dir + "/ssh_config": fmt.Sprintf(sshConf, s.dir, me.Username) + aliases.String(),
		ts.MkAbs("hosts.txt"): hosts.String(),
	} {
		ts.Check(os.WriteFile(path, []byte(text), 0o600))
	}
	ts.Setenv("SSH_CONFIG", s.dir+"/ssh_config")
	s.wait("sshd on every host", func() bool {
		text, err := os.ReadFile(s.dir + "/daemons.log")
		return err == nil && strings.Count(string(text), "Server listening on 0.0.0.0") == s.nodes
	})
}
