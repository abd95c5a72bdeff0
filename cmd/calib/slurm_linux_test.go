package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"calib/internal/needs"
)

const slurmConf = `ClusterName=calib
SlurmctldHost=%[1]s(10.55.0.254)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%[2]s/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
PropagateResourceLimits=NONE
ReturnToService=2
StateSaveLocation=%[2]s/state
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmctldLogFile=%[2]s/slurmctld.log
SlurmdPidFile=%[2]s/slurmd.%%n.pid
SlurmdLogFile=%[2]s/slurmd.%%n.log
SlurmdSpoolDir=%[2]s/spool.%%n
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
`

// cmdSlurm starts a real cluster of Slurm, of four nodes that share a file system and the munge daemon. SLURM_CONF is
// its configuration for the rest of the script. calib.sbatch is the example.
func cmdSlurm(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 0, neg, "slurm")
	t := ts.Value(testKey{}).(testscript.T)
	needs.Root(t, "start Slurm's daemons")
	needs.Namespaces(t)
	for _, program := range []string{"slurmctld", "slurmd", "munged", "srun"} {
		needs.Program(t, program)
	}
	example, err := os.ReadFile("../../examples/slurm/calib.sbatch")
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("calib.sbatch"), example, 0o644))
	s := newCluster(ts, 4)
	slurmFiles(s)
	ts.Setenv("SLURM_CONF", s.dir+"/slurm.conf")
	ts.Setenv("NAMESPACE", s.name)
	munged := []string{"--foreground", "--force", "--num-threads=2", "--key-file=" + s.dir + "/munge.key",
		"--socket=" + s.dir + "/munge.socket",
		"--pid-file=" + s.dir + "/munge.pid", "--log-file=" + s.dir + "/munge.log", "--seed-file=" + s.dir + "/munge.seed"}
	s.daemon(append([]string{needs.Program(t, "munged")}, munged...)...)
	s.wait("munge's socket", func() bool {
		_, err := os.Stat(s.dir + "/munge.socket")
		return err == nil
	})
	s.daemon(s.within(s.name, needs.Program(t, "slurmctld"), "-D", "-c")...)
	for i := range s.nodes {
		s.daemon(s.within(s.node(i), needs.Program(t, "slurmd"), "-D", "-N", fmt.Sprintf("x%d", i+1))...)
	}
	ts.Defer(func() { // a script that has failed leaves a job, which its daemons end
		_ = scriptCommand(ts, s.within(s.name, "scancel", "--full", "--state=RUNNING")...).Run()
		_ = awaitJobless(ts)
	})
	s.wait("idle nodes", func() bool {
		// fails until slurmctld answers
		out, _ := scriptCommand(ts, s.within(s.name, "sinfo", "--noheader", "--format=%T %D")...).Output()
		return strings.TrimSpace(string(out)) == fmt.Sprintf("idle %d", s.nodes)
	})
}

// cmdJobless waits until Slurm has no job: it lists one for a moment after its end.
func cmdJobless(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 0, neg, "jobless")
	ts.Check(awaitJobless(ts))
}

// awaitJobless gives up where Slurm does not answer.
func awaitJobless(ts *testscript.TestScript) error {
	var left []byte
	var err error
	if !poll(func() bool {
		left, err = scriptCommand(ts, ts.Getenv("WITHIN"), "squeue", "--noheader").Output()
		return err != nil || len(left) == 0
	}) {
		return fmt.Errorf("after %v Slurm still has jobs:\n%s", patience, left)
	}
	return err
}

// slurmFiles writes what the daemons and commands read.
func slurmFiles(s *testCluster) {
	host, err := os.Hostname()
	s.ts.Check(err)
	host, _, _ = strings.Cut(host, ".")
	s.ts.Check(os.MkdirAll(filepath.Join(s.dir, "state"), 0o755))
	conf := fmt.Sprintf(slurmConf, host, s.dir)
	for i := range s.nodes {
		conf += fmt.Sprintf("NodeName=x%d NodeAddr=10.55.0.%d Port=6818 CPUs=1\n", i+1, i+1)
	}
	key := make([]byte, 128)
	_, _ = rand.Read(key) // never fails
	for name, text := range map[string]string{"slurm.conf": conf, "cgroup.conf": "CgroupPlugin=cgroup/v1\n",
		"munge.key": string(key)} {
		s.ts.Check(os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o400))
	}
}
