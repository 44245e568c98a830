// Package quiet silences the etcd client inside k8s.io/apiserver, which builds its logger (to stderr, level info) in an
// init function. Go initialises packages in order of import path once their imports are done, so this one, imported by
// main, comes before k8s.io/....
package quiet

import "go.etcd.io/etcd/client/pkg/v3/logutil"

func init() { logutil.DefaultZapLoggerConfig.OutputPaths = []string{"/dev/null"} }
