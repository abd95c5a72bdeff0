// Package needs says what a test needs of the machine beyond Go: programs of other packages, and the right to make an
// emulated cluster. Only tests import it.
//
// Where something is missing, the test is skipped with the reason and with what to install. With CI=true in the
// environment it fails instead: a check that nobody sees skipped would hide what it did not check.
package needs

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
)

// tools is the table that scripts/setup installs from.
//
//go:embed tools.txt
var tools string

// T is the part of a test that this package uses: a *testing.T, or the test of a testscript.
type T interface {
	Skip(args ...any)
	Fatal(args ...any)
}

// Program returns the path of a program, which must be a row of tools.txt so that scripts/setup can install it.
func Program(t T, name string) string {
	packages, ok := packagesOf(name)
	if !ok {
		t.Fatal("internal/needs/tools.txt has no row for " + name)
	}
	path, err := find(name)
	if err != nil {
		missing(t, fmt.Sprintf("%s is not installed: apt-get install %s", name, packages))
	}
	return path
}

// find looks where a user's PATH may not lead, too: Debian keeps sshd in /usr/sbin.
func find(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin/", "/sbin/"} {
		if path, err := exec.LookPath(dir + name); err == nil {
			return path, nil
		}
	}
	return "", err
}

func packagesOf(program string) (packages string, ok bool) {
	for line := range strings.Lines(tools) {
		if f := strings.Fields(line); len(f) > 2 && f[0] == program {
			return strings.ReplaceAll(f[1], ",", " "), true
		}
	}
	return "", false
}

// Root asks for root, to do what no user may, even in a user namespace.
func Root(t T, to string) {
	if os.Geteuid() != 0 {
		missing(t, "run as root to "+to)
	}
}

// Namespaces asks for what an emulated cluster is made of: network namespaces with TUN devices in them, made as root
// where the user is root and in a user namespace otherwise.
func Namespaces(t T) {
	if os.Geteuid() == 0 {
		namespaces(t)
	} else {
		UserNamespaces(t)
	}
}

// UserNamespaces asks for the same in a user namespace, whoever the user is.
func UserNamespaces(t T) {
	Program(t, "nsenter")
	namespaces(t, "--user", "--map-root-user")
}

// namespaces tries it in namespaces that end with the trial, and so leave nothing behind.
func namespaces(t T, flags ...string) {
	Program(t, "ip")
	const trial = "mount -t tmpfs tmpfs /run && ip netns add trial && ip netns exec trial ip tuntap add trial0 mode tun"
	cmd := exec.Command(Program(t, "unshare"), append(flags, "--net", "--mount", "sh", "-c", trial)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		missing(t, fmt.Sprintf("no emulated cluster can be made here: run as root (with CAP_SYS_ADMIN and CAP_NET_ADMIN), "+
			"or allow user namespaces and open /dev/net/tun to this user: %v: %s", err, strings.TrimSpace(string(out))))
	}
}

// missing skips the test, or fails it under CI=true. `make test` shows what was skipped: go test does not, and so the
// reason also goes to the file that it names in CALIB_SKIPPED. The file has another name each time, which keeps go test
// from answering with a remembered skip after the program has been installed.
func missing(t T, reason string) {
	if os.Getenv("CI") == "true" {
		t.Fatal(reason + " (CI=true: nothing is skipped)")
	}
	if path := os.Getenv("CALIB_SKIPPED"); path != "" {
		if err := record(path, "SKIPPED "+nameOf(t)+": "+reason+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	t.Skip(reason)
}

func record(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(line)
	return err
}

// nameOf returns the package of a test and its name.
func nameOf(t T) string {
	var parts []string
	if info, ok := debug.ReadBuildInfo(); ok {
		parts = append(parts, strings.TrimSuffix(info.Path, ".test"))
	}
	if n, ok := t.(interface{ Name() string }); ok {
		parts = append(parts, n.Name())
	}
	return strings.Join(parts, " ")
}

// Allocations is for a test that counts allocations. It is skipped under the race detector, which allocates in what it
// watches.
func Allocations(t T) {
	info, ok := debug.ReadBuildInfo()
	if ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("allocations are not counted under the race detector, which allocates itself; " +
			"go test without -race counts them")
	}
}
