package measuring

import "calib/run/watch"

type webhook struct{}

func newWebhook(url string, note func(string)) *webhook { return nil }

func (w *webhook) post(e watch.Event) {}

func (w *webhook) close() {}
