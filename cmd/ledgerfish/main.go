package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// version is set by the linker.
var version = "0.1.0-dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := root().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "ledgerfish:", err)
		os.Exit(exitCode(err))
	}
}

// exitError is an error whose message was printed where it belongs: only the status is left to give.
type exitError struct{ error }

// exitCode: 1 for what went wrong, 2 for a log that is not what it should be.
func exitCode(err error) int {
	var found exitError
	if errors.As(err, &found) {
		return 2
	}
	return 1
}

func root() *cobra.Command {
	c := &cobra.Command{
		Use:           "ledgerfish",
		Short:         "An event-sourced Redfish bridge for KubeVirt",
		Long:          "Ledgerfish serves KubeVirt virtual machines as Redfish systems. Every host action is an event in an append-only\nlog, and no machine is started before the image that was inserted for it is there.",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version,
	}
	c.AddCommand(serveCommand(), logCommand(), verifyCommand(), versionCommand())
	return c
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		Run:   func(c *cobra.Command, _ []string) { fmt.Fprintln(c.OutOrStdout(), "ledgerfish", version) },
	}
}
