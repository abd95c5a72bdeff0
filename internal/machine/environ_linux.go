package machine

import (
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/safchain/ethtool"
	"golang.org/x/sys/unix"

	"calib/internal/dataset"
)

// unsynchronised is STA_UNSYNC of adjtimex(2): nothing keeps the wall clock right.
const unsynchronised = 0x40

func (c collector) systemNow(now *dataset.Now, env map[string]string) {
	counters, _ := ethtool.Stats(env["nic.name"]) // none of an interface that is not known
	now.Errors = c.errors(env["nic.name"], counters)
	now.Unix = time.Now().UnixNano()
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil {
		now.Files = files.Cur
	}
	var clock unix.Timex
	if _, err := unix.Adjtimex(&clock); err == nil {
		now.Unsynced = clock.Status&unsynchronised != 0
	}
	if cpus, err := allowed(); err == nil {
		now.CPUs = c.timing(env, cpus)
	}
	exe, err := os.Executable()
	if err != nil {
		return
	}
	var disk unix.Statfs_t
	if dir := filepath.Dir(exe); unix.Statfs(dir, &disk) == nil {
		now.Disk, now.DiskPath = disk.Bavail*uint64(disk.Bsize), dir
	}
}

func askDriver(name string) (settings map[string]string, features map[string]bool) {
	e, err := ethtool.NewEthtool()
	if err != nil {
		return nil, nil
	}
	defer e.Close()
	s := make(map[string]string)
	if i, err := e.DriverInfo(name); err == nil {
		s["nic.driver"] = i.Driver
		if i.FwVersion != "" && i.FwVersion != "N/A" {
			s["nic.firmware"] = i.FwVersion
		}
	}
	if c, err := e.GetCoalesce(name); err == nil {
		s["nic.coalesce.rx_usecs"] = decimal(c.RxCoalesceUsecs)
		s["nic.coalesce.rx_frames"] = decimal(c.RxMaxCoalescedFrames)
		s["nic.coalesce.tx_usecs"] = decimal(c.TxCoalesceUsecs)
		s["nic.coalesce.tx_frames"] = decimal(c.TxMaxCoalescedFrames)
		s["nic.coalesce.adaptive_rx"] = decimal(c.UseAdaptiveRxCoalesce)
		s["nic.coalesce.adaptive_tx"] = decimal(c.UseAdaptiveTxCoalesce)
	}
	if r, err := e.GetRing(name); err == nil {
		s["nic.ring.rx"] = decimal(r.RxPending)
		s["nic.ring.tx"] = decimal(r.TxPending)
	}
	if c, err := e.GetChannels(name); err == nil {
		s["nic.channels.rx"] = decimal(c.RxCount)
		s["nic.channels.tx"] = decimal(c.TxCount)
		s["nic.channels.combined"] = decimal(c.CombinedCount)
	}
	states, _ := e.FeaturesWithState(name)
	features = map[string]bool{}
	for feature, is := range states {
		if is.Active || is.Available && !is.NeverChanged { // else nobody can turn it on, as on a bond
			features[feature] = is.Active
		}
	}
	return s, features
}

func decimal(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
