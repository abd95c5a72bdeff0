package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"calib/cmd/calib/internal/command"
	"calib/internal/exit"
	"calib/internal/files"
)

// manCommand prints the manual that the cli library makes of the tree of commands.
func manCommand() *cli.Command {
	return &cli.Command{
		Name: "man", Usage: "print the manual as a man page, or write a page for each command",
		Description: "calib man | man -l -                               read it\n" +
			"calib man --dir /usr/local/share/man/man1          install calib.1, calib-run.1 and so on",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "dir", Usage: "write calib.1 and a page for each command into `DIR`"},
			command.JSONFlag(),
		},
		Action: func(c *cli.Context) error {
			if err := command.NoArgs(c); err != nil {
				return err
			}
			root := &cli.Command{Name: "calib", Usage: c.App.Usage, Description: c.App.Description, Flags: c.App.Flags, Subcommands: c.App.Commands}
			if c.IsSet("dir") {
				return writePages(c, root)
			}
			page, err := manual("", root).ToManWithSection(1)
			if err != nil {
				return fmt.Errorf("manual: %w", err)
			}
			return command.Answer(c, "man", map[string]string{"page": page}, func(w io.Writer) error {
				_, err := io.WriteString(w, page)
				return err
			})
		},
	}
}

// writePages writes calib.1 and a page for each command, each whole or not at all, and names the files.
func writePages(c *cli.Context, root *cli.Command) error {
	dir := c.String("dir")
	if dir == "" {
		return exit.Usagef("--dir DIR: name a directory")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the directory of the pages: %w", err)
	}
	pages := []*cli.App{manual("", root)}
	for _, verb := range c.App.VisibleCommands() {
		pages = append(pages, manual("calib ", verb))
	}
	var paths []string
	for _, p := range pages {
		text, err := p.ToManWithSection(1)
		if err != nil {
			return fmt.Errorf("manual of %s: %w", p.Name, err)
		}
		path := filepath.Join(dir, p.Name+".1")
		if err := files.Replace(path, []byte(text)); err != nil {
			return err
		}
		paths = append(paths, path)
	}
	return command.AnswerFiles(c, "man", "", command.Written{Format: "man", Files: paths})
}

// manual is a command as an application with a page of its own. The library runs the lines of a description together;
// in a code block the examples keep their form.
func manual(above string, c *cli.Command) *cli.App {
	path := above + c.Name
	return &cli.App{Name: strings.ReplaceAll(path, " ", "-"), Usage: c.Usage, UsageText: synopsis(above, c),
		Description: "```\n" + c.Description + "\n```", Flags: c.VisibleFlags(), Commands: described(path+" ", c.Subcommands)}
}

// described copies commands for the manual: each under its full name, and with synopsis and description, which the
// library leaves out, in the place of the usage text.
func described(above string, commands []*cli.Command) []*cli.Command {
	var out []*cli.Command
	for _, c := range commands {
		if c.Hidden {
			continue
		}
		out = append(out, &cli.Command{Name: above + c.Name, Aliases: c.Aliases, Usage: c.Usage, Flags: c.VisibleFlags(),
			UsageText: synopsis(above, c) + "\n\n" + c.Description, Subcommands: described(above+c.Name+" ", c.Subcommands)})
	}
	return out
}

// synopsis is the command line of c.
func synopsis(above string, c *cli.Command) string {
	line := above + c.Name
	if len(c.Subcommands) > 0 {
		line += " COMMAND"
	}
	return strings.TrimSpace(line + " [OPTIONS] " + c.ArgsUsage)
}
