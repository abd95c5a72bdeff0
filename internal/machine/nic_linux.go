package machine

import (
	"strconv"

	"github.com/safchain/ethtool"
)

// askDriver is a driver that uses the kernel's ethtool interface.
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
	if features, err = e.Features(name); err != nil {
		features = nil
	}
	return s, features
}

func decimal(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
