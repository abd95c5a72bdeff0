package launch

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// SSH is the default prefix.
const SSH = "ssh {host}"

// sshOptions are given to every ssh, unless the prefix sets the same. There is no terminal to ask anything on,
// forwarded ports would collide between hosts, and a connection that is cut must end. All else is as the user's own
// configuration has it: jump hosts, keys, agents, known hosts.
var sshOptions = []struct{ name, option string }{
	{"BatchMode", "-oBatchMode=yes"},
	{"ConnectTimeout", "-oConnectTimeout=10"},
	{"ServerAliveInterval", "-oServerAliveInterval=15"},
	{"ClearAllForwardings", "-oClearAllForwardings=yes"},
	{"RequestTTY", "-T"},
}

func (l *Launcher) ssh() bool { return l.words != nil && filepath.Base(l.words[0]) == "ssh" }

// options are those that ssh is given in addition to the prefix's own.
func (l *Launcher) options() []string {
	given := strings.ToLower(strings.Join(l.words, " "))
	var out []string
	for _, o := range sshOptions {
		if !strings.Contains(given, strings.ToLower(o.name)) {
			out = append(out, o.option)
		}
	}
	return out
}

var hostnameLine = regexp.MustCompile(`(?m)^hostname (\S+)$`)

// Hostname is where ssh finds a host whose name is an alias of its configuration. Any other name stays, also where ssh
// fails: Launch says why it does.
func (l *Launcher) Hostname(ctx context.Context, h Host) string {
	argv, err := l.command(h)
	if err != nil || !l.ssh() {
		return h.Name
	}
	ctx, cancel := context.WithTimeout(ctx, l.stepTimeout) // a configuration may look names up, and run commands
	defer cancel()
	ask := exec.CommandContext(ctx, argv[0], slices.Insert(argv[1:], 0, "-G")...)
	ask.WaitDelay = l.exitWait
	out, err := ask.Output()
	if is := hostnameLine.FindSubmatch(out); err == nil && is != nil && !strings.EqualFold(string(is[1]), h.Name) {
		return string(is[1])
	}
	return h.Name
}

// sshSteps say by the words of OpenSSH's client at which step it failed, and how to mend that. The first row that
// matches counts: a line about a jump host comes before the line that it causes.
var sshSteps = []struct {
	said         *regexp.Regexp
	step, advice string
}{
	{regexp.MustCompile(`Bad configuration option|bad configuration options|Bad owner or permissions on`), "configuration", "mend ssh's configuration here"},
	{regexp.MustCompile(`Could not resolve hostname`), "name", "no such host is known here: mend the hosts file, or give the host a HostName in ~/.ssh/config"},
	{regexp.MustCompile(`REMOTE HOST IDENTIFICATION HAS CHANGED|Host key for .* has changed`), "host key",
		"the host has another key than before: find out why, then remove the old one (ssh-keygen -R {host})"},
	{regexp.MustCompile(`Host key verification failed|host key is known for`), "host key",
		"its key is not known here: log in once by hand to compare and accept it (ssh {host}), or add it to ~/.ssh/known_hosts"},
	{regexp.MustCompile(`Permission denied \([^)]*(password|keyboard-interactive)[^)]*\)`), "login",
		"no key is accepted, and calib answers no password prompt: install a key there (ssh-copy-id {host}), or load it into an agent (ssh-add)"},
	{regexp.MustCompile(`Permission denied \(|Too many authentication failures|Load key`), "login",
		"no key is accepted: see which one ssh offers (ssh -v {host}), install it there (ssh-copy-id {host}), or load it into an agent (ssh-add)"},
	{regexp.MustCompile(`Connection refused`), "connect", "no sshd listens on that port: start it, or set Port in ~/.ssh/config"},
	{regexp.MustCompile(`timed out|No route to host|Network is unreachable`), "connect", "the host is down, or a firewall or route keeps ssh from it"},
	{regexp.MustCompile(`kex_exchange_identification|Connection (closed|reset) by|Connection to .* closed`), "connect",
		"its sshd hangs up: where it drops many logins at once (MaxStartups), start fewer (--fanout 2)"},
	{regexp.MustCompile(`account is currently not available|nologin`), "shell", "the account there has no login shell"},
}

// sshStep names the step of what ssh said, and how to mend it; it is empty for what is in no row.
func sshStep(said, host string) string {
	for _, s := range sshSteps {
		if s.said.MatchString(said) {
			return "step " + s.step + ": " + strings.ReplaceAll(s.advice, "{host}", host)
		}
	}
	return ""
}
