package measuring

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/cmd/calib/internal/history"
	"calib/internal/exit"
	"calib/internal/files"
	store "calib/internal/history"
	"calib/internal/hosts"
	"calib/internal/lists"
	"calib/internal/progress"
	"calib/internal/units"
	"calib/run"
	"calib/run/watch"
)

const (
	watchEvery  = 3 * time.Minute
	leastEvery  = 10 * time.Second
	mostEvery   = 12 * time.Hour
	mostLearn   = 5 * 24 * time.Hour
	watchShare  = 0.001
	watchMargin = 0.005
	watchLearn  = 24 * time.Hour
	longestLook = 15 * time.Minute // with the start of agents
)

func WatchCommand() *cli.Command {
	return &cli.Command{
		Name: "watch", Usage: "follow a network, and say what has become slower",
		Description: "calib watch --hosts hosts.txt\n" +
			"calib watch --hosts hosts.txt --listen :9478 --webhook https://alerts/calib\n" +
			"Every few minutes pairs of hosts measure latency and rate, for 0.1% of the time. After a day it\n" +
			"reports hosts and pairs that have become slower, after three days also the whole network. A report\n" +
			"says since when, and by how much. On average one report a year is false. calib history changes\n" +
			"lists all reports. It runs until it is interrupted, and goes on when it is started again.",
		Flags: append(WhereFlags(), append(command.Grouped("How", []cli.Flag{
			&cli.DurationFlag{Name: "every", Value: watchEvery, Usage: "shortest `TIME` between looks"},
			&cli.Float64Flag{Name: "share", Value: watchShare,
				Usage: "largest `SHARE` of the time of a link or processor"},
			&cli.Float64Flag{Name: "margin", Value: watchMargin,
				Usage: "ignore what is slower by less than this `SHARE`"},
			&cli.DurationFlag{Name: "learn", Value: watchLearn, Usage: "`TIME` to learn the baseline"},
			&cli.DurationFlag{Name: "for", Usage: "end after a `TIME`; with --sim, of simulated time"},
			&cli.StringFlag{Name: "listen", Usage: "serve metrics for Prometheus at `ADDRESS`, such as :9478"},
			&cli.StringFlag{Name: "web-config", Usage: "`FILE` of exporter-toolkit: TLS and passwords of --listen"},
			&cli.StringFlag{Name: "webhook", Usage: "POST each change as JSON to `URL`"},
		}), history.StoreFlag(),
			&cli.BoolFlag{Name: "json", Usage: "print each change as a JSON document on a line"},
			command.QuietFlag())...),
		Action: watchAction,
	}
}

func watchAction(c *cli.Context) error {
	w, err := whereOf(c)
	if err != nil {
		return err
	}
	o := watch.Config{Every: c.Duration("every"), Share: c.Float64("share"), Margin: c.Float64("margin"),
		Learn: c.Duration("learn")}
	switch {
	case o.Every < leastEvery:
		return exit.Usagef("--every %v: want %v or more", o.Every, leastEvery)
	case o.Every > mostEvery:
		return exit.Usagef("--every %v: want %v or less: of a fortnight, twenty looks are needed", o.Every, mostEvery)
	case !(o.Share >= 1e-6 && o.Share <= 0.1):
		return exit.Usagef("--share %g: want 0.000001 to 0.1", o.Share)
	case !(o.Margin >= 0.001 && o.Margin <= 1):
		return exit.Usagef("--margin %g: want 0.001 to 1", o.Margin)
	case o.Learn < 10*o.Every:
		return exit.Usagef("--learn %v: want ten times --every or more", o.Learn)
	case o.Learn > mostLearn:
		return exit.Usagef("--learn %v: want %v or less: the baseline is of a fortnight", o.Learn, mostLearn)
	case c.Duration("for") < 0:
		return exit.Usagef("--for %v: want a time above 0", c.Duration("for"))
	case c.IsSet("web-config") && !c.IsSet("listen"):
		return exit.Usagef("--web-config without --listen: nothing is served")
	}
	config, err := listed(c, w)
	if err != nil {
		return err
	}
	sentinel := &run.Sentinel{Config: config}
	sentinel.Show = progress.New(io.Discard, progress.Quiet, time.Now)
	o.Look = sentinel.Look
	o.Hosts = lists.Map(config.Hosts, func(h hosts.Host) string { return h.Name })
	ctx, unread := context.WithCancelCause(c.Context)
	defer unread(nil)
	if end := c.Duration("for"); end > 0 && w.Sim == "" {
		within, cancel := context.WithTimeout(ctx, end)
		defer cancel()
		ctx = within
	}
	o.Now, o.Wait = time.Now, sleep
	if w.Sim != "" {
		o.Now, o.Wait = virtual(c.Duration("for"))
	}
	note := command.Noter(c)
	hook, err := newWebhook(c.String("webhook"), note)
	if err != nil {
		return err
	}
	return history.WithStore(c, true, func(s *store.Store) error {
		lock, err := watching(s.Path)
		if err != nil {
			return err
		}
		defer lock.Close()
		host, _ := os.Hostname()
		path, _ := filepath.Abs(s.Path) // it has the same name when it is started again
		user := cmp.Or(os.Getenv("USER"), fmt.Sprint("user ", os.Geteuid()))
		sentinel.Watch, sentinel.Keep = fmt.Sprintf("%s on %s, store %s", user, host, path), longestLook+2*o.Every
		o.Store = s
		defer hook.close()
		o.Tell = func(e watch.Event) {
			hook.post(e)
			if err := printEvent(c, e); errors.Is(err, syscall.EPIPE) { // nobody reads on, as after head
				unread(err)
			}
		}
		m := newMetrics(o, note)
		o.After = func(now watch.Status) {
			if m.last.Within == 0 && now.Within > 0 && !c.Bool("quiet") {
				command.Notef(c, "each pair of hosts that answer is seen every %v", now.Within.Round(time.Second))
			}
			m.after(now)
			sentinel.Keep = max(sentinel.Keep, longestLook+2*now.Next)
		}
		stop, err := m.serve(c.String("listen"), c.String("web-config"))
		if err != nil {
			return err
		}
		defer stop()
		if !c.Bool("quiet") {
			command.Notef(c, "watching %s, every %v or less often; the baseline is learnt for %v; kept in %s",
				units.Plural(len(o.Hosts), "host"), o.Every, o.Learn, s.Path)
		}
		err = watch.Run(ctx, o)
		if errors.Is(err, context.DeadlineExceeded) {
			return nil // --for
		}
		if cause := context.Cause(ctx); errors.Is(cause, syscall.EPIPE) {
			return cause
		}
		return err
	})
}

// watching takes the lock of the one watch that a store may have.
func watching(path string) (io.Closer, error) {
	lock, err := files.Lock(path+".watch", syscall.LOCK_EX|syscall.LOCK_NB, func() (*os.File, error) {
		return os.OpenFile(path+".watch", os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	})
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, exit.Usagef("another calib watch uses %s: end it, or give this one another --store", path)
	case err != nil:
		return nil, fmt.Errorf("lock %s.watch: %w", path, err)
	}
	return lock, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// virtual is a clock that goes on when somebody waits, for so long; 0 is for ever.
func virtual(most time.Duration) (now func() time.Time, wait func(context.Context, time.Duration) error) {
	begun := time.Now().UTC().Round(0)
	at := begun
	return func() time.Time { return at }, func(ctx context.Context, d time.Duration) error {
		if at = at.Add(d); most > 0 && at.Sub(begun) >= most {
			return context.DeadlineExceeded
		}
		return ctx.Err()
	}
}

func printEvent(c *cli.Context, e watch.Event) error {
	if !c.Bool("json") {
		_, err := fmt.Fprintf(c.App.Writer, "%s  %-7s  %s\n", e.At.Format("2006-01-02 15:04:05"), e.Kind,
			units.OneLine(e.Text))
		return err
	}
	return json.NewEncoder(c.App.Writer).Encode(e)
}
