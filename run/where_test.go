package run

import (
	"strings"
	"testing"
)

// What a user typed to name the hosts is kept as a shell reads it, and no other flag is.
func TestTyped(t *testing.T) {
	for args, want := range map[string]string{
		"run|--hosts|my hosts.txt|--launch|ssh -p 2 {host}|--plan|quick": "--hosts 'my hosts.txt' --launch 'ssh -p 2 {host}'",
		"run|--slurm|--nodes=8|--budget|5m":                              "--slurm --nodes=8",
		"gate|--baseline|good|-local|2":                                  "-local 2",
		"run|--host|a|--out|x|--host|b":                                  "--host a --host b",
		"run|--resume|x|--hosts":                                         "--hosts",
		"import|--from|csv|--host|a,b":                                   "",
		"lab|selfcheck|--nodes|4|RUN":                                    "",
	} {
		if got := typed(strings.Split(args, "|")); got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
	if got := typed(nil); got != "" {
		t.Errorf("no command line: %q", got)
	}
}
