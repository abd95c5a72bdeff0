package environ

import (
	"strconv"

	"github.com/safchain/ethtool"
)

type ethtoolDriver struct{ e *ethtool.Ethtool }

func openDriver() (driver, error) {
	e, err := ethtool.NewEthtool()
	if err != nil {
		return nil, err
	}
	return ethtoolDriver{e}, nil
}

func (d ethtoolDriver) close() { d.e.Close() }

func (d ethtoolDriver) features(name string) (map[string]bool, error) { return d.e.Features(name) }

func (d ethtoolDriver) settings(name string) map[string]string {
	s := make(map[string]string)
	if i, err := d.e.DriverInfo(name); err == nil {
		s["nic.driver"] = i.Driver
		if i.FwVersion != "" && i.FwVersion != "N/A" {
			s["nic.firmware"] = i.FwVersion
		}
	}
	if c, err := d.e.GetCoalesce(name); err == nil {
		s["nic.coalesce.rx_usecs"] = decimal(c.RxCoalesceUsecs)
		s["nic.coalesce.rx_frames"] = decimal(c.RxMaxCoalescedFrames)
		s["nic.coalesce.tx_usecs"] = decimal(c.TxCoalesceUsecs)
		s["nic.coalesce.tx_frames"] = decimal(c.TxMaxCoalescedFrames)
		s["nic.coalesce.adaptive_rx"] = decimal(c.UseAdaptiveRxCoalesce)
		s["nic.coalesce.adaptive_tx"] = decimal(c.UseAdaptiveTxCoalesce)
	}
	if r, err := d.e.GetRing(name); err == nil {
		s["nic.ring.rx"] = decimal(r.RxPending)
		s["nic.ring.tx"] = decimal(r.TxPending)
	}
	if c, err := d.e.GetChannels(name); err == nil {
		s["nic.channels.rx"] = decimal(c.RxCount)
		s["nic.channels.tx"] = decimal(c.TxCount)
		s["nic.channels.combined"] = decimal(c.CombinedCount)
	}
	return s
}

func decimal(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
