// Command sample-bot plays Big Two in an arena; see README.md.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"bigtwo-arena/sample-bot/client"
)

func main() {
	leave, leaveNow := context.WithCancel(context.Background())
	finish, finishFirst := context.WithCancel(leave)
	go onSignals(finishFirst, leaveNow)
	options, err := client.OptionsFromEnvironment()
	if err == nil {
		err = client.Run(leave, finish, options, NewPlanner, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// onSignals finishes at the first signal, leaves at the second, and lets the third end the program.
func onSignals(finish, leave context.CancelFunc) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	<-signals
	finish()
	<-signals
	signal.Stop(signals)
	leave()
}
