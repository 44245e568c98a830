package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// child is one running component. Its output goes to logs/<name>.log.
type child struct {
	name string
	log  string
	cmd  *exec.Cmd
	// stdin is never written to: its end tells the child that the supervisor is gone.
	stdin io.Closer
	done  chan struct{} // closed when the process has ended and err is set
	err   error
}

// supervisor owns the children of one state directory.
type supervisor struct {
	state, bin string
	children   []*child    // in order of start
	died       chan *child // a child that ended by itself
	begun      time.Time
}

func newSupervisor(state, bin string) *supervisor {
	return &supervisor{state: state, bin: bin, died: make(chan *child, 16), begun: time.Now()}
}

// say prints a step with the seconds since the start.
func (s *supervisor) say(step string) { fmt.Printf("%3.0fs %s\n", time.Since(s.begun).Seconds(), step) }

// daemon starts a binary that is meant to run as long as the cluster; its end by itself is the end of the cluster.
func (s *supervisor) daemon(name string, args ...string) (*child, error) {
	c, err := s.start(name, args...)
	if err == nil {
		go func() {
			<-c.done
			s.died <- c
		}()
	}
	return c, err
}

// start runs the binary of that name. Only the main goroutine may call it (see init).
func (s *supervisor) start(name string, args ...string) (*child, error) {
	c := &child{name: name, log: filepath.Join(s.state, "logs", name+".log"), done: make(chan struct{})}
	log, err := os.Create(c.log)
	if err != nil {
		return nil, err
	}
	defer log.Close() //nolint:errcheck // the child has its own descriptor
	c.cmd = exec.Command(filepath.Join(s.bin, name), args...)
	c.cmd.Dir = s.state
	c.cmd.Stdout, c.cmd.Stderr = log, log
	c.cmd.Env = append(os.Environ(), "TMPDIR="+filepath.Join(s.state, "tmp")) // KubeVirt leaves directories there
	// A group of its own: Ctrl-C in a terminal reaches the supervisor only, which then stops the children in order.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s (run `make cluster-build` if it is missing): %w", name, err)
	}
	s.children = append(s.children, c)
	go func() {
		c.err = c.cmd.Wait()
		close(c.done)
	}()
	return c, nil
}

// wait returns when a child that does one thing has done it.
func (s *supervisor) wait(ctx context.Context, c *child) error {
	select {
	case <-c.done:
		if c.err != nil {
			return c.failure()
		}
		return nil
	case other := <-s.died:
		return other.failure()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// until polls ready until it says yes, a daemon dies or time is up.
func (s *supervisor) until(ctx context.Context, what string, limit time.Duration, ready func() bool) error {
	deadline := time.After(limit)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !ready() {
		select {
		case <-tick.C:
		case c := <-s.died:
			return c.failure()
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline:
			return fmt.Errorf("%s: not so after %s; see %s", what, limit, filepath.Join(s.state, "logs"))
		}
	}
	return nil
}

// stopAll ends the children in reverse order of start: first all but the API server, which the others still talk to.
func (s *supervisor) stopAll() {
	if len(s.children) == 0 {
		return
	}
	stop(s.children[1:], 2*time.Second)
	stop(s.children[:1], 20*time.Second)
	s.children = nil
}

func stop(children []*child, patience time.Duration) {
	for _, c := range children {
		_ = c.cmd.Process.Signal(syscall.SIGTERM)
		_ = c.stdin.Close()
	}
	kill := time.AfterFunc(patience, func() {
		for _, c := range children {
			_ = c.cmd.Process.Kill()
		}
	})
	defer kill.Stop()
	for _, c := range children {
		<-c.done
	}
}

// failure says which child ended and how, with the last lines of its log.
func (c *child) failure() error {
	return fmt.Errorf("%s ended: %v; the end of %s:\n%s", c.name, c.err, c.log, lastLines(c.log, 15))
}

func lastLines(path string, n int) []byte {
	content, err := os.ReadFile(path)
	if err != nil {
		return []byte(err.Error())
	}
	lines := bytes.Split(bytes.TrimRight(content, "\n"), []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-n):], []byte("\n"))
}
