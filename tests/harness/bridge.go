package harness

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/ledgerfish/ledgerfish/tests/cluster"
)

// Options of a bridge.
type Options struct {
	Tags  string   // build tags, such as mutant
	Flags []string // further flags of serve
}

// Bridge is a `ledgerfish serve` on this machine. It can be killed and started again: address, rights and logs stay.
type Bridge struct {
	URL string // https://127.0.0.1:<port>
	Ops string // http://127.0.0.1:<port>
	CA  string // file with the authority of its certificate

	binary  string
	args    []string
	logPath string
	process *os.Process
	ended   chan struct{} // closed when the process has ended
	state   *os.ProcessState
}

// Build compiles the bridge into the cache of the cluster's binaries and returns its path.
func Build(ctx context.Context, tags string) (string, error) {
	name := "ledgerfish"
	if tags != "" {
		name += "-" + tags
	}
	path, err := filepath.Abs(filepath.Join(cluster.BinDir(), name))
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", tags, "-o", path, "./cmd/ledgerfish")
	cmd.Dir = Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the bridge: %w: %s", err, out)
	}
	return path, nil
}

// StartBridge builds the bridge and starts it by the identity of the shipped ServiceAccount. It returns when the bridge
// is ready.
func (e *Env) StartBridge(ctx context.Context, o Options) (*Bridge, error) {
	binary, err := Build(ctx, o.Tags)
	if err != nil {
		return nil, err
	}
	kubeconfig, err := e.kubeconfig(ctx, "ledgerfish")
	if err != nil {
		return nil, err
	}
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	b := &Bridge{URL: "https://" + ports[0], Ops: "http://" + ports[1], CA: filepath.Join(e.dir, "ca.crt"), binary: binary,
		logPath: filepath.Join(e.dir, "bridge-"+strings.Split(ports[0], ":")[1]+".log")}
	cert, key := filepath.Join(e.dir, "tls.crt"), filepath.Join(e.dir, "tls.key")
	if err := writeCertificate(cert, key, b.CA); err != nil {
		return nil, err
	}
	b.args = append([]string{"serve", "--kubeconfig", kubeconfig, "--listen", ports[0], "--ops-listen", ports[1],
		"--tls-cert", cert, "--tls-key", key, "--allow-loopback-images"}, o.Flags...)
	if err := b.Start(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// Start starts the process again after Kill or Stop, and returns when it is ready.
func (b *Bridge) Start(ctx context.Context) error {
	log, err := os.OpenFile(b.logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // the process has its own
	cmd := exec.Command(b.binary, b.args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = log, log, withoutSettings(os.Environ())
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started, ended := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread() // the parent-death signal is sent when the thread that started the process ends
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
			b.state = cmd.ProcessState
			close(ended)
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start the bridge: %w", err)
	}
	b.process, b.ended = cmd.Process, ended
	if err := Until(ctx, time.Minute, "the bridge to be ready", b.Ready); err != nil {
		return fmt.Errorf("%w\n%s", errors.Join(err, b.Kill()), b.Log())
	}
	return nil
}

// withoutSettings leaves out what would configure the bridge from outside.
func withoutSettings(environment []string) (rest []string) {
	for _, v := range environment {
		if !strings.HasPrefix(v, "LEDGERFISH_") && !strings.HasPrefix(v, "KUBECONFIG=") {
			rest = append(rest, v)
		}
	}
	return rest
}

// Ready is nil when the bridge says that it is.
func (b *Bridge) Ready(ctx context.Context) error {
	select {
	case <-b.ended:
		return fmt.Errorf("the bridge has ended: %s: %w", b.state, ErrNever)
	default:
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.Ops+"/readyz", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // only the status matters
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers %s", resp.Status)
	}
	return nil
}

// Kill is kill -9. It returns when the process is gone.
func (b *Bridge) Kill() error { return b.end(syscall.SIGKILL) }

// Stop asks the bridge to end and waits for it. The error tells when it took too long or ended badly.
func (b *Bridge) Stop() error {
	err := b.end(syscall.SIGTERM)
	if err == nil && b.state != nil && !b.state.Success() {
		err = fmt.Errorf("the bridge ended with %s", b.state)
	}
	return err
}

func (b *Bridge) end(signal syscall.Signal) error {
	if b.process == nil {
		return nil
	}
	if err := b.process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	const grace = 15 * time.Second
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-b.ended:
		return nil
	case <-timer.C:
		_ = b.process.Kill()
		<-b.ended
		return fmt.Errorf("the bridge did not end within %s of %s", grace, signal)
	}
}

// Log is what the bridge has said so far.
func (b *Bridge) Log() string {
	content, err := os.ReadFile(b.logPath)
	if err != nil {
		return err.Error()
	}
	return string(content)
}

// Command runs another command of the same binary by the same identity, such as `log`.
func (b *Bridge) Command(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, b.binary, append(args, "--kubeconfig", b.args[2])...)
	cmd.Env = withoutSettings(os.Environ())
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// freePorts are addresses on the loopback interface that were free a moment ago.
func freePorts(n int) (addresses []string, err error) {
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close() //nolint:errcheck // it was only to find the port
		addresses = append(addresses, listener.Addr().String())
	}
	return addresses, nil
}

// Binary is the path of the program.
func (b *Bridge) Binary() string { return b.binary }
