package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const lockName = "lock"

// lockDir takes the state directory for this process. The kernel frees the lock with the process, however that ends.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		owner, _ := io.ReadAll(f)
		_ = f.Close()
		return nil, fmt.Errorf("state directory %s is in use by the cluster with process id %s: stop that one or use another directory", dir, strings.TrimSpace(string(owner)))
	}
	if err := f.Truncate(0); err != nil {
		_ = f.Close()
		return nil, err
	}
	if _, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// ours are the names the cluster makes in its state directory; emptyState removes these and nothing else.
var ours = [...]string{"apiserver", "kubevirt", "volumes", "logs", "tmp", "kubeconfig", "cluster.json"}

func emptyState(dir string) error {
	for _, name := range ours {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
