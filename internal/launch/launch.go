// Package launch starts an agent on a host and gives back its standard streams. It knows no ssh library, no scheduler
// and no container engine. It runs a command prefix, whose security is that of the command, and speaks POSIX sh at its
// far end.
//
// One prefix, one session. `PREFIX sh` is all that is ever run on the far side; what the shell is to do goes in on its
// standard input, so that no prefix can mangle it by splitting or quoting it again (ssh joins its arguments, docker
// does not). On that same session the two sides agree on the binary, copy it if this exact build is not there, and turn
// into the agent by exec. One login per host, no master connection left behind, and nothing runs there once the streams
// are closed. handshake.go has the exchange.
package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/shell"

	"calib/internal/hosts"
	"calib/internal/lists"
)

// Classes of failure. Errors name the host, and quote the last lines the command wrote to standard error.
var (
	ErrPrefix      = errors.New("bad launch prefix")
	ErrHost        = errors.New("bad host")                  // a name that no prefix can be trusted with
	ErrCommand     = errors.New("command not found")         // the prefix's own command, or sh at its far end
	ErrUnreachable = errors.New("unreachable")               // the prefix ended before it reached a shell there
	ErrArch        = errors.New("no binary for the machine") // no binary given is for its system and processor
	ErrUpload      = errors.New("cannot copy calib there")
	ErrStreams     = errors.New("the launch prefix does not pass on bytes as they are")
	ErrDied        = errors.New("the agent died")
	ErrTimeout     = errors.New("timed out")
)

// Launcher starts agents in one way. It may be used by many goroutines at once.
type Launcher struct {
	words         []string // of the prefix; nil starts the binary here
	binaries      []Binary
	stepTimeout   time.Duration // for one step of the handshake
	streamTimeout time.Duration // for bytes to pass that end no line
	exitWait      time.Duration // between two steps of ending a process
}

const (
	stepTimeout   = 30 * time.Second
	streamTimeout = 4 * time.Second
	exitWait      = 2 * time.Second
)

func Local(binary string) *Launcher {
	return &Launcher{binaries: []Binary{{Path: binary}}, exitWait: exitWait}
}

// Template starts agents through a command prefix, split by the rules of a POSIX shell. {host} in it is replaced by the
// host's name, {user} by its user=. binaries are what may be copied to a host, the first that fits its system and
// processor.
func Template(prefix string, binaries ...Binary) (*Launcher, error) {
	words, err := shell.Fields(prefix, os.Getenv)
	if err != nil {
		return nil, fmt.Errorf("%w %q: %w", ErrPrefix, prefix, err)
	}
	switch {
	case len(words) == 0:
		return nil, fmt.Errorf("%w: it is empty; the default is %q", ErrPrefix, SSH)
	case !strings.Contains(strings.Join(words, " "), "{host}"):
		return nil, fmt.Errorf("%w %q: no {host} in it, so it would reach the same place for every host", ErrPrefix, prefix)
	case strings.HasPrefix(words[0], "-"):
		return nil, fmt.Errorf("%w %q: it begins with an option, not with a command", ErrPrefix, prefix)
	case len(binaries) == 0:
		return nil, fmt.Errorf("%w %q: no binary to start", ErrPrefix, prefix)
	}
	return &Launcher{
		words: words, binaries: binaries, stepTimeout: stepTimeout, streamTimeout: streamTimeout, exitWait: exitWait,
	}, nil
}

// Launch starts calib with args on a host, and returns when it runs there. The process outlives ctx: Close ends it.
func (l *Launcher) Launch(ctx context.Context, h hosts.Host, args ...string) (p *Process, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("launch %s: %w", h.Name, err)
		}
	}()
	if l.words == nil {
		return start(l.exitWait, append([]string{l.binaries[0].Path}, args...))
	}
	argv, err := l.command(h)
	if err != nil {
		return nil, err
	}
	if p, err = start(l.exitWait, append(argv, "sh")); err != nil {
		return nil, err
	}
	if err := l.handshake(ctx, p, h.Name, args); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

var (
	hostName = regexp.MustCompile(`^[A-Za-z0-9_.:%\[\]][A-Za-z0-9_.:%\[\]-]*$`)
	userName = regexp.MustCompile(`^[A-Za-z0-9_.][A-Za-z0-9_.@$-]*$`)
)

// command is the prefix for a host, as words. Names are inserted after splitting. They contain nothing that could be
// read as an option or by a remote shell.
func (l *Launcher) command(h hosts.Host) ([]string, error) {
	switch {
	case !hostName.MatchString(h.Name):
		return nil, fmt.Errorf("%w: name %q: want letters, digits and _ . : %% - only, and no - in front", ErrHost, h.Name)
	case h.User != "" && !userName.MatchString(h.User):
		return nil, fmt.Errorf("%w: user=%q: want letters, digits and _ . @ $ - only, and no - in front", ErrHost, h.User)
	}
	takesUser := strings.Contains(strings.Join(l.words, " "), "{user}")
	switch {
	case takesUser && h.User == "":
		return nil, fmt.Errorf("%w: it has {user}, but the hosts file gives no user= for the host", ErrPrefix)
	case !takesUser && h.User != "" && !l.ssh():
		return nil, fmt.Errorf("%w: the hosts file gives user=%s, but the prefix has no {user}", ErrPrefix, h.User)
	}
	words := slices.Clone(l.words)
	if l.ssh() {
		options := l.options()
		if h.User != "" && !takesUser {
			options = append(options, "-l", h.User)
		}
		words = slices.Insert(words, 1, options...)
	}
	return lists.Map(words, strings.NewReplacer("{user}", h.User, "{host}", h.Name).Replace), nil
}

const SSH = "ssh {host}"

// sshOptions are given to every ssh, unless the prefix sets the same. There is no terminal to ask anything on,
// forwarded ports would collide between hosts, and a connection that is cut must end. All else is as the user's own
// configuration has it: jump hosts, keys, agents, known hosts.
var sshOptions = [][2]string{ // by name
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
	unset := lists.Where(sshOptions, func(o [2]string) bool { return !strings.Contains(given, strings.ToLower(o[0])) })
	return lists.Map(unset, func(o [2]string) string { return o[1] })
}

var hostnameLine = regexp.MustCompile(`(?m)^hostname (\S+)$`)

// Hostname is where ssh finds a host whose name is an alias of its configuration. Any other name stays, also where ssh
// fails: Launch says why it does. So does the name of a host behind one to which ssh always goes, as of a container.
func (l *Launcher) Hostname(ctx context.Context, h hosts.Host) string {
	is := l.destination(ctx, h)
	if strings.EqualFold(is, h.Name) || is == l.destination(ctx, hosts.Host{Name: "calib-any-host", User: h.User}) {
		return h.Name
	}
	return is
}

// destination is where ssh connects for a host; its name where that is not known.
func (l *Launcher) destination(ctx context.Context, h hosts.Host) string {
	argv, err := l.command(h)
	if err != nil || !l.ssh() {
		return h.Name
	}
	ctx, cancel := context.WithTimeout(ctx, l.stepTimeout) // a configuration may look names up, and run commands
	defer cancel()
	ask := exec.CommandContext(ctx, argv[0], slices.Insert(argv[1:], 0, "-G")...)
	ask.WaitDelay = l.exitWait
	out, err := ask.Output()
	if is := hostnameLine.FindSubmatch(out); err == nil && is != nil {
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
	{regexp.MustCompile(`Bad configuration option|bad configuration options|Bad owner or permissions on`), "configuration",
		"mend ssh's configuration here"},
	{regexp.MustCompile(`Could not resolve hostname`), "name",
		"no such host is known here: mend the hosts file, or give the host a HostName in ~/.ssh/config"},
	{regexp.MustCompile(`REMOTE HOST IDENTIFICATION HAS CHANGED|Host key for .* has changed`), "host key",
		"the host has another key than before: find out why, then remove the old one (ssh-keygen -R {host})"},
	{regexp.MustCompile(`Host key verification failed|host key is known for`), "host key",
		"its key is not known here: log in once by hand to compare and accept it (ssh {host}), " +
			"or add it to ~/.ssh/known_hosts"},
	{regexp.MustCompile(`Permission denied \([^)]*(password|keyboard-interactive)[^)]*\)`), "login",
		"no key is accepted, and calib answers no password prompt: install a key there (ssh-copy-id {host}), " +
			"or load it into an agent (ssh-add)"},
	{regexp.MustCompile(`Permission denied \(|Too many authentication failures|Load key`), "login",
		"no key is accepted: see which one ssh offers (ssh -v {host}), install it there (ssh-copy-id {host}), " +
			"or load it into an agent (ssh-add)"},
	{regexp.MustCompile(`Connection refused`), "connect",
		"no sshd listens on that port: start it, or set Port in ~/.ssh/config"},
	{regexp.MustCompile(`timed out|No route to host|Network is unreachable`), "connect",
		"the host is down, or a firewall or route keeps ssh from it"},
	{regexp.MustCompile(`kex_exchange_identification|Connection (closed|reset) by|Connection to .* closed`), "connect",
		"its sshd hangs up: let it take eight logins at once (MaxStartups in sshd_config)"},
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
