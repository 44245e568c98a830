package main

import (
	"flag"
	"io"

	"github.com/sirupsen/logrus"
	"k8s.io/klog/v2"
)

// adoptKlog takes in what client-go says, which goes to klog: its warnings and errors as our warnings, the rest for
// debugging.
func adoptKlog(log *logrus.Logger) (io.Closer, error) {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "false", "one_output": "true", "skip_headers": "true", "stderrthreshold": "FATAL"} {
		if err := flags.Set(name, value); err != nil {
			return nil, err
		}
	}
	warn, debug := log.WriterLevel(logrus.WarnLevel), log.WriterLevel(logrus.DebugLevel)
	klog.SetOutputBySeverity("INFO", debug)
	klog.SetOutputBySeverity("WARNING", warn)
	klog.SetOutputBySeverity("ERROR", warn)
	return closers{warn, debug}, nil
}

type closers []io.Closer

// Close closes all.
func (c closers) Close() error {
	klog.Flush()
	klog.SetOutput(io.Discard)
	for _, each := range c {
		if err := each.Close(); err != nil {
			return err
		}
	}
	return nil
}
