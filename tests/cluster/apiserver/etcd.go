package main

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// etcdEndpoint is a Unix socket: nothing else on the machine can reach it, and it needs no port.
func etcdEndpoint(dir string) string { return "unix://" + filepath.Join(dir, "etcd.sock") }

// startEtcd returns a member that is ready to serve. The quota is raised and history compacted often: an append-only
// log writes far more revisions than a usual cluster.
func startEtcd(dir string) (*embed.Etcd, error) {
	// A socket left by kill -9 would make the listen fail.
	if err := os.Remove(filepath.Join(dir, "etcd.sock")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	client, err := url.Parse(etcdEndpoint(dir))
	if err != nil {
		return nil, err
	}
	cfg := embed.NewConfig()
	cfg.Name = "default"
	cfg.Dir = filepath.Join(dir, "etcd")
	cfg.LogLevel = "warn"
	cfg.LogOutputs = []string{filepath.Join(dir, "etcd.log")}
	cfg.UnsafeNoFsync = true
	cfg.QuotaBackendBytes = 4 << 30
	cfg.AutoCompactionMode, cfg.AutoCompactionRetention = "periodic", "5m"
	cfg.ListenClientUrls = []url.URL{*client}
	cfg.ListenPeerUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	cfg.AdvertiseClientUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}} // nobody dials it
	etcd, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err := <-etcd.Err():
		etcd.Close()
		return nil, err
	case <-time.After(30 * time.Second):
		etcd.Close()
		return nil, errors.New("not ready after 30s")
	}
}
