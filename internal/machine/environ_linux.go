package machine

import (
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/safchain/ethtool"
	"golang.org/x/sys/unix"
)

// unsynchronised is STA_UNSYNC of adjtimex(2): nothing keeps the wall clock right.
const unsynchronised = 0x40

func systemNow(env map[string]string) {
	env[nowPrefix+NowUnix] = strconv.FormatInt(time.Now().UnixNano(), 10)
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil {
		env[nowPrefix+NowFiles] = strconv.FormatUint(files.Cur, 10)
	}
	var clock unix.Timex
	if _, err := unix.Adjtimex(&clock); err == nil {
		env[nowPrefix+NowSynced] = "yes"
		if clock.Status&unsynchronised != 0 {
			env[nowPrefix+NowSynced] = "no"
		}
	}
	if cpus, err := allowed(); err == nil {
		collector{root: os.DirFS("/")}.timing(env, cpus)
	}
	exe, err := os.Executable()
	if err != nil {
		return
	}
	var disk unix.Statfs_t
	if dir := filepath.Dir(exe); unix.Statfs(dir, &disk) == nil {
		env[nowPrefix+NowDisk] = strconv.FormatUint(disk.Bavail*uint64(disk.Bsize), 10)
		env[nowPrefix+NowDiskPath] = dir
	}
}

func askDriver(name string) (settings map[string]string, features map[string]bool, counters map[string]uint64) {
	e, err := ethtool.NewEthtool()
	if err != nil {
		return nil, nil, nil
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
	counters, _ = e.Stats(name)
	return s, features, counters
}

func decimal(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
